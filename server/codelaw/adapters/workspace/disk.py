"""The workspace: folders on disk with the open buffers in front (T-2, F-1)."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Callable, Coroutine, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from codelaw.adapters.processes.rules.repositories import kept
from codelaw.adapters.workspace.accepted import AcceptedTexts
from codelaw.adapters.workspace.expression import read_expression
from codelaw.adapters.workspace.ignore import IgnoreTree
from codelaw.adapters.workspace.obeyed import AcceptedFiles
from codelaw.adapters.workspace.overlay import EitherHiding, VisibleDocuments, edit_of, part_at, text_of
from codelaw.adapters.workspace.replacing import (
    Naming,
    image_of,
    images_of,
    put_back,
    put_folder,
    remove,
    replace_file,
    unrecorded,
)
from codelaw.adapters.workspace.search import FileSearch, find_rg, search_lines
from codelaw.adapters.workspace.surveying import surveyed
from codelaw.adapters.workspace.walk import (
    WalkBudget,
    entries_in,
    files_below,
    kind_of,
    locate,
    mtime_of,
    place_of,
    stamp_of,
)
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import (
    Buffer,
    Entry,
    FileImage,
    FilePart,
    FileText,
    Folder,
    Found,
    FoundFile,
    Hits,
    Located,
    Stamp,
    Survey,
)
from codelaw.domain.safety.globs import path_matcher
from codelaw.domain.safety.key_files import keeps_keys
from codelaw.ports.editor import Editor
from codelaw.ports.workspace import Hiding, OpenDocuments
from codelaw.tools.changing.matching import same_lines

Asked = Callable[[Located, str], bool]
"""Whether the file with that absolute path, below a start, is asked for."""


@dataclass(slots=True)
class _Live:
    """What changes, for all views of a workspace."""

    folders: tuple[Folder, ...]
    review: bool = False
    edited: dict[str, int] = field(default_factory=dict[str, int])
    """Documents that we changed in the editor and that were clean before, with the saves they had had."""
    outdated: dict[Path, int] = field(default_factory=dict[Path, int])
    """Versions of clean buffers whose file we wrote: until the editor reloads them, the disk is the truth."""


class DiskWorkspace:
    """Implements `Workspace`. `rg` is looked for at each search, so that installing it needs no restart."""

    def __init__(
        self,
        folders: Sequence[Folder],
        documents: OpenDocuments,
        *,
        rg: Callable[[], str | None] | None = None,
        editor: Editor | None = None,
        naming: Naming = unrecorded,
        accepted: AcceptedTexts | None = None,
    ) -> None:
        """`naming` gives the names of files until they are whole and in their place.

        `accepted` knows what commands have made of files that codelaw obeys; without it each counts as it is.
        """
        self._accepted = accepted
        self._naming = naming
        self._live = _Live(tuple(folders))
        self._documents = documents
        self._rg = rg or (lambda: find_rg([folder.root for folder in self.folders]))
        self._editor = editor
        self._writing = asyncio.Lock()
        self._hiding: Hiding | None = None

    def without(self, denied: Hiding | None) -> DiskWorkspace:
        view = self
        if denied is not None:
            view = copy(self)
            view._hiding = denied if self._hiding is None else EitherHiding(self._hiding, denied)  # noqa: SLF001 - its own
            view._documents = VisibleDocuments(self._documents, denied, self.shown)  # noqa: SLF001
        return view

    @property
    def folders(self) -> tuple[Folder, ...]:
        return self._live.folders

    @folders.setter
    def folders(self, folders: Sequence[Folder]) -> None:
        self._live.folders = tuple(folders)

    @property
    def review(self) -> bool:
        """The user wants to confirm each part of an edit, where the editor can do that (E-1)."""
        return self._live.review

    @review.setter
    def review(self, review: bool) -> None:
        self._live.review = review

    @property
    def obeyed(self) -> AcceptedFiles:
        return AcceptedFiles(self, self._accepted)

    @property
    def buffers(self) -> OpenDocuments:
        return self._documents

    def locate(self, path: str) -> Located:
        return self._seen(locate(path, self.folders, self._documents.all))

    async def read(self, located: Located) -> FileText:
        return await asyncio.to_thread(
            text_of, self._seen(located), self._buffer(located), self._documents.formed(located.path)
        )

    async def part(self, located: Located, *, first: int, count: int, width: int) -> FilePart | None:
        if self._buffer(self._seen(located)) is not None:
            return None
        return await asyncio.to_thread(part_at, located, first, count, width)

    def in_editor(self, located: Located) -> bool:
        return self._editor is not None and self._editor.edits and self._buffer(located) is not None

    def reviews(self, located: Located) -> bool:
        return self.review and self.in_editor(located) and self._editor is not None and self._editor.reviews

    async def save_edited(self) -> Sequence[str]:
        dirty = await self._unsaved()
        own = [buffer.uri for buffer in dirty if self._is_ours(buffer)]
        if own and self._editor is not None and self._editor.saves:
            await self._editor.save(own)
            await self._wrote({one.path: one.text for one in self._open() if one.uri in own and one.path})
            dirty = await self._unsaved()
        self._live.edited = {buffer.uri: self._live.edited[buffer.uri] for buffer in dirty if self._is_ours(buffer)}
        return [self.shown(str(buffer.path)) for buffer in dirty]

    async def _wrote(self, texts: Mapping[Path, str]) -> None:
        if self._accepted is not None:
            await asyncio.to_thread(self._accepted.wrote, texts)

    def _is_ours(self, buffer: Buffer) -> bool:
        """Whether what is unsaved in it began with an edit of ours; once the user has saved, it is theirs."""
        saves = self._live.edited.get(buffer.uri)
        return saves is not None and buffer.path is not None and self._documents.saves(buffer.path) == saves

    async def write(
        self, located: Located, text: str, *, over: FileText | None, label: str = "", review: bool = True
    ) -> FileText:
        if self.in_editor(self._seen(located)):
            return await self._edit(located, text, over, label, review=review and self.reviews(located))
        # A thread cannot be stopped: what it has done must be known.
        return await _to_its_end(self._write(located, text, over))

    async def _write(self, located: Located, text: str, over: FileText | None) -> FileText:
        async with self._writing:
            buffer = self._buffer(located)
            written = await asyncio.to_thread(_write, located, text, over, buffer, self._naming)
            await self._wrote({located.path: text})
            if buffer is not None:
                self._live.outdated[located.path] = buffer.version
            return written

    async def _edit(self, located: Located, text: str, over: FileText | None, label: str, *, review: bool) -> FileText:
        buffer, editor = self._buffer(located), self._editor
        assert buffer is not None  # noqa: S101 - narrowing; `in_editor` has looked
        assert editor is not None  # noqa: S101
        edit = await asyncio.to_thread(edit_of, located, text, over, buffer, label, review=review)
        after = await editor.apply(edit) if edit.splices else buffer.text
        if over is not None and not over.unsaved and buffer.path is not None:
            self._live.edited[buffer.uri] = self._documents.saves(buffer.path)
        now = self._buffer(located)
        # Of a text that has moved on already the version must not be taken for this one's.
        version = now.version if now is not None and now.text == after else -1
        changed = replace(buffer, text=after, version=version)
        # It is made: that must be known.
        return await _to_its_end(asyncio.to_thread(text_of, located, changed))

    async def _unsaved(self) -> list[Buffer]:
        """The open documents of the workspace whose file differs, or is not there."""
        return await asyncio.to_thread(lambda: [buffer for buffer in self._open() if self._differs(buffer)])

    def _differs(self, buffer: Buffer) -> bool:
        if buffer.path is None:
            return False
        try:
            return text_of(place_of(buffer.path, self.folders), buffer).unsaved
        except ToolFailure:
            return False  # outside the workspace

    async def image(self, located: Located, *, most: int | None = None) -> FileImage | None:
        return await asyncio.to_thread(image_of, self._seen(located), most)

    async def images(
        self, located: Sequence[Located], *, most: int, total: int
    ) -> list[FileImage | ToolFailure | None]:
        return await asyncio.to_thread(images_of, [*map(self._seen, located)], most, total)

    async def put_back(self, located: Located, content: bytes, *, over: bytes | None, mode: int | None = None) -> None:
        async with self._writing:
            await asyncio.to_thread(
                put_back, self._seen(located), content, over, mode, self._buffer(located), naming=self._naming
            )

    async def remove(self, located: Located, *, over: bytes, shown: str | None = None) -> None:
        async with self._writing:
            await asyncio.to_thread(remove, self._seen(located), over, shown, self._buffer(located))

    async def put_folder(self, located: Located, *, there: bool) -> bool:
        return await asyncio.to_thread(put_folder, self._seen(located), there=there)

    async def entries(self, located: Located, *, hidden: bool, ignored: bool) -> list[Entry]:
        place = self._seen(located)
        found = await asyncio.to_thread(entries_in, place, self._open(), hidden=hidden, ignored=ignored)
        return [entry for entry in found if not self._hides(posixpath.join(place.shown, entry.name))]

    async def exists(self, located: Located) -> str | None:
        if self._buffer(located) is not None:
            return "file"
        return None if self._hides(located.shown) else await asyncio.to_thread(kind_of, located.path)

    async def is_hidden(self, located: Located) -> bool:
        root = located.folder.root
        if self._hides(located.shown):
            return True
        return await asyncio.to_thread(lambda: IgnoreTree(root).hides(str(root), str(located.path)))

    async def is_obeyed_by_git(self, located: Located) -> bool:
        return await asyncio.to_thread(kept, [folder.root for folder in self.folders], located.path)

    async def stamps(self, located: Sequence[Located]) -> list[Stamp | None]:
        known = [(place, self._buffer(place), self._hides(place.shown)) for place in located]
        return await asyncio.to_thread(
            lambda: [None if hidden else stamp_of(place, buffer) for place, buffer, hidden in known]
        )

    async def walk(
        self,
        starts: Sequence[Located],
        pattern: str,
        *,
        max_visits: int,
        seconds: float,
    ) -> Found:
        matches = self._matches(pattern)
        return await asyncio.to_thread(self._walk, starts, matches, WalkBudget(max_visits, seconds), self._open())

    def _walk(self, starts: Sequence[Located], matches: Asked, budget: WalkBudget, buffers: Sequence[Buffer]) -> Found:
        found: dict[str, FoundFile] = {}
        for start in starts:
            tree = IgnoreTree(start.folder.root)
            kind = kind_of(start.path)
            if kind == "file" and matches(start, str(start.path)):
                found[str(start.path)] = FoundFile(start.shown, start.path.stat().st_mtime)
            elif kind == "folder":
                for entry in files_below(str(start.path), tree, budget):
                    if matches(start, entry.path):
                        found[entry.path] = FoundFile(self.shown(entry.path), mtime_of(entry))
            for buffer in buffers:
                path = f"{start.path}/{buffer.uri}" if buffer.path is None else str(buffer.path)
                inside = start.path == start.folder.root if buffer.path is None else _below(start, path)
                if inside and path not in found and matches(start, path) and not tree.hides(str(start.path), path):
                    shown = buffer.uri if buffer.path is None else self.shown(path)
                    found.setdefault(path if buffer.path else buffer.uri, FoundFile(shown, float("inf")))
        files = sorted(found.values(), key=lambda file: (-file.mtime, file.shown))
        return Found(tuple(files), budget.stopped)

    async def survey(
        self,
        since: Survey | None,
        *,
        max_visits: int,
        seconds: float,
        exact: bool = False,
    ) -> Survey:
        folders, buffers = self.folders, [buffer for buffer in self._open() if buffer.path is not None]
        budget = WalkBudget(max_visits, seconds)
        return await asyncio.to_thread(
            surveyed, folders, since, budget, hiding=self._hiding, buffers=buffers, shown=self.shown, exact=exact
        )

    async def search(
        self,
        starts: Sequence[Located],
        pattern: str,
        *,
        glob: str | None,
        case_sensitive: bool,
        limit: int,
        seconds: float,
    ) -> Hits:
        expression = read_expression(pattern, case_sensitive=case_sensitive)
        asked = self._matches(glob)
        question = FileSearch(
            starts=starts,
            expression=expression,
            # What stands in a file made to hold keys is told only where the search is of that very file.
            matches=lambda start, path: asked(start, path) and (str(start.path) == path or not keeps_keys(path)),
            shown=self.shown,
            glob=glob,
            limit=limit,
            seconds=seconds,
            folders=[folder.root for folder in self.folders],
            denied=None if self._hiding is None else self._hiding.hides,
        )
        program = await asyncio.to_thread(self._rg)
        return await search_lines(question, self._open(), program)

    def _matches(self, glob: str | None) -> Asked:
        """Whether a file is asked for and seen; a glob is relative to the start or to the workspace, as one likes."""
        for folder in self.folders:
            glob = (glob or "").removeprefix(f"{folder.root}/")
        fits = path_matcher(glob) if glob else None

        def matches(start: Located, path: str) -> bool:
            shown = self.shown(path)
            inside = path[len(str(start.path).rstrip("/")) + 1 :] or start.path.name
            return (fits is None or fits(inside) or fits(shown)) and not self._hides(shown)

        return matches

    def _hides(self, shown: str) -> bool:
        return self._hiding is not None and self._hiding.hides(shown)

    def _seen(self, located: Located) -> Located:
        """The place, which no rule denies."""
        if self._hides(located.shown):
            raise ToolFailure("PERMISSION_DENIED", f"A permission rule denies {located.shown}.")
        return located

    def _buffer(self, located: Located) -> Buffer | None:
        if not located.path.is_absolute():
            return next((buffer for buffer in self._documents.all() if buffer.uri == located.uri), None)
        buffer = self._documents.at(located.path)
        return buffer if buffer is None or self._is_current(buffer) else None

    def _open(self) -> tuple[Buffer, ...]:
        return tuple(buffer for buffer in self._documents.all() if self._is_current(buffer))

    def _is_current(self, buffer: Buffer) -> bool:
        return buffer.path is None or self._live.outdated.get(buffer.path) != buffer.version

    def shown(self, path: str) -> str:
        holding = [folder for folder in self.folders if path.startswith(str(folder.root).rstrip("/") + "/")]
        if not holding:
            return path
        folder = max(holding, key=lambda one: len(str(one.root)))
        relative = path[len(str(folder.root).rstrip("/")) + 1 :]
        return relative if len(self.folders) == 1 else f"{folder.name}/{relative}"


def _write(located: Located, text: str, over: FileText | None, buffer: Buffer | None, naming: Naming) -> FileText:
    if buffer is not None and (over is None or not same_lines(buffer.text, over.text)):
        raise ToolFailure(
            "CONFLICT",
            f"{located.shown} is open in the editor with other content than the disk: ask the user to save it.",
        )
    return replace_file(located, text, over, naming)


async def _to_its_end(work: Coroutine[Any, Any, FileText]) -> FileText:
    """What it gives, though its caller is cancelled."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        return await task


def _below(start: Located, path: str) -> bool:
    root = str(start.path).rstrip("/")
    return path == root or path.startswith(f"{root}/")
