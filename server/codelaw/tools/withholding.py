"""The workspace without what deny rules keep back: one filter for listing, counting, searching and reading (S-1)."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import (
    Buffer,
    Entry,
    FileImage,
    FilePart,
    FileText,
    Folder,
    Found,
    Hits,
    Located,
    Stamp,
    Survey,
)
from codelaw.permissions.policy import Denied
from codelaw.ports.workspace import Hiding, OpenDocuments, Workspace


def withheld(workspace: Workspace, denied: Denied | None) -> Workspace:
    """The workspace without what is denied; the same where no rule denies anything."""
    return workspace if denied is None else Withheld(workspace, denied)


class Withheld:
    """A `Workspace` in which denied files are not there to be looked at; writing is judged before, call by call."""

    def __init__(self, workspace: Workspace, denied: Denied) -> None:
        self._workspace = workspace
        self._denied = denied

    @property
    def folders(self) -> tuple[Folder, ...]:
        return self._workspace.folders

    @property
    def buffers(self) -> OpenDocuments:
        return _Buffers(self._workspace, self._denied)

    def locate(self, path: str) -> Located:
        located = self._workspace.locate(path)
        self._refuse(located)
        return located

    async def read(self, located: Located) -> FileText:
        self._refuse(located)
        return await self._workspace.read(located)

    async def part(self, located: Located, *, first: int, count: int, width: int) -> FilePart | None:
        self._refuse(located)
        return await self._workspace.part(located, first=first, count=count, width=width)

    def in_editor(self, located: Located) -> bool:
        return self._workspace.in_editor(located)

    def reviews(self, located: Located) -> bool:
        return self._workspace.reviews(located)

    async def save_edited(self) -> Sequence[str]:
        return await self._workspace.save_edited()

    async def write(
        self, located: Located, text: str, *, over: FileText | None, label: str = "", review: bool = True
    ) -> FileText:
        self._refuse(located)
        return await self._workspace.write(located, text, over=over, label=label, review=review)

    async def image(self, located: Located, *, most: int | None = None) -> FileImage | None:
        self._refuse(located)
        return await self._workspace.image(located, most=most)

    async def images(
        self, located: Sequence[Located], *, most: int, total: int
    ) -> list[FileImage | ToolFailure | None]:
        for place in located:
            self._refuse(place)
        return await self._workspace.images(located, most=most, total=total)

    async def put_back(self, located: Located, content: bytes, *, over: bytes | None, mode: int | None = None) -> None:
        self._refuse(located)
        await self._workspace.put_back(located, content, over=over, mode=mode)

    async def remove(self, located: Located, *, over: bytes, shown: str | None = None) -> None:
        self._refuse(located)
        await self._workspace.remove(located, over=over, shown=shown)

    async def put_folder(self, located: Located, *, there: bool) -> bool:
        self._refuse(located)
        return await self._workspace.put_folder(located, there=there)

    async def entries(self, located: Located, *, hidden: bool, ignored: bool) -> list[Entry]:
        self._refuse(located)
        found = await self._workspace.entries(located, hidden=hidden, ignored=ignored)
        return [entry for entry in found if not self._denied.hides(posixpath.join(located.shown, entry.name))]

    async def exists(self, located: Located) -> str | None:
        return None if self._denied.hides(located.shown) else await self._workspace.exists(located)

    async def is_hidden(self, located: Located) -> bool:
        return self._denied.hides(located.shown) or await self._workspace.is_hidden(located)

    async def is_obeyed_by_git(self, located: Located) -> bool:
        return await self._workspace.is_obeyed_by_git(located)

    async def stamps(self, located: Sequence[Located]) -> list[Stamp | None]:
        stamps = await self._workspace.stamps(located)
        return [
            None if self._denied.hides(place.shown) else stamp for place, stamp in zip(located, stamps, strict=True)
        ]

    async def walk(
        self,
        starts: Sequence[Located],
        pattern: str,
        *,
        max_visits: int,
        seconds: float,
        hides: Callable[[str], bool] | None = None,
    ) -> Found:
        def hidden(shown: str) -> bool:
            return self._denied.hides(shown) or (hides is not None and hides(shown))

        return await self._workspace.walk(starts, pattern, max_visits=max_visits, seconds=seconds, hides=hidden)

    async def survey(
        self,
        since: Survey | None,
        *,
        max_visits: int,
        seconds: float,
        hiding: Hiding | None = None,
        exact: bool = False,
    ) -> Survey:
        both = self._denied if hiding is None else _Both(self._denied, hiding)
        return await self._workspace.survey(since, max_visits=max_visits, seconds=seconds, hiding=both, exact=exact)

    async def search(
        self,
        starts: Sequence[Located],
        pattern: str,
        *,
        glob: str | None,
        case_sensitive: bool,
        limit: int,
        seconds: float,
        hides: Callable[[str], bool] | None = None,
    ) -> Hits:
        def hidden(shown: str) -> bool:
            return self._denied.hides(shown) or (hides is not None and hides(shown))

        return await self._workspace.search(
            starts,
            pattern,
            glob=glob,
            case_sensitive=case_sensitive,
            limit=limit,
            seconds=seconds,
            hides=hidden,
        )

    def _refuse(self, located: Located) -> None:
        if self._denied.hides(located.shown):
            raise ToolFailure("PERMISSION_DENIED", f"A permission rule denies {located.shown}.")


@dataclass(frozen=True, slots=True)
class _Both:
    """What either of two keeps back."""

    one: Hiding
    other: Hiding

    def hides(self, shown: str) -> bool:
        return self.one.hides(shown) or self.other.hides(shown)


class _Buffers:
    """The open documents but for denied ones."""

    def __init__(self, workspace: Workspace, denied: Denied) -> None:
        self._workspace = workspace
        self._denied = denied

    def at(self, path: Path) -> Buffer | None:
        buffer = self._workspace.buffers.at(path)
        return None if buffer is None or self._hidden(buffer) else buffer

    def all(self) -> Sequence[Buffer]:
        return [buffer for buffer in self._workspace.buffers.all() if not self._hidden(buffer)]

    def saves(self, path: Path) -> int:
        return self._workspace.buffers.saves(path)

    def formed(self, path: Path) -> Sequence[tuple[str, str]]:
        return self._workspace.buffers.formed(path)

    def _hidden(self, buffer: Buffer) -> bool:
        if buffer.path is None:
            return self._denied.hides(buffer.uri)
        folders = self._workspace.folders
        holding = [folder for folder in folders if buffer.path.is_relative_to(folder.root)]
        if not holding:
            return False
        folder = max(holding, key=lambda one: len(one.root.parts))
        inside = buffer.path.relative_to(folder.root).as_posix()
        return self._denied.hides(inside if len(folders) == 1 else f"{folder.name}/{inside}")
