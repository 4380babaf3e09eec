"""Telling the user something through a client that knows nothing of us."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from pathlib import Path

from lsprotocol import types

from codelaw.domain.chats import Level, TurnResult
from codelaw.lsp.client import Client
from codelaw.lsp.errors import ClientError, Disconnected
from codelaw.lsp.rpc import Rpc

log = logging.getLogger(__name__)

KEPT_ANSWERS = 50
"""Files of shown answers that are kept."""
MESSAGE_CHARACTERS = 2000
"""Of an answer shown in a message box."""

LEVELS = {
    "info": types.MessageType.Info,
    "warning": types.MessageType.Warning,
    "error": types.MessageType.Error,
}


def show_message(rpc: Rpc, level: Level, text: str) -> None:
    """A message box."""
    rpc.tell(types.WINDOW_SHOW_MESSAGE, {"type": int(LEVELS[level]), "message": text})


async def show_answer(rpc: Rpc, client: Client, home: Path, result: TurnResult) -> None:
    """A turn's answer as a document, or as a message where the client shows none."""
    text = result.answer or (result.error.message if result.error else f"The turn ended: {result.stop_reason}")
    level: Level = "error" if result.stop_reason in {"failed", "refused"} else "info"
    if client.documents:
        try:
            path = await asyncio.to_thread(_write, home / "answers", result.turn_id, text)
            shown = await rpc.request(types.WINDOW_SHOW_DOCUMENT, {"uri": path.as_uri(), "takeFocus": False})
        except (ClientError, Disconnected, OSError) as error:
            log.warning("An answer could not be shown as a document: %s", error)
        else:
            if isinstance(shown, dict) and shown.get("success"):  # pyright: ignore[reportUnknownMemberType]
                return
    show_message(rpc, level, text if len(text) <= MESSAGE_CHARACTERS else text[:MESSAGE_CHARACTERS] + "…")


def _write(folder: Path, turn_id: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{re.sub(r'[^A-Za-z0-9_-]', '-', turn_id)}.md"
    path.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
    answers = sorted(folder.glob("*.md"), key=os.path.getmtime, reverse=True)
    for old in answers[KEPT_ANSWERS:]:
        old.unlink(missing_ok=True)
    return path
