"""What people bring along: commands, skills, agents, and the servers of `codelaw/mcp/*` (X-2 to X-4, X-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.lsp.methods.permission import literal
from codelaw.lsp.methods.routing import as_command, route
from codelaw.protocol import extensions
from codelaw.protocol import servers as wire

if TYPE_CHECKING:
    from codelaw.domain.extensions import AgentSheet, Sheet
    from codelaw.domain.served import ServerList, ServerState
    from codelaw.lsp.context import Context

NONE = "No servers are written down: not in `mcp.servers`, `.mcp.json` or `.vscode/mcp.json`."


@route("codelaw/command/list", extensions.ListCommands, extensions.CommandList)
async def commands(context: Context, _params: extensions.ListCommands) -> object:
    found = await context.session.extensions.commands()
    return {"commands": [extensions.UserCommand.of(one, **_named(one.sheet)) for one in found]}


@route("codelaw/skill/list", extensions.ListSkills, extensions.SkillList)
async def skills(context: Context, _params: extensions.ListSkills) -> object:
    found = await context.session.extensions.skills()
    skills = [
        extensions.Skill.of(one, uri=one.sheet.uri, unreadable=not one.readable, **_named(one.sheet)) for one in found
    ]
    return {"skills": skills}


@route("codelaw/agent/list", extensions.ListAgents, extensions.AgentList)
async def agents(context: Context, _params: extensions.ListAgents) -> object:
    found = await context.session.extensions.agents()
    return {
        "enabled": found.enabled,
        "agents": [*map(extensions.Agent.of, found.built_in), *map(_agent, found.brought)],
    }


def _named(sheet: Sheet) -> dict[str, str]:
    return {"name": sheet.name, "source": sheet.shown}


def _agent(one: AgentSheet) -> extensions.Agent:
    refused, uri = not one.counts, one.sheet.uri
    more = {"disallowed_tools": one.denied, "max_turns": one.steps, "refused": refused, "uri": uri, "mode": None}
    return extensions.Agent.of(one, **_named(one.sheet), **more)


@route("codelaw/mcp/list", wire.ListServers, wire.ServerList)
async def list_servers(context: Context, _params: wire.ListServers) -> object:
    return _listed(await context.session.servers.list())


@as_command("codelaw/mcp/list")
async def show_the_servers(context: Context, _params: wire.ListServers) -> object:
    """The servers; a client without events is shown them as a document besides."""
    found = await context.session.servers.list()
    lines = [_line(one) for one in found.servers] or [NONE]
    text = "\n".join(["# Servers", "", *lines, *(f"- {literal(problem)}" for problem in found.problems)])
    context.ui.record("records", "servers", text)
    return _listed(found)


@route("codelaw/mcp/restart", wire.RestartServer, wire.Restarted)
async def restart(context: Context, params: wire.RestartServer) -> object:
    await context.session.servers.restart(params.name)
    return wire.Restarted()


@route("codelaw/mcp/logout", wire.LogOutOfServer, wire.LoggedOut)
async def log_out(context: Context, params: wire.LogOutOfServer) -> object:
    return wire.LoggedOut(forgotten=await context.session.servers.log_out(params.name))


@route("codelaw/mcp/enable", wire.EnableServer, wire.ServerList)
async def enable(context: Context, params: wire.EnableServer) -> object:
    return _listed(await context.session.servers.enable(params.name, enabled=params.enabled, digest=params.digest))


@route("codelaw/mcp/decline", wire.DeclineServer, wire.ServerList)
async def decline(context: Context, params: wire.DeclineServer) -> object:
    return _listed(await context.session.servers.decline(params.name, digest=params.digest))


def _line(server: ServerState) -> str:
    tools = f", {server.tools} tools" if server.state == "ready" else ""
    return f"- `{server.name}` **{server.state}**{tools}{f': {literal(server.message)}' if server.message else ''}"


def _listed(found: ServerList) -> wire.ServerList:
    servers = [
        wire.Server.of(
            one,
            source=found.sources.get(one.name),
            digest=found.digests.get(one.name),
            ask=one.name in found.asking,
            logged_in=one.name in found.logged_in,
        )
        for one in found.servers
    ]
    return wire.ServerList(servers=servers, problems=list(found.problems))
