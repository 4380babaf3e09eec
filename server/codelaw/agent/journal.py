"""What one call does to files, kept in the store so that it can be undone (E-2)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codelaw.agent.sealing import sealed, sealed_text
from codelaw.domain.edits import BINARY, KeptChange
from codelaw.domain.errors import ToolFailure
from codelaw.domain.redaction import Redaction

if TYPE_CHECKING:
    from codelaw.domain.files import FileImage, FileText, Located
    from codelaw.ports.store import ChatStore
    from codelaw.ports.workspace import Workspace

_BOM = b"\xef\xbb\xbf"


@dataclass(slots=True)
class StoredJournal:
    """A `Journal` of one call."""

    store: ChatStore
    workspace: Workspace
    chat_id: str
    turn_id: str
    call_id: str
    redaction: Redaction = field(default_factory=Redaction)
    """What stands in a file and is not kept as it is (S-5)."""
    _odd: dict[int, Located] = field(default_factory=dict[int, "Located"])
    """The planned changes of files that hold bytes which are no UTF-8."""

    async def plan(self, place: Located, before: FileText | None, after: str | None) -> int:
        """A change about to be made; gives its number. `None` stands for no file."""
        image = None if before is None else await self._image(place)
        text = None if before is None else before.text
        odd = before is not None and before.replaced and image is not None
        if odd and image is not None:
            text = (await asyncio.to_thread(_read, image.content)).text
        kept = KeptChange(
            0,
            self.turn_id,
            self.call_id,
            place.shown,
            place.uri,
            text,
            after,
            bom=before is not None and before.bom,
            mode=None if image is None else image.mode,
        )
        number = await self.store.plan_change(self.chat_id, sealed(kept, self.redaction))
        if odd:
            self._odd[number] = place
        return number

    async def settle(self, number: int, after: str | None) -> None:
        """The change was made, and this is what came of it."""
        if after is not None and (place := self._odd.pop(number, None)) is not None:
            image = await self._image(place)
            after = after if image is None else (await asyncio.to_thread(_read, image.content)).text
        await self.store.settle_change(self.chat_id, number, sealed_text(after, self.redaction))

    async def withdraw(self, number: int) -> None:
        """The change was not made."""
        await self.store.withdraw_change(self.chat_id, number)

    async def keep(self, place: Located, before: FileImage | None, after: FileImage | None) -> None:
        """A change that was made already, by a command."""
        was, now = await asyncio.to_thread(_both, before, after)
        told = was or now
        kept = KeptChange(
            0,
            self.turn_id,
            self.call_id,
            place.shown,
            place.uri,
            None if was is None else was.text,
            None if now is None else now.text,
            "utf-8" if told is None else told.encoding,
            bom=was is not None and was.bom,
            mode=None if before is None else before.mode,
            state="done",
        )
        await self.store.plan_change(self.chat_id, sealed(kept, self.redaction))

    async def _image(self, place: Located) -> FileImage | None:
        try:
            return await self.workspace.image(place)
        except ToolFailure:
            return None  # its permission bits are not known then


@dataclass(frozen=True, slots=True)
class _Read:
    text: str
    bom: bool
    encoding: str


def _both(before: FileImage | None, after: FileImage | None) -> tuple[_Read | None, _Read | None]:
    """Both states in one encoding."""
    images = [image.content for image in (before, after) if image is not None]
    boms = {content.startswith(_BOM) for content in images}
    binary = len(boms) > 1 or any(b"\0" in content for content in images)

    def read(image: FileImage | None) -> _Read | None:
        return None if image is None else _read(image.content, binary=binary)

    return read(before), read(after)


def _read(content: bytes, *, binary: bool = False) -> _Read:
    """Bytes as a text from which they can be made again."""
    if binary:
        return _Read(content.decode("latin-1"), bom=False, encoding=BINARY)
    bom = content.startswith(_BOM)
    return _Read((content[3:] if bom else content).decode("utf-8", "surrogateescape"), bom, "utf-8")
