"""Files of ours in the data folder, shown in the editor."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from lsprotocol import types

from codelaw.lsp.errors import ClientError, Disconnected
from codelaw.lsp.showing import MESSAGE_CHARACTERS, show_message

if TYPE_CHECKING:
    from codelaw.lsp.connection import Connection

log = logging.getLogger(__name__)

KEPT_FILES = 200
"""Of a folder whose files nobody writes in; what is older is removed."""


async def put(file: Path, text: str, *, prune: bool = False) -> None:
    """Write a file of ours, whole or not at all; with `prune` the oldest in its folder give way."""
    await asyncio.to_thread(_put, file, text, prune=prune)


async def show(
    connection: Connection,
    file: Path,
    text: str,
    *,
    message: str | None = None,
    focus: bool = False,
    line: int | None = None,
    prune: bool = False,
) -> str:
    """Write a file and show it; a client that shows none is told `message`, or the text, and where the file is.

    `line`, zero-based, is where the cursor goes. Gives the file's uri.
    """
    try:
        await put(file, text, prune=prune)
    except OSError as error:
        log.warning("A document could not be written: %s", error)
        show_message(connection.rpc, "warning", _short(message or text))
        return file.as_uri()
    if connection.client.documents:
        wanted: dict[str, Any] = {"uri": file.as_uri(), "takeFocus": focus}
        if line is not None:
            place = {"line": line, "character": 0}
            wanted["selection"] = {"start": place, "end": place}
        try:
            shown: Any = await connection.rpc.request(types.WINDOW_SHOW_DOCUMENT, wanted)
        except (ClientError, Disconnected) as error:
            log.info("A document was not shown: %s", error)
        else:
            if isinstance(shown, dict) and cast("dict[str, Any]", shown).get("success") is True:
                return file.as_uri()
    show_message(connection.rpc, "info", f"{_short(message or text)}\n\n{file}")
    return file.as_uri()


def _short(text: str) -> str:
    return text if len(text) <= MESSAGE_CHARACTERS else text[:MESSAGE_CHARACTERS] + "…"


def _put(file: Path, text: str, *, prune: bool) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    written = file.with_name(f".{uuid4().hex}")
    written.write_text(text, "utf-8", newline="")
    written.replace(file)
    if not prune:
        return
    files = [path for path in file.parent.iterdir() if not path.name.startswith(".")]
    for old in sorted(files, key=os.path.getmtime, reverse=True)[KEPT_FILES:]:
        old.unlink(missing_ok=True)
