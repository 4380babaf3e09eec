"""Which files a chat is written in, and which of its turns they lack; kept in the data folder (E-3)."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

log = logging.getLogger(__name__)

KEPT_FILES = 1000
"""Chats that are remembered; a forgotten one is resumed all the same."""
KEPT_NAMES = 20
"""Files of one chat, and turns that are missing."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The files of one chat."""

    uris: tuple[str, ...] = ()
    """The newest last."""
    pending: tuple[str, ...] = field(default=())
    """Turns begun from a file that was not saved with their end."""


class Owners:
    """The files of every chat. What cannot be read or written is logged, and counts as not known."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = asyncio.Lock()

    async def read(self, chat_id: str) -> Owner:
        """The files of a chat; none when it is not known."""
        return await asyncio.to_thread(_read, self._file(chat_id))

    async def change(self, chat_id: str, change: Callable[[Owner], Owner]) -> None:
        """Remember something of a chat."""
        async with self._lock:
            await asyncio.to_thread(_change, self._file(chat_id), change)

    async def begun(self, chat_id: str, uri: str, turn_id: str) -> None:
        """A turn was begun from a file."""
        await self.change(chat_id, lambda owner: _with(replace(owner, pending=(*owner.pending, turn_id)), uri))

    async def shown(self, chat_id: str, uri: str) -> None:
        """A chat is written in a file as well."""
        await self.change(chat_id, lambda owner: _with(owner, uri))

    async def saved(self, chat_id: str, turn_id: str) -> None:
        """A file was saved with the end of that turn."""
        await self.change(
            chat_id, lambda owner: replace(owner, pending=tuple(item for item in owner.pending if item != turn_id))
        )

    def _file(self, chat_id: str) -> Path:
        return self._folder / f"{re.sub(r'[^A-Za-z0-9_-]', '-', chat_id)[:120]}.json"


def _with(owner: Owner, uri: str) -> Owner:
    uris = (*(item for item in owner.uris if item != uri), uri)
    return Owner(uris[-KEPT_NAMES:], tuple(dict.fromkeys(owner.pending))[-KEPT_NAMES:])


def _read(file: Path) -> Owner:
    try:
        body: Any = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return Owner()
    except (OSError, ValueError) as error:
        log.warning("What is known of a chat's files cannot be read: %s", error)
        return Owner()
    known = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    return Owner(_names(known.get("uris")), _names(known.get("pending")))


def _names(value: Any) -> tuple[str, ...]:
    return tuple(item for item in cast("list[Any]", value) if isinstance(item, str)) if isinstance(value, list) else ()


def _change(file: Path, change: Callable[[Owner], Owner]) -> None:
    before = _read(file)
    after = change(before)
    if after == before:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        written = file.with_name(f".{uuid4().hex}")
        written.write_text(json.dumps({"uris": after.uris, "pending": after.pending}), "utf-8")
        written.replace(file)
        for old in sorted(file.parent.glob("*.json"), key=os.path.getmtime, reverse=True)[KEPT_FILES:]:
            old.unlink(missing_ok=True)
    except OSError as error:
        log.warning("The files of a chat are not remembered: %s", error)
