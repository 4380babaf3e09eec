"""`codelaw/mcp/*`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.lsp.client_calls.showing import show_record
from codelaw.lsp.methods.permission import literal
from codelaw.protocol import servers as wire

if TYPE_CHECKING:
    from codelaw.domain.served import ServerList
    from codelaw.lsp.server.connection import Connection

NONE = "No servers are written down: not in `mcp.servers`, `.mcp.json` or `.vscode/mcp.json`."


async def list_servers(connection: Connection, _params: wire.ListServers) -> wire.ServerList:
    return _listed(await connection.session.servers())


async def show_the_servers(connection: Connection, params: wire.ListServers) -> wire.ServerList:
    """The servers; a client without events is shown them as a document besides."""
    found = await list_servers(connection, params)
    if not connection.client.events:
        lines = [_line(one) for one in found.servers] or [NONE]
        text = "\n".join(["# Servers", "", *lines, *(f"- {literal(problem)}" for problem in found.problems or ())])
        connection.later(show_record(connection.rpc, connection.client, connection.home, "servers", text))
    return found


async def restart(connection: Connection, params: wire.RestartServer) -> wire.Restarted:
    await connection.session.restart_server(params.name)
    return wire.Restarted()


async def log_out(connection: Connection, params: wire.LogOutOfServer) -> wire.LoggedOut:
    return wire.LoggedOut(forgotten=await connection.session.log_out_of_server(params.name))


async def enable(connection: Connection, params: wire.EnableServer) -> wire.ServerList:
    return _listed(await connection.session.enable_server(params.name, enabled=params.enabled, digest=params.digest))


async def decline(connection: Connection, params: wire.DeclineServer) -> wire.ServerList:
    return _listed(await connection.session.decline_server(params.name, digest=params.digest))


def _line(server: wire.Server) -> str:
    tools = f", {server.tools} tools" if server.state == "ready" else ""
    return f"- `{server.name}` **{server.state}**{tools}{f': {literal(server.message)}' if server.message else ''}"


def _listed(found: ServerList) -> wire.ServerList:
    servers = [
        wire.Server.of(
            one,
            message=one.message or None,
            source=found.sources.get(one.name),
            digest=found.digests.get(one.name),
            ask=True if one.name in found.asking else None,
            logged_in=True if one.name in found.logged_in else None,
        )
        for one in found.servers
    ]
    return wire.ServerList(servers=servers, problems=list(found.problems) or None)


HANDLERS = {
    "codelaw/mcp/list": list_servers,
    "codelaw/mcp/restart": restart,
    "codelaw/mcp/logout": log_out,
    "codelaw/mcp/enable": enable,
    "codelaw/mcp/decline": decline,
}

TWINS = {
    "codelaw/mcp/list": show_the_servers,
}
