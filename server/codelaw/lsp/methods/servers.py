"""`codelaw/mcp/*`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.lsp.methods.permission import literal
from codelaw.protocol import servers as wire

if TYPE_CHECKING:
    from codelaw.domain.served import ServerList
    from codelaw.lsp.context import Context

NONE = "No servers are written down: not in `mcp.servers`, `.mcp.json` or `.vscode/mcp.json`."


async def list_servers(context: Context, _params: wire.ListServers) -> wire.ServerList:
    return _listed(await context.session.servers.list())


async def show_the_servers(context: Context, params: wire.ListServers) -> wire.ServerList:
    """The servers; a client without events is shown them as a document besides."""
    found = await list_servers(context, params)
    lines = [_line(one) for one in found.servers] or [NONE]
    text = "\n".join(["# Servers", "", *lines, *(f"- {literal(problem)}" for problem in found.problems or ())])
    context.ui.record("records", "servers", text)
    return found


async def restart(context: Context, params: wire.RestartServer) -> wire.Restarted:
    await context.session.servers.restart(params.name)
    return wire.Restarted()


async def log_out(context: Context, params: wire.LogOutOfServer) -> wire.LoggedOut:
    return wire.LoggedOut(forgotten=await context.session.servers.log_out(params.name))


async def enable(context: Context, params: wire.EnableServer) -> wire.ServerList:
    return _listed(await context.session.servers.enable(params.name, enabled=params.enabled, digest=params.digest))


async def decline(context: Context, params: wire.DeclineServer) -> wire.ServerList:
    return _listed(await context.session.servers.decline(params.name, digest=params.digest))


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
