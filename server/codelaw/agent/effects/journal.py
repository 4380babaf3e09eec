"""What one call does to files, kept in the store so that it can be undone (E-2)."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from codelaw.agent.effects.undoing import sealed, sealed_text
from codelaw.domain.chats import Notice
from codelaw.domain.edits import BINARY, FOLDER, LOST, KeptChange
from codelaw.domain.errors import ToolFailure
from codelaw.domain.safety.redaction import Redaction
from codelaw.ports.cancelling import to_the_end
from codelaw.ports.journal import HeldFile

if TYPE_CHECKING:
    from codelaw.agent.recording.turn_record import TurnRecord
    from codelaw.domain.files import FileImage, FileText, Located
    from codelaw.ports.journal import HeldImages
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
    held: HeldImages | None = None
    """Keeps what commands may change while they run."""
    turn: TurnRecord | None = None
    """Is told what the user should know of the undo."""
    _odd: dict[int, Located] = field(default_factory=dict[int, "Located"])
    """The planned changes of files that hold bytes which are no UTF-8."""

    async def plan(self, place: Located, before: FileText | None, after: str | None) -> int:
        """A change about to be made; gives its number. `None` stands for no file."""
        image = None if before is None else await self._image(place)
        text = None if before is None else before.text
        odd = before is not None and before.replaced and image is not None
        if odd and image is not None:
            text = (await asyncio.to_thread(_read, image.content)).text
        bom, mode = before is not None and before.bom, None if image is None else image.mode
        kept = replace(self._change(place, text, after), bom=bom, mode=mode)
        self._touch(place)
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

    async def hold(self, files: Sequence[tuple[Located, FileImage | None]]) -> str:
        """Files that a command may change, before it starts; see `Journal.hold`."""
        if self.held is None or not files:
            return ""
        saves = self.workspace.buffers.saves
        before = [saves(place.path) for place, _ in files]
        contents, listed = await asyncio.to_thread(_digested, files)

        def text(digest: str) -> str:
            return self.redaction.sealed(contents[digest].decode("utf-8", "surrogateescape"))

        def saved() -> list[int]:
            return [place for place, file in enumerate(listed) if saves(file.place.path) != before[place]]

        call = (self.chat_id, self.turn_id, self.call_id)
        holding = asyncio.ensure_future(self.held.hold(call, listed, text, self.redaction.edition, saved))
        try:
            return await to_the_end(holding)
        except asyncio.CancelledError:
            if not holding.cancelled() and holding.exception() is None:
                await to_the_end(self.held.release(holding.result()))
            raise
        except OSError as error:
            why = f"what it may change cannot be kept for an undo ({error.strerror})"
            how = "Make room on the disk of codelaw's data folder, then try again."
            self.report(Notice("error", "undo_unavailable", f"A command was not run: {why}. {how}"))
            raise ToolFailure(
                "EXECUTION_ERROR", f"The command was not run: {why}. Ask the user to make room."
            ) from error

    async def release(self, name: str, *, stored: bool) -> None:
        """The command has ended."""
        if name and self.held is not None:
            await self.held.release(name, stored=stored)

    def report(self, notice: Notice) -> None:
        """Tell the user something about the undo."""
        if self.turn is not None:
            self.turn.notice(notice)

    async def keep(self, place: Located, before: FileImage | None, after: FileImage | None) -> None:
        """A change that was made already, by a command."""
        self._touch(place)
        await self.store.plan_change(self.chat_id, await asyncio.to_thread(self.made, place, before, after))

    async def note(self, place: Located, what: Literal["folder", "lost"], *, was: bool, there: bool) -> None:
        """A folder that was made or removed, or a file of which nothing was kept; see `Journal.note`."""
        if what == "lost":
            self._touch(place)
        await self.store.plan_change(self.chat_id, self.noted(place, what, was=was, there=there))

    def noted(self, place: Located, what: Literal["folder", "lost"], *, was: bool, there: bool) -> KeptChange:
        """The same, as it is kept."""
        change = self._change(place, "" if was else None, "" if there else None)
        return replace(change, encoding=FOLDER if what == "folder" else LOST, state="done")

    def _change(self, place: Located, before: str | None, after: str | None) -> KeptChange:
        return KeptChange(0, self.turn_id, self.call_id, place.shown, place.uri, before=before, after=after)

    def touched(self) -> Sequence[Located]:
        """The files that the turn has changed by now."""
        return () if self.turn is None else [*self.turn.touched.values()]

    def _touch(self, place: Located) -> None:
        if self.turn is not None:
            self.turn.touched[place.uri] = place

    def made(
        self,
        place: Located,
        before: FileImage | None,
        after: FileImage | None,
        state: Literal["done", "unknown"] = "done",
    ) -> KeptChange:
        """A change that was made already, as it is kept."""
        was, now = _both(before, after)
        reported = was or now
        kept = replace(
            self._change(place, None if was is None else was.text, None if now is None else now.text),
            encoding="utf-8" if reported is None else reported.encoding,
            bom=was is not None and was.bom,
            mode=None if before is None else before.mode,
            state=state,
        )
        return sealed(kept, self.redaction)

    async def _image(self, place: Located) -> FileImage | None:
        try:
            return await self.workspace.image(place)
        except ToolFailure:
            return None  # its permission bits are not known then


def journal_of(
    turn: TurnRecord, call_id: str, workspace: Workspace, *, redaction: Redaction, held: HeldImages | None
) -> StoredJournal:
    """The journal of a call of that turn."""
    return StoredJournal(
        store=turn.store,
        workspace=workspace,
        chat_id=turn.chat_id,
        turn_id=turn.id,
        call_id=call_id,
        redaction=redaction,
        held=held,
        turn=turn,
    )


@dataclass(frozen=True, slots=True)
class _Read:
    text: str
    bom: bool
    encoding: str


def _digested(files: Sequence[tuple[Located, FileImage | None]]) -> tuple[dict[str, bytes], list[HeldFile]]:
    """The contents by their digests, and the files."""
    contents: dict[str, bytes] = {}
    listed: list[HeldFile] = []
    for place, image in files:
        digest = None
        if image is not None:
            digest = hashlib.sha256(image.content).hexdigest()
            contents[digest] = image.content
        listed.append(HeldFile(place, digest, None if image is None else image.mode))
    return contents, listed


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
