"""`codelaw/command/list`, `codelaw/skill/list` and `codelaw/agent/list`."""

from __future__ import annotations

from codelaw.domain import extensions
from codelaw.domain.chats import Mode
from codelaw.domain.models import Effort
from codelaw.protocol.base import OrNone, Params, Payload


class ListCommands(Params):
    pass


class UserCommand(Payload, copies=extensions.UserCommand, without="sheet body problem effort", maybe="arguments"):
    """A command that a message calls with `/name`; `source` is its file."""

    name: str
    source: str


class CommandList(Payload):
    commands: list[UserCommand]


class ListSkills(Params):
    pass


class Skill(Payload, copies=extensions.Skill, without="sheet readable effort", maybe="problem shadowed"):
    """A skill; `source` is its `SKILL.md` as people know it.

    `shadowed` is the source of the skill of this name that counts instead, `problem` what is wrong with it. It can be
    loaded unless it is shadowed or `unreadable`.
    """

    name: str
    uri: str
    source: str
    unreadable: OrNone[bool] = None


class SkillList(Payload):
    skills: list[Skill]


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


class AgentList(Payload):
    """`enabled` is off where no turn can begin a subagent."""

    enabled: bool
    agents: list[Agent]
