"""Files that codelaw itself obeys: what a command made of one does not count before the user has seen it (S-8)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from codelaw.adapters.texts import Raw, decoded, read_raw
from codelaw.adapters.workspace.accepted import AcceptedTexts
from codelaw.adapters.workspace.overlay import text_of
from codelaw.adapters.workspace.walk import absolute, place_of
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import FileText, UnseenChange
from codelaw.ports.workspace import Workspace

MOST_FILES = 200
"""Of a folder that a hook names."""


@dataclass(frozen=True, slots=True)
class AcceptedFiles:
    """Implements `ObeyedFiles` for a workspace."""

    workspace: Workspace
    accepted: AcceptedTexts | None
    """None: each file counts as it is."""

    async def read(self, path: str) -> FileText | None:
        return await asyncio.to_thread(self._read, path)

    def _read(self, path: str) -> FileText | None:
        place = self.workspace.locate(path)
        buffer = self.workspace.buffers.at(place.path)
        if self.accepted is None or not place.path.is_absolute():
            return text_of(place, buffer)
        try:
            raw = read_raw(place)
        except ToolFailure:
            if buffer is None:
                raise
            return text_of(place, buffer)
        spelt = absolute(path, self.workspace.folders)
        if self.accepted.counts(spelt, place, raw.content):
            found = decoded(raw, place) if buffer is None else text_of(place, buffer)
            self.accepted.shown[spelt] = found.digest
            return found
        last = self.accepted.last(spelt)
        before = None if last is None else decoded(replace(raw, content=last), place)
        if buffer is None:
            return before
        # An editor that has loaded what the command made shows it, and nobody has said so yet.
        found = text_of(place, buffer)
        return found if found.digest in (self.accepted.shown.get(spelt), before and before.digest) else before

    async def removed(self, path: str) -> FileText | None:
        return await asyncio.to_thread(self._removed, path)

    def _removed(self, path: str) -> FileText | None:
        if self.accepted is None:
            return None
        spelt = absolute(path, self.workspace.folders)
        last = None if self._file_counts(self.accepted, spelt) else self.accepted.last(spelt)
        return None if last is None else decoded(Raw(last, 0, 0, 0, 0), place_of(spelt, self.workspace.folders))

    async def counts(self, path: str) -> bool:
        return await asyncio.to_thread(self._counts, Path(path))

    def _counts(self, path: Path) -> bool:
        roots = [folder.root for folder in self.workspace.folders]
        if path.is_dir():
            unseen = [one for one in _files(path) if not self._counts(one)] if path not in roots else []
            return not unseen
        return self.accepted is None or self._file_counts(self.accepted, absolute(str(path), self.workspace.folders))

    def _file_counts(self, accepted: AcceptedTexts, spelt: Path) -> bool:
        shown = self.workspace.shown(str(spelt))
        if not os.path.lexists(spelt):
            return accepted.removed(spelt, shown) is None
        try:
            place = self.workspace.locate(str(spelt))
            content = read_raw(place).content
        except ToolFailure:
            return accepted.counts_unread(spelt, shown)
        return accepted.counts(spelt, place, content)

    async def unseen(self) -> Sequence[UnseenChange]:
        return () if self.accepted is None else await asyncio.to_thread(self._unseen, self.accepted)

    def _unseen(self, accepted: AcceptedTexts) -> Sequence[UnseenChange]:
        for one in accepted.pending():
            self._counts(one.path)  # it may be another by now
        return accepted.pending()

    async def settle(self, changes: Sequence[UnseenChange], *, accepted: bool) -> None:
        if self.accepted is not None:
            await asyncio.to_thread(self._settle, self.accepted, changes, accepted)

    def _settle(self, texts: AcceptedTexts, changes: Sequence[UnseenChange], accepted: bool) -> None:  # noqa: FBT001
        for one in changes:
            content = None
            with suppress(ToolFailure):
                content = read_raw(self.workspace.locate(str(one.path))).content
            texts.settle(one, content, accepted=accepted)


def _files(folder: Path) -> list[Path]:
    with suppress(OSError):
        return sorted(path for path in folder.iterdir() if path.is_file())[:MOST_FILES]
    return []
