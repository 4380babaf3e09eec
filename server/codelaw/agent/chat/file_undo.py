"""One file, as if the changes that a turn made to it had not been made (E-2)."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from codelaw.agent.effects.undoing import CannotUndo, Step, undone
from codelaw.domain.edits import BINARY, DAMAGED, LOST, CheckpointFile, KeptChange
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import FileImage
from codelaw.ports.cancelling import to_the_end
from codelaw.tools.changing.matching import same_lines

if TYPE_CHECKING:
    from codelaw.agent.effects.journal import StoredJournal
    from codelaw.domain.files import FileText, Located
    from codelaw.ports.store import ChatStore
    from codelaw.ports.workspace import Workspace

_MODE = 0o644
_BOM = b"\xef\xbb\xbf"


async def placed(workspace: Workspace, uri: str) -> Located:
    """Where a uri leads.

    Raises:
        CannotUndo: elsewhere than when it was changed.
        ToolFailure: to no place in the workspace.
    """
    parts = urlsplit(uri)
    path = url2pathname(parts.path) if parts.scheme == "file" else uri
    place = await asyncio.to_thread(workspace.locate, path)
    if place.uri != uri:
        raise CannotUndo("cannot be undone: its path leads elsewhere now")
    return place


@dataclass(slots=True)
class FileUndo:
    """The changes of one file, oldest first."""

    workspace: Workspace
    store: ChatStore
    chat_id: str
    changes: Sequence[KeptChange]
    journal: StoredJournal | None = None
    """Keeps what is done here, so that it can be undone in its turn."""
    again: Sequence[int] = ()
    """The numbers of changes that are there again when these are undone."""

    async def undo(self) -> bool:
        """Undo all of them or none; False where nothing had ever been done.

        Raises:
            CannotUndo: the file is left alone.
            ToolFailure: likewise.
        """
        place, image, shown = await self._found()
        await self._be_sure(image)
        undo = self._undo_closed(place, image) if shown is None else self._undo_open(place, shown, image)
        return await undo or any(change.state == "done" for change in self.changes)

    async def look(self) -> CheckpointFile | None:
        """What undoing them would do, and what would be lost of others' work; None: the file is as it was then."""
        first = self.changes[0]
        try:
            _, image, shown = await self._found()
        except (CannotUndo, ToolFailure) as why:
            said = why.message if isinstance(why, ToolFailure) else f"{first.path} {why}."
            return CheckpointFile(first.path, first.uri, "modify", stuck=said)
        steps = await asyncio.to_thread(_steps, self.changes, binary=self._binary)
        now = shown.text if shown is not None else image and _text(image.content, binary=self._binary)
        then, lost = steps[0].before, None
        try:
            await self._be_sure(image)
            then = await asyncio.to_thread(undone, steps, now, lines=not self._binary)
        except CannotUndo as why:
            lost = f"{first.path} {why}."
        if then == now or (then is not None and now is not None and not self._binary and same_lines(then, now)):
            return None
        does = "create" if now is None else "delete" if then is None else "modify"
        return CheckpointFile(first.path, first.uri, does, changed=now != steps[-1].after, lost=lost)

    async def put_back(self) -> bool:
        """The file as the first of them found it, whatever was done to it since; as `undo`."""
        place, image, shown = await self._found()
        steps = await asyncio.to_thread(_steps, self.changes, binary=self._binary)
        then = steps[0].before
        if shown is None:
            return await self._put(place, then, image, binary=self._binary)
        if then is None:
            if shown.unsaved:
                raise CannotUndo("is open in the editor with unsaved text: save it and try again")
            return await self._put(place, None, image, shown=shown.text)
        await self._write(place, then, shown)
        return True

    @property
    def _binary(self) -> bool:
        return any(change.encoding == BINARY for change in self.changes)

    async def _found(self) -> tuple[Located, FileImage | None, FileText | None]:
        """Where the file is, what the disk has of it, and the editor.

        Raises:
            CannotUndo: nothing can be done to it.
            ToolFailure: likewise.
        """
        if any(change.encoding == DAMAGED for change in self.changes):
            raise CannotUndo("cannot be undone: what was kept of it is damaged")
        if any(change.encoding == LOST for change in self.changes):
            raise CannotUndo("cannot be undone: nothing was kept of it before a command changed it")
        place = await placed(self.workspace, self.changes[0].uri)
        image, shown = await self.workspace.image(place), await self._shown(place)
        if shown is not None and self._binary:
            raise CannotUndo("is open in the editor and was no text: close it and try again")
        return place, image, shown

    async def _be_sure(self, image: FileImage | None) -> None:
        unsure = next((change for change in self.changes if change.state == "unknown"), None)
        if unsure is not None and not await asyncio.to_thread(_is_as_before, unsure, image):
            raise CannotUndo(
                "was changed after codelaw had stopped in the middle of a command: whose change it is cannot be told"
            )

    async def _shown(self, place: Located) -> FileText | None:
        """The text that the editor has of it, if it is open."""
        if place.path.is_absolute() and self.workspace.buffers.at(place.path) is None:
            return None
        text = await self.workspace.read(place)
        return text if text.source == "buffer" else None

    async def _undo_closed(self, place: Located, image: FileImage | None) -> bool:
        binary = self._binary
        steps = await asyncio.to_thread(_steps, self.changes, binary=binary)
        text = None if image is None else _text(image.content, binary=binary)
        result = await asyncio.to_thread(undone, steps, text, lines=not binary)
        return await self._put(place, result, image, binary=binary)

    async def _undo_open(self, place: Located, shown: FileText, image: FileImage | None) -> bool:
        steps = await asyncio.to_thread(_steps, self.changes, binary=False)
        text = shown.text
        try:
            result = await asyncio.to_thread(undone, steps, text)
        except CannotUndo:
            if image is None and steps[-1].after is None:
                # What is typed stays in its document; the file below it is as it was.
                return await self._put(place, await asyncio.to_thread(undone, steps, None), image)
            text = shown.text if shown.unsaved else await asyncio.to_thread(_unformed, steps, shown)
            if text == shown.text:
                raise
            result = await asyncio.to_thread(undone, steps, text)
        disk = None if image is None else _text(image.content, binary=False)
        own = {state for step in steps for state in (step.before, step.after)}
        own |= {shown.text} if text != shown.text else set()
        if result is None:
            if disk is not None and disk not in own:
                raise CannotUndo("was changed on the disk since")
            return await self._put(place, None, image, shown=shown.text)
        if same_lines(result, shown.text):
            # Only the disk may be behind: a command has changed it there, and the editor has not followed.
            first = steps[0].before
            # Some editors do not tell a file's line breaks.
            wanted = first if first is not None and same_lines(first, result) else result
            return await self._put(place, wanted if disk == steps[-1].after else disk, image)
        await self._write(place, result, shown)
        return True

    async def _write(self, place: Located, text: str, shown: FileText) -> None:
        """Let the editor have a text in an open document, and remember it."""
        number = None if self.journal is None else await self.journal.plan(place, shown, text)
        try:
            written = await self.workspace.write(place, text, over=shown, label=f"Undo in {place.shown}", review=False)
        except ToolFailure:
            if self.journal is not None and number is not None:
                await self.journal.withdraw(number)
            raise
        if self.journal is not None and number is not None:
            await self.journal.settle(number, written.text)
        if not same_lines(written.text, text):
            raise CannotUndo("was not undone in all its parts, as you wished")
        await to_the_end(self.mark())

    async def _put(
        self,
        place: Located,
        result: str | None,
        image: FileImage | None,
        *,
        binary: bool = False,
        shown: str | None = None,
    ) -> bool:
        """Let the disk have `result`, and remember it: the one is not cancelled without the other. False: it had it."""
        now = None if image is None else image.content
        content = None if result is None else await asyncio.to_thread(self._bytes, result, now, binary=binary)

        async def put() -> bool:
            if self.journal is not None and content != now:
                mode = (self.changes[0].mode or _MODE) if image is None else image.mode
                await self.journal.keep(place, image, None if content is None else FileImage(content, mode))
            if content is None and now is not None:
                await self.workspace.remove(place, over=now, shown=shown)
            elif content is not None and content != now:
                mode = self.changes[0].mode if now is None else None
                await self.workspace.put_back(place, content, over=now, mode=mode)
            await self.mark()
            return content != now

        return await to_the_end(put())

    async def mark(self) -> None:
        """Remember that they are undone."""
        # In this order: what a death in between leaves is found and marked the next time.
        if self.again:
            await self.store.mark_changes(self.chat_id, self.again, "done")
        await self.store.mark_changes(self.chat_id, [change.number for change in self.changes], "undone")

    def _bytes(self, text: str, now: bytes | None, *, binary: bool) -> bytes:
        """The bytes of a text, in the manner of what is there, else of what was there."""
        if binary:
            return text.encode("latin-1")
        bom = self.changes[0].bom if now is None else now.startswith(_BOM)
        return (_BOM if bom else b"") + _encoded(text)


def _unformed(steps: Sequence[Step], shown: FileText) -> str:
    """The text that is open; without what the editor's formatter did when it saved, which nobody typed."""
    after = steps[-1].after
    if after is not None and shown.formed_from:
        digest = hashlib.sha256(after.encode("utf-8", "surrogatepass")).hexdigest()
        if digest in shown.formed_from:
            return after
    return shown.text


def _steps(changes: Sequence[KeptChange], *, binary: bool) -> list[Step]:
    def state(change: KeptChange, text: str | None) -> str | None:
        if text is None or not binary or change.encoding == BINARY:
            return text
        return ((_BOM if change.bom else b"") + _encoded(text)).decode("latin-1")

    return [
        Step(state(change, change.before), state(change, change.after), change.state == "done") for change in changes
    ]


def _is_as_before(change: KeptChange, image: FileImage | None) -> bool:
    if image is None:
        return change.before is None
    return change.before == _text(image.content, binary=change.encoding == BINARY)


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise CannotUndo("cannot be undone: its text held half a surrogate pair, which no file can") from None


def _text(content: bytes, *, binary: bool) -> str:
    if binary:
        return content.decode("latin-1")
    return content.removeprefix(_BOM).decode("utf-8", "surrogateescape")
