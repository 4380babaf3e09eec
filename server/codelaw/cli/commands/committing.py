"""`codelaw commit-message`: a message for what is staged, for `git commit -F -` (E-3)."""

from __future__ import annotations

import argparse
from typing import Any

from codelaw.cli.client import Client
from codelaw.cli.commands.one_shot import with_client
from codelaw.cli.exits import FAILED, FINISHED
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import RED, Screen

Json = dict[str, Any]


def commit_message(server: Server, arguments: argparse.Namespace) -> int:
    """Print the message, and nothing else; without one say why, as exit status 1. Nobody commits."""

    async def work(client: Client, screen: Screen) -> int:
        turn = await _run(client, "commitMessage", {})
        proposal = await _run(client, "proposal", turn)
        if "lines" in proposal:
            screen.line("\n".join(proposal["lines"]), aside=False)
            return FINISHED
        error: Json = proposal.get("error") or {"message": proposal["said"] or "There is no message."}
        screen.line("\n".join(filter(None, (error["message"], error.get("hint")))), style=RED)
        return FAILED

    return with_client(server, arguments, work)


async def _run(client: Client, name: str, argument: Json) -> Json:
    command = {"command": f"codelaw.editor.{name}", "arguments": [argument]}
    return await client.request("workspace/executeCommand", command)
