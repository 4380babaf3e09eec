"""Telling the user something through a client that knows nothing of us."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from pathlib import Path

from lsprotocol import types

from codelaw.domain.chats import Level, TurnResult
from codelaw.domain.checkpoints import CompactionReport
from codelaw.lsp.client import Client
from codelaw.lsp.transport.errors import ClientError, Disconnected
from codelaw.lsp.transport.rpc import Rpc
from codelaw.protocol import contexts as wire
from codelaw.protocol.outcomes import FAILED, outcome

log = logging.getLogger(__name__)

KEPT_FILES = 50
"""Of the documents of one kind that were shown."""
MESSAGE_CHARACTERS = 2000
"""Of a document shown in a message box."""
NO_ARCHIVE = "Nothing of this chat is archived."

LEVELS = {
    "info": types.MessageType.Info,
    "warning": types.MessageType.Warning,
    "error": types.MessageType.Error,
}


def show_message(rpc: Rpc, level: Level, text: str) -> None:
    """A message box."""
    rpc.tell(types.WINDOW_SHOW_MESSAGE, {"type": int(LEVELS[level]), "message": text})


def log_message(rpc: Rpc, level: Level, text: str) -> None:
    """A line in the editor's log of this server, for what need not interrupt anybody."""
    rpc.tell(types.WINDOW_LOG_MESSAGE, {"type": int(LEVELS[level]), "message": f"codelaw: {text}"})


def show_compaction(rpc: Rpc, report: CompactionReport) -> None:
    """How a compaction went, as one sentence (K-10)."""
    level: Level = "warning" if report.reason in FAILED else "info"
    show_message(rpc, level, outcome(wire.CompactionReport.of(report).wire()))


async def show_answer(rpc: Rpc, client: Client, home: Path, result: TurnResult) -> None:
    """A turn's answer as a document, or as a message where the client shows none."""
    text = result.answer or (result.error.message if result.error else f"The turn ended: {result.stop_reason}")
    level: Level = "error" if result.stop_reason in {"failed", "refused"} else "info"
    await _show_text(rpc, client, _file(home / "answers", result.turn_id), text, level)


async def show_archive(rpc: Rpc, client: Client, home: Path, chat_id: str, archive: wire.Archive) -> None:
    """A chat's summaries as a document, or as a message where the client shows none."""
    if archive.text:
        await _show_text(rpc, client, _file(home / "archives", chat_id), archive.text, "info")
    else:
        show_message(rpc, "info", NO_ARCHIVE)


async def show_record(rpc: Rpc, client: Client, home: Path, name: str, text: str) -> None:
    """What was decided or allowed, as a document, or as a message where the client shows none."""
    await _show_text(rpc, client, _file(home / "records", name), text, "info")


async def _show_text(rpc: Rpc, client: Client, file: Path, text: str, level: Level) -> None:
    if client.documents:
        try:
            await asyncio.to_thread(_write, file, text)
            shown = await rpc.request(types.WINDOW_SHOW_DOCUMENT, {"uri": file.as_uri(), "takeFocus": False})
        except (ClientError, Disconnected, OSError) as error:
            log.warning("A text could not be shown as a document: %s", error)
        else:
            if isinstance(shown, dict) and shown.get("success"):  # pyright: ignore[reportUnknownMemberType]
                return
    show_message(rpc, level, text if len(text) <= MESSAGE_CHARACTERS else text[:MESSAGE_CHARACTERS] + "…")


def _file(folder: Path, name: str) -> Path:
    return folder / f"{re.sub(r'[^A-Za-z0-9_-]', '-', name)}.md"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    file.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
    shown = sorted(file.parent.glob("*.md"), key=os.path.getmtime, reverse=True)
    for old in shown[KEPT_FILES:]:
        old.unlink(missing_ok=True)
