"""Messages, questions, documents and pages, put before the user by a client that may know nothing of us."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from lsprotocol import types

from codelaw.domain.chats import Level, TurnResult
from codelaw.domain.safety.unseen import visible_line
from codelaw.lsp.client import Client
from codelaw.lsp.transport.errors import ClientError, Disconnected
from codelaw.lsp.transport.rpc import Rpc

log = logging.getLogger(__name__)

KEPT_FILES = 200
"""Of a folder of files that were shown; what is older is removed."""
MESSAGE_CHARACTERS = 2000
"""Of a document shown in a message box."""
LEVELS = {"info": types.MessageType.Info, "warning": types.MessageType.Warning, "error": types.MessageType.Error}


async def put(file: Path, text: str, *, keep: int | None = None) -> None:
    """Write a file of ours, whole or not at all; of its folder at most `keep` files are kept, the newest."""
    await asyncio.to_thread(_put, file, text, keep)


def _put(file: Path, text: str, keep: int | None) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    written = file.with_name(f".{uuid4().hex}")
    written.write_text(text, "utf-8", newline="")
    written.replace(file)
    if keep is None:
        return
    files = [path for path in file.parent.iterdir() if not path.name.startswith(".")]
    for old in sorted(files, key=os.path.getmtime, reverse=True)[keep:]:
        old.unlink(missing_ok=True)


class ClientWindow:
    """What the user of one client sees; files for that are written into `home`."""

    def __init__(self, rpc: Rpc, client: Client, home: Path) -> None:
        self._rpc = rpc
        self._client = client
        self._home = home

    def message(self, level: Level, text: str) -> None:
        """A message box."""
        self._rpc.notify(types.WINDOW_SHOW_MESSAGE, {"type": int(LEVELS[level]), "message": text})

    def log(self, level: Level, text: str) -> None:
        """A line in the editor's log of this server, for what need not interrupt anybody."""
        self._rpc.notify(types.WINDOW_LOG_MESSAGE, {"type": int(LEVELS[level]), "message": f"codelaw: {text}"})

    async def pressed(self, text: str, titles: Iterable[str]) -> str | None:
        """Which button of a message box was pressed; None: none was.

        Raises:
            ClientError: the client shows no boxes.
            Disconnected: the connection ended.
        """
        buttons = [{"title": title} for title in titles]
        params = {"type": int(types.MessageType.Warning), "message": text, "actions": buttons}
        answer: Any = await self._rpc.request(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
        title = cast("dict[str, Any]", answer).get("title") if isinstance(answer, dict) else None
        return title if {"title": title} in buttons else None

    async def open(self, url: str) -> None:
        """Open a page, or say which it is; nothing else that a client would open by an address (X-3)."""
        if not url.startswith(("https://", "http://")):
            log.warning("%s is not a page, and was not opened", visible_line(url[:200]))
        elif not await self.shown(url, external=True):
            self.message("info", f"Open this page to go on: {visible_line(url)}")

    async def shown(self, uri: str, **how: Any) -> bool:
        """Have the client show a document or a page; False when it does not."""
        if not self._client.documents:
            return False
        try:
            answer: Any = await self._rpc.request(types.WINDOW_SHOW_DOCUMENT, {"uri": uri, **how})
        except (ClientError, Disconnected) as error:
            log.warning("A document was not shown: %s", error)
            return False
        return isinstance(answer, dict) and cast("dict[str, Any]", answer).get("success") is True

    async def show(
        self,
        file: Path,
        text: str,
        *,
        message: str | None = None,
        focus: bool = False,
        line: int | None = None,
        keep: int | None = None,
    ) -> str:
        """Write a file and show it; a client that shows none is sent `message`, or the text, and where the file is.

        `line`, zero-based, is where the cursor goes. Gives the file's uri.
        """
        short, uri = _short(message or text), file.as_uri()
        place = {"line": line, "character": 0}
        selection = {} if line is None else {"selection": {"start": place, "end": place}}
        try:
            await put(file, text, keep=keep)
        except OSError as error:
            log.warning("A document could not be written: %s", error)
            self.message("warning", short)
        else:
            if not await self.shown(uri, takeFocus=focus, **selection):
                self.message("info", f"{short}\n\n{file}")
        return uri

    async def answer(self, result: TurnResult) -> None:
        """A turn's answer, as a document or as a message."""
        text = result.answer or (result.error.message if result.error else f"The turn ended: {result.stop_reason}")
        level: Level = "error" if result.stop_reason in {"failed", "refused"} else "info"
        await self.document("answers", result.turn_id, text, level)

    async def document(self, folder: str, name: str, text: str, level: Level = "info") -> None:
        """A text as a document, or as a message where the client shows none."""
        file = self._home / folder / f"{re.sub(r'[^A-Za-z0-9_-]', '-', name)}.md"
        if self._client.documents:
            try:
                await put(file, text if text.endswith("\n") else f"{text}\n", keep=KEPT_FILES)
            except OSError as error:
                log.warning("A document could not be written: %s", error)
            else:
                if await self.shown(file.as_uri(), takeFocus=False):
                    return
        self.message(level, _short(text))


def _short(text: str) -> str:
    return text if len(text) <= MESSAGE_CHARACTERS else text[:MESSAGE_CHARACTERS] + "…"
