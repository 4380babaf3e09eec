"""`codelaw trust`: whether a folder's own settings file counts (S-3)."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from codelaw.cli.approvals import agreed
from codelaw.cli.client import TerminalClient
from codelaw.cli.commands.one_shot import with_client
from codelaw.cli.exits import FAILED, FINISHED
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import BOLD, DIM, GREEN, Screen
from codelaw.domain.safety.unseen import visible_line
from codelaw.settings.places import WORKSPACE_FILE, home, process_environment
from codelaw.settings.trust import trusted_folders

_LATER = "An editor that is open takes it in when it reads its settings again, at the latest when it is restarted."


def trust(server: Server, arguments: argparse.Namespace) -> int:
    """Show what the folder's settings file sets, ask, and remember the answer for just this content."""
    folder = Path(arguments.workspace).resolve()
    name = visible_line(str(folder))

    async def work(client: TerminalClient, screen: Screen) -> int:
        wanted = {"folder": str(folder), "trusted": not arguments.revoke}
        files = (await client.request("codelaw/workspace/settings", {}))["files"]
        if arguments.revoke or not files:  # which is refused with what is wrong
            await client.request("codelaw/workspace/trust", wanted)
            screen.line(f"{name} is not trusted: its {WORKSPACE_FILE} may only tighten. {_LATER}")
            return FINISHED
        file = files[0]
        if not file["values"]:
            screen.line("It sets nothing that needs trust.", style=DIM)
            return FINISHED
        screen.line(f"{visible_line(file['file'])} sets what counts only when you trust its folder:", style=BOLD)
        for key, value in file["values"].items():
            screen.line(f"  {key} = {value}", aside=False)
        if file["trusted"]:
            screen.line("It is trusted with just these values. --revoke takes that back.", style=DIM)
            return FINISHED
        if folder in await asyncio.to_thread(trusted_folders, home(process_environment())):
            screen.line("It was trusted with other values, and has changed since.", style=BOLD)
        if not (arguments.yes or await agreed(screen, f"Trust {name} with these values?")):
            screen.line("Not trusted.", style=DIM)
            return FAILED
        await client.request("codelaw/workspace/trust", wanted | {"digest": file["digest"]})
        screen.line(f"{name} is trusted with these values; when the file changes, it is not. {_LATER}", style=GREEN)
        return FINISHED

    return with_client(server, arguments, work)
