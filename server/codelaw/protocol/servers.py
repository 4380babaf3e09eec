"""`codelaw/mcp/*`: the servers that people bring along (X-3)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from codelaw.domain.served import ServerStateName
from codelaw.protocol.base import Method, Params, Payload

ServerName = Annotated[str, Field(min_length=1, max_length=200)]


class ListServers(Params):
    pass


class RestartServer(Params):
    name: ServerName


class EnableServer(Params):
    """A server of a workspace's file starts only as it was listed last: one that has changed since is refused."""

    name: ServerName
    enabled: bool


class Server(Payload):
    """A server, how it is doing, and why; `source` is where it is written.

    In the state `needs_trust` the message says what would be run or reached, whole.
    """

    name: str
    state: ServerStateName
    tools: int
    message: str | None = None
    source: str | None = None


class ServerList(Payload):
    """Sorted by name; `problems` are what is wrong with what is written."""

    servers: list[Server]
    problems: list[str] | None = None


class Restarted(Payload):
    restarted: Literal[True] = True


METHODS = {
    "codelaw/mcp/list": Method(ListServers, ServerList),
    "codelaw/mcp/restart": Method(RestartServer, Restarted),
    "codelaw/mcp/enable": Method(EnableServer, ServerList),
}
