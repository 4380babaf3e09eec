"""The workspace: folders on disk with the open buffers in front (T-2, F-1)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from codelaw.adapters.processes.rules.repositories import kept
from codelaw.adapters.workspace import places
from codelaw.adapters.workspace.expression import read_expression
from codelaw.adapters.workspace.fallback import FileSearch
from codelaw.adapters.workspace.ignore import IgnoreTree
from codelaw.adapters.workspace.overlay import edit_of, text_of
from codelaw.adapters.workspace.parts import part_at
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
from codelaw.adapters.workspace.search import find_rg, search_lines
from codelaw.adapters.workspace.surveying import surveyed
from codelaw.adapters.workspace.walk import WalkBudget, files_below, mtime_of
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
from codelaw.ports.editor import Editor
from codelaw.ports.workspace import Hiding, OpenDocuments
from codelaw.tools.changing.matching import same_lines

Asked = Callable[[Located, str], bool]
"""Whether the file with that absolute path, below a start, is asked for."""


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
    ) -> None:
        """`naming` gives the names of files until they are whole and in their place."""
        self._naming = naming
        self._folders = tuple(folders)
        self._documents = documents
        self._rg = rg or (lambda: find_rg([folder.root for folder in self._folders]))
        self._editor = editor
        self.review = False
        """The user wants to confirm each part of an edit, where the editor can do that (E-1)."""
        self._edited: dict[str, int] = {}
        """Documents that we changed in the editor and that were clean before, with the saves they had had."""
        self._writing = asyncio.Lock()
        self._outdated: dict[Path, int] = {}
        """Versions of clean buffers whose file we wrote: until the editor reloads them, the disk is the truth."""

    @property
    def folders(self) -> tuple[Folder, ...]:
        return self._folders

    @folders.setter
    def folders(self, folders: Sequence[Folder]) -> None:
        self._folders = tuple(folders)

    @property
    def buffers(self) -> OpenDocuments:
        return self._documents

    def locate(self, path: str) -> Located:
        return places.locate(path, self._folders, self._documents.all)

    async def read(self, located: Located) -> FileText:
        return await asyncio.to_thread(text_of, located, self._buffer(located), self._documents.formed(located.path))

    async def part(self, located: Located, *, first: int, count: int, width: int) -> FilePart | None:
        if self._buffer(located) is not None:
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
            dirty = await self._unsaved()
        self._edited = {buffer.uri: self._edited[buffer.uri] for buffer in dirty if self._is_ours(buffer)}
        return [self._shown(str(buffer.path)) for buffer in dirty]

    def _is_ours(self, buffer: Buffer) -> bool:
        """Whether what is unsaved in it began with an edit of ours; once the user has saved, it is theirs."""
        saves = self._edited.get(buffer.uri)
        return saves is not None and buffer.path is not None and self._documents.saves(buffer.path) == saves

    async def write(
        self, located: Located, text: str, *, over: FileText | None, label: str = "", review: bool = True
    ) -> FileText:
        if self.in_editor(located):
            return await self._edit(located, text, over, label, review=review and self.reviews(located))
        writing = asyncio.create_task(self._write(located, text, over))
        try:
            return await asyncio.shield(writing)
        except asyncio.CancelledError:
            # A thread cannot be stopped: what it has done must be known.
            return await writing

    async def _write(self, located: Located, text: str, over: FileText | None) -> FileText:
        async with self._writing:
            buffer = self._buffer(located)
            written = await asyncio.to_thread(_write, located, text, over, buffer, self._naming)
            if buffer is not None:
                self._outdated[located.path] = buffer.version
            return written

    async def _edit(self, located: Located, text: str, over: FileText | None, label: str, *, review: bool) -> FileText:
        buffer, editor = self._buffer(located), self._editor
        assert buffer is not None  # noqa: S101 - narrowing; `in_editor` has looked
        assert editor is not None  # noqa: S101
        edit = await asyncio.to_thread(edit_of, located, text, over, buffer, label, review=review)
        after = await editor.apply(edit) if edit.splices else buffer.text
        if over is not None and not over.unsaved and buffer.path is not None:
            self._edited[buffer.uri] = self._documents.saves(buffer.path)
        now = self._buffer(located)
        # Of a text that has moved on already the version must not be taken for this one's.
        version = now.version if now is not None and now.text == after else -1
        changed = replace(buffer, text=after, version=version)
        looking = asyncio.ensure_future(asyncio.to_thread(text_of, located, changed))
        try:
            return await asyncio.shield(looking)
        except asyncio.CancelledError:
            # It is made: that must be known.
            return await looking

    async def _unsaved(self) -> list[Buffer]:
        """The open documents of the workspace whose file differs, or is not there."""
        return await asyncio.to_thread(lambda: [buffer for buffer in self._open() if self._differs(buffer)])

    def _differs(self, buffer: Buffer) -> bool:
        if buffer.path is None:
            return False
        try:
            return text_of(places.place_of(buffer.path, self._folders), buffer).unsaved
        except ToolFailure:
            return False  # outside the workspace

    async def image(self, located: Located, *, most: int | None = None) -> FileImage | None:
        return await asyncio.to_thread(image_of, located, most)

    async def images(
        self, located: Sequence[Located], *, most: int, total: int
    ) -> list[FileImage | ToolFailure | None]:
        return await asyncio.to_thread(images_of, located, most, total)

    async def put_back(self, located: Located, content: bytes, *, over: bytes | None, mode: int | None = None) -> None:
        async with self._writing:
            await asyncio.to_thread(put_back, located, content, over, mode, self._buffer(located), naming=self._naming)

    async def remove(self, located: Located, *, over: bytes, shown: str | None = None) -> None:
        async with self._writing:
            await asyncio.to_thread(remove, located, over, shown, self._buffer(located))

    async def put_folder(self, located: Located, *, there: bool) -> bool:
        return await asyncio.to_thread(put_folder, located, there=there)

    async def entries(self, located: Located, *, hidden: bool, ignored: bool) -> list[Entry]:
        return await asyncio.to_thread(_entries, located, self._open(), hidden=hidden, ignored=ignored)

    async def exists(self, located: Located) -> str | None:
        if self._buffer(located) is not None:
            return "file"
        return await asyncio.to_thread(_kind, located.path)

    async def is_hidden(self, located: Located) -> bool:
        root = located.folder.root
        return await asyncio.to_thread(lambda: IgnoreTree(root).hides(str(root), str(located.path)))

    async def is_obeyed_by_git(self, located: Located) -> bool:
        return await asyncio.to_thread(kept, [folder.root for folder in self.folders], located.path)

    async def stamps(self, located: Sequence[Located]) -> list[Stamp | None]:
        buffers = [self._buffer(place) for place in located]
        return await asyncio.to_thread(lambda: [_stamp(*pair) for pair in zip(located, buffers, strict=True)])

    async def walk(
        self,
        starts: Sequence[Located],
        pattern: str,
        *,
        max_visits: int,
        seconds: float,
        hides: Callable[[str], bool] | None = None,
    ) -> Found:
        matches = self._matches(pattern, hides)
        return await asyncio.to_thread(self._walk, starts, matches, WalkBudget(max_visits, seconds), self._open())

    def _walk(self, starts: Sequence[Located], matches: Asked, budget: WalkBudget, buffers: Sequence[Buffer]) -> Found:
        found: dict[str, FoundFile] = {}
        for start in starts:
            tree = IgnoreTree(start.folder.root)
            kind = _kind(start.path)
            if kind == "file" and matches(start, str(start.path)):
                found[str(start.path)] = FoundFile(start.shown, start.path.stat().st_mtime)
            elif kind == "folder":
                for entry in files_below(str(start.path), tree, budget):
                    if matches(start, entry.path):
                        found[entry.path] = FoundFile(self._shown(entry.path), mtime_of(entry))
            for buffer in buffers:
                path = f"{start.path}/{buffer.uri}" if buffer.path is None else str(buffer.path)
                inside = start.path == start.folder.root if buffer.path is None else _below(start, path)
                if inside and path not in found and matches(start, path) and not tree.hides(str(start.path), path):
                    shown = buffer.uri if buffer.path is None else self._shown(path)
                    found.setdefault(path if buffer.path else buffer.uri, FoundFile(shown, float("inf")))
        files = sorted(found.values(), key=lambda file: (-file.mtime, file.shown))
        return Found(tuple(files), budget.stopped)

    async def survey(
        self,
        since: Survey | None,
        *,
        max_visits: int,
        seconds: float,
        hiding: Hiding | None = None,
        exact: bool = False,
    ) -> Survey:
        folders, buffers = self._folders, [buffer for buffer in self._open() if buffer.path is not None]
        budget = WalkBudget(max_visits, seconds)
        return await asyncio.to_thread(
            surveyed, folders, since, budget, hiding=hiding, buffers=buffers, shown=self._shown, exact=exact
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
        hides: Callable[[str], bool] | None = None,
    ) -> Hits:
        expression = read_expression(pattern, case_sensitive=case_sensitive)
        matches = self._matches(glob, hides)
        question = FileSearch(
            starts=starts,
            expression=expression,
            matches=matches,
            shown=self._shown,
            glob=glob,
            limit=limit,
            seconds=seconds,
            folders=[folder.root for folder in self._folders],
            denied=hides,
        )
        program = await asyncio.to_thread(self._rg)
        return await search_lines(question, self._open(), program)

    def _matches(self, glob: str | None, hides: Callable[[str], bool] | None) -> Asked:
        """Whether a file is asked for and not hidden."""
        asked = self._asked(glob)
        if hides is None:
            return asked

        def seen(start: Located, path: str) -> bool:
            return asked(start, path) and not hides(self._shown(path))

        return seen

    def _asked(self, glob: str | None) -> Asked:
        """A glob is relative to the start or to the workspace, as the model likes."""
        if not glob:
            return lambda _start, _path: True
        for folder in self._folders:
            glob = glob.removeprefix(f"{folder.root}/")
        matches = path_matcher(glob)

        def asked(start: Located, path: str) -> bool:
            root = str(start.path).rstrip("/")
            return matches(path[len(root) + 1 :] or start.path.name) or matches(self._shown(path))

        return asked

    def _buffer(self, located: Located) -> Buffer | None:
        if not located.path.is_absolute():
            return next((buffer for buffer in self._documents.all() if buffer.uri == located.uri), None)
        buffer = self._documents.at(located.path)
        return buffer if buffer is None or self._is_current(buffer) else None

    def _open(self) -> tuple[Buffer, ...]:
        return tuple(buffer for buffer in self._documents.all() if self._is_current(buffer))

    def _is_current(self, buffer: Buffer) -> bool:
        return buffer.path is None or self._outdated.get(buffer.path) != buffer.version

    def _shown(self, path: str) -> str:
        holding = [folder for folder in self._folders if path.startswith(str(folder.root).rstrip("/") + "/")]
        if not holding:
            return path
        folder = max(holding, key=lambda one: len(str(one.root)))
        relative = path[len(str(folder.root).rstrip("/")) + 1 :]
        return relative if len(self._folders) == 1 else f"{folder.name}/{relative}"


def _write(located: Located, text: str, over: FileText | None, buffer: Buffer | None, naming: Naming) -> FileText:
    if buffer is not None and (over is None or not same_lines(buffer.text, over.text)):
        raise ToolFailure(
            "CONFLICT",
            f"{located.shown} is open in the editor with other content than the disk: ask the user to save it.",
        )
    return replace_file(located, text, over, naming)


def _entries(located: Located, buffers: Sequence[Buffer], *, hidden: bool, ignored: bool) -> list[Entry]:
    level = IgnoreTree(located.folder.root).level(str(located.path))
    entries: dict[str, Entry] = {}
    try:
        with os.scandir(located.path) as found:
            present = list(found)
    except FileNotFoundError:
        raise ToolFailure("NOT_FOUND", f"There is no folder {located.shown}.") from None
    except NotADirectoryError:
        raise ToolFailure("INVALID_PARAM", f"{located.shown} is a file: use Read.") from None
    except OSError as error:
        raise ToolFailure("ACCESS_DENIED", f"{located.shown} cannot be listed: {error.strerror}.") from error
    for entry in present:
        try:
            kind = "link" if entry.is_symlink() else "folder" if entry.is_dir() else "file"
            if level.skips(entry.path, entry.name, folder=kind == "folder", hidden=hidden, ignored=ignored):
                continue
            facts = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue  # gone since the folder was read
        except OSError as error:
            raise ToolFailure("ACCESS_DENIED", f"{located.shown} cannot be listed: {error.strerror}.") from error
        entries[entry.name] = Entry(entry.name, kind, facts.st_size, facts.st_mtime)
    for buffer in buffers:
        # New files that the editor has not saved yet.
        path = buffer.path
        if path is None or path.parent != located.path or path.name in entries or _kind(path):
            continue
        if not level.skips(str(path), path.name, folder=False, hidden=hidden, ignored=ignored):
            entries[path.name] = Entry(path.name, "file", len(buffer.text.encode("utf-8", "replace")), 0)
    return list(entries.values())


def _below(start: Located, path: str) -> bool:
    root = str(start.path).rstrip("/")
    return path == root or path.startswith(f"{root}/")


def _kind(path: Path) -> str | None:
    if os.path.isdir(path):  # noqa: PTH112 - never raises
        return "folder"
    return "file" if os.path.exists(path) else None  # noqa: PTH110 - never raises


def _stamp(located: Located, buffer: Buffer | None) -> Stamp | None:
    version = buffer.version if buffer is not None else None
    try:
        facts = located.path.stat() if located.path.is_absolute() else None
    except OSError:
        facts = None
    if buffer is not None:
        size = len(buffer.text.encode("utf-8", "surrogatepass"))
        return Stamp(facts.st_mtime if facts else 0, size, version)
    return Stamp(facts.st_mtime, facts.st_size) if facts else None
