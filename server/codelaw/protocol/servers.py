"""`codelaw/mcp/*`: the servers that people bring along (X-3)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from codelaw.domain import served
from codelaw.protocol.base import OrNone, Params, Payload

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


class ServerList(Payload):
    """Sorted by name; `problems` are what is wrong with what is written."""

    servers: list[Server]
    problems: OrNone[list[str]] = None


class Restarted(Payload):
    restarted: Literal[True] = True


class LoggedOut(Payload):
    """Whether there was a login to forget."""

    forgotten: bool
