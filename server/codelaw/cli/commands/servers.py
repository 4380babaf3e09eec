"""`codelaw mcp` and `codelaw skills`: the servers and the skills that people bring along (X-2, X-3)."""

from __future__ import annotations

import argparse
from typing import Any

from codelaw.cli.approvals import agreed
from codelaw.cli.client import TerminalClient
from codelaw.cli.commands.one_shot import ask_server, list_entries, with_client
from codelaw.cli.exits import FAILED, FINISHED
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import BOLD, DIM, GREEN, RED, YELLOW, Screen
from codelaw.domain.safety.unseen import visible_line

Json = dict[str, Any]


def skills(server: Server, arguments: argparse.Namespace) -> int:
    """Print them by name."""
    return list_entries(
        server,
        arguments,
        ("codelaw/skill/list", {}),
        lambda found: found["skills"],
        show=_print,
        empty="There are no skills: a folder with a SKILL.md in .codelaw/skills is one.",
    )


def _print(screen: Screen, one: Json) -> None:
    """What it is called by and meant for; below it where it lies, and what is wrong."""
    screen.line(visible_line(f"{one['name']:<20} {one['description']}"), aside=False)
    screen.line(f"    {visible_line(one['source'])}", style=DIM, aside=False)
    if "shadowed" in one:
        screen.line(f"    does not count: {visible_line(one['shadowed'])} does", style=YELLOW, aside=False)
    if "problem" in one:
        screen.line(f"    {visible_line(one['problem'])}", style=YELLOW, aside=False)


_LATER = "An editor that is open takes it in with its next message."
_STILL = "An editor that is open is logged in until it starts the server anew."


def servers(server: Server, arguments: argparse.Namespace) -> int:
    """Print a line for each."""
    return list_entries(
        server,
        arguments,
        ("codelaw/mcp/list", {}),
        lambda found: found["servers"],
        show=_show,
        empty="No servers: `mcp.servers`, .mcp.json and .vscode/mcp.json name them.",
    )


def switch(server: Server, arguments: argparse.Namespace) -> int:
    """Let a server start, or switch it off."""

    async def work(client: TerminalClient, screen: Screen) -> int:
        # A server starts only as it was listed to this very client, so that nobody agrees to what they have not seen.
        listed = await client.request("codelaw/mcp/list", {})
        found = next((one for one in listed["servers"] if one["name"] == arguments.name), None)
        enabled = arguments.action == "enable"
        if found is not None and enabled and found["state"] == "needs_trust" and not arguments.yes:
            screen.line(visible_line(found["message"]), style=BOLD)
            if not await agreed(screen, "Let it start whenever you talk in this folder?"):
                screen.line("It is not started.", style=DIM)
                return FAILED
        answer = await client.request("codelaw/mcp/enable", {"name": arguments.name, "enabled": enabled})
        said = "may start, as it is written now" if enabled else "is switched off"
        screen.line(f"{visible_line(arguments.name)} {said}. {_LATER}", style=GREEN if enabled else DIM)
        for problem in answer.get("problems", ()):
            screen.line(visible_line(problem), style=RED)
        return FINISHED

    return with_client(server, arguments, work)


def log_out(server: Server, arguments: argparse.Namespace) -> int:
    """Forget the login to a server."""

    def show(screen: Screen, answer: Json) -> None:
        name = visible_line(arguments.name)
        if answer["forgotten"]:
            screen.line(f"The login to {name} is forgotten. {_STILL}", style=GREEN)
        else:
            screen.line(f"No login to {name} was kept.", style=DIM)

    return ask_server(server, arguments, "codelaw/mcp/logout", {"name": arguments.name}, show)


def _show(screen: Screen, server: Json) -> None:
    """Name, state, where it is written, and why; nothing in it is cut, as it may be what would be run."""
    tools = f"{server['tools']} tools" if server["state"] == "ready" else ""
    reported = "  ".join(filter(None, (server.get("source", ""), tools, server.get("message", ""))))
    screen.line(
        f"{visible_line(server['name']):<24}  {server['state']:<11}  {visible_line(reported)}".rstrip(), aside=False
    )
