"""Which files a chat is written in, and which of its turns they lack; kept in the data folder (E-3)."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel

from codelaw.lsp.client_calls.window import put

log = logging.getLogger(__name__)

OWN_CHATS = "chats"
"""The folder, in the user's data folder, of the chat files that code actions make."""
KEPT_CHATS = 1000
"""Chats that are remembered; a forgotten one is resumed all the same."""
KEPT_NAMES = 20
"""Files of one chat, and turns that are missing."""


class FilesOfChat(BaseModel, frozen=True):
    """The files of one chat."""

    uris: tuple[str, ...] = ()
    """The newest last."""
    pending: tuple[str, ...] = ()
    """Turns begun from a file that was not saved with their end."""

    def within(self, uri: str, *turn_ids: str) -> FilesOfChat:
        """The same, with a file that is the newest now, and turns that were begun from it."""
        uris = (*(one for one in self.uris if one != uri), uri)
        pending = (*dict.fromkeys((*self.pending, *turn_ids)),)
        return FilesOfChat(uris=uris[-KEPT_NAMES:], pending=pending[-KEPT_NAMES:])


class ChatFileIndex:
    """The files of every chat. What cannot be read or written is logged, and counts as not known."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = asyncio.Lock()

    async def read(self, chat_id: str) -> FilesOfChat:
        """The files of a chat; none when it is not known."""
        try:
            return FilesOfChat.model_validate_json(await asyncio.to_thread(self._file(chat_id).read_bytes))
        except FileNotFoundError:
            return FilesOfChat()
        except (OSError, ValueError) as error:
            log.warning("What is known of a chat's files cannot be read: %s", error)
            return FilesOfChat()

    async def begun(self, chat_id: str, uri: str, turn_id: str) -> None:
        """A turn was begun from a file."""
        await self._change(chat_id, lambda known: known.within(uri, turn_id))

    async def shown(self, chat_id: str, uri: str) -> None:
        """A chat is written in a file as well."""
        await self._change(chat_id, lambda known: known.within(uri))

    async def saved(self, chat_id: str, turn_id: str) -> None:
        """A file was saved with the end of that turn."""

        def without(known: FilesOfChat) -> FilesOfChat:
            return FilesOfChat(uris=known.uris, pending=tuple(one for one in known.pending if one != turn_id))

        await self._change(chat_id, without)

    async def _change(self, chat_id: str, change: Callable[[FilesOfChat], FilesOfChat]) -> None:
        async with self._lock:
            known = change(await self.read(chat_id))
            try:
                await put(self._file(chat_id), known.model_dump_json(), keep=KEPT_CHATS)
            except OSError as error:
                log.warning("The files of a chat are not remembered: %s", error)

    def _file(self, chat_id: str) -> Path:
        return self._folder / f"{re.sub(r'[^A-Za-z0-9_-]', '-', chat_id)[:120]}.json"
