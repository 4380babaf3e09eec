"""Undoing on the terminal: what came back, and what was left alone (E-2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from codelaw.cli.client import Client
from codelaw.cli.terminal import DIM, YELLOW, Screen, one_line

NO_EVENTS = 2**31 - 1
"""Of the events all are known."""


async def undo(client: Client, screen: Screen, chat_id: str, workspace: Path) -> None:
    """Undo what the last turn did to files.

    Raises:
        RemoteError: the server refused it.
        ServerDiedError: the server is gone.
    """
    record = await client.request("codelaw/chat/read", {"chatId": chat_id, "limit": 1, "sinceSeq": NO_EVENTS})
    if not record["messages"]:
        screen.line("There is no turn to undo yet.", style=DIM)
        return
    client.on_event = lambda _: None  # its notice says the same
    answer = await client.request(
        "codelaw/chat/revert", {"chatId": chat_id, "turnId": record["messages"][-1]["turnId"]}
    )
    show(screen, answer, workspace)


def show(screen: Screen, answer: dict[str, Any], workspace: Path) -> None:
    """A line for each file."""
    for uri in answer["reverted"]:
        screen.line(one_line(f"undone {_path(uri, workspace)}"), style=DIM)
    for conflict in answer["conflicts"]:
        screen.line(one_line(f"left alone: {conflict['reason']}", 300), style=YELLOW)
    if not answer["reverted"] and not answer["conflicts"]:
        screen.line("Every file is as it was before the turn.", style=DIM)


def _path(uri: str, workspace: Path) -> str:
    parts = urlsplit(uri)
    path = Path(url2pathname(parts.path))
    if parts.scheme != "file":
        return uri
    return str(path.relative_to(workspace)) if path.is_relative_to(workspace) else str(path)
