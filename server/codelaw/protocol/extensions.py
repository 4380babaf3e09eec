"""What people bring along: `codelaw/command/list`, `skill/list` and `agent/list`, and `codelaw/mcp/*` (X-3)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from codelaw.domain import extensions, served
from codelaw.domain.chats import Mode
from codelaw.domain.models import Effort
from codelaw.protocol.base import OrNone, Params, Payload


class ListCommands(Params):
    pass


class UserCommandPayload(
    Payload, copies=extensions.UserCommand, without="sheet body problem effort", maybe="arguments"
):
    """A command that a message calls with `/name`; `source` is its file."""

    name: str
    source: str


class CommandList(Payload):
    commands: list[UserCommandPayload]


class ListSkills(Params):
    pass


class SkillPayload(Payload, copies=extensions.Skill, without="sheet readable effort", maybe="problem shadowed"):
    """A skill; `source` is its `SKILL.md` as people know it.

    `shadowed` is the source of the skill of this name that counts instead, `problem` what is wrong with it. It can be
    loaded unless it is shadowed or `unreadable`.
    """

    name: str
    uri: str
    source: str
    unreadable: OrNone[bool] = None


class SkillList(Payload):
    skills: list[SkillPayload]


class ListAgents(Params):
    pass


class Agent(Payload):
    """A kind of subagent; without `source`, its file, it is built in.

    A built-in one has the tools of its `mode`, without one those of the chat's. Of a file, `tools` are the only ones
    it has, absent: all of the chat's mode but `disallowedTools`; `model` is absent where it is the chat's. `problem` is
    what is wrong with the file; when it is `refused`, there is no such kind.
    """

    name: str
    description: str
    mode: Mode | None = None
    uri: str | None = None
    source: str | None = None
    tools: list[str] | None = None
    disallowed_tools: OrNone[list[str]] = None
    model: OrNone[str] = None
    max_turns: int | None = None
    effort: Effort | None = None
    problem: OrNone[str] = None
    refused: OrNone[bool] = None


class AgentListPayload(Payload):
    """`enabled` is off where no turn can begin a subagent."""

    enabled: bool
    agents: list[Agent]


ServerName = Annotated[str, Field(min_length=1, max_length=200)]
Digest = Annotated[str, Field(min_length=1, max_length=64)]


class ListServers(Params):
    pass


class RestartServer(Params):
    name: ServerName


class LogOutOfServer(Params):
    name: ServerName


class EnableServer(Params):
    """A server of a workspace's file starts only as it was seen: one that has changed since is refused.

    `digest` is that of what the user has seen; without it what was listed last counts.
    """

    name: ServerName
    enabled: bool
    digest: Digest | None = None


class DeclineServer(Params):
    """The user does not want to be asked about a server as they have seen it."""

    name: ServerName
    digest: Digest


class Server(Payload, copies=served.ServerState, maybe="message ask logged_in"):
    """A server, how it is doing, and why; `source` is where it is written.

    In the state `needs_trust` the message says what would be run or reached, whole; `ask` is there where the user has
    not said no to it, and `digest` changes with it. `loggedIn` is there where a login is kept, which
    `codelaw/mcp/logout` forgets.
    """

    ask: OrNone[Literal[True]] = None
    logged_in: OrNone[Literal[True]] = None


class ServerListPayload(Payload):
    """Sorted by name; `problems` are what is wrong with what is written."""

    servers: list[Server]
    problems: OrNone[list[str]] = None


class Restarted(Payload):
    restarted: Literal[True] = True


class LoggedOut(Payload):
    """Whether there was a login to forget."""

    forgotten: bool
