"""The workspace: folders on disk with the open buffers in front (T-2, F-1)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from codelaw.adapters.workspace import places
from codelaw.adapters.workspace.expression import read_expression
from codelaw.adapters.workspace.globs import path_matcher
from codelaw.adapters.workspace.ignore import IgnoreTree
from codelaw.adapters.workspace.overlay import text_of
from codelaw.adapters.workspace.replacing import replace_file
from codelaw.adapters.workspace.search import Question, find_rg, search
from codelaw.adapters.workspace.texts import same_but_for_breaks
from codelaw.adapters.workspace.walk import Budget, files_below
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Buffer, Entry, FileText, Folder, Found, FoundFile, Hits, Located, Stamp
from codelaw.ports.editor import Editor
from codelaw.ports.workspace import OpenDocuments


class DiskWorkspace:
    """Implements `Workspace`. `rg` is looked for at each search, so that installing it needs no restart."""

    def __init__(
        self,
        folders: Sequence[Folder],
        documents: OpenDocuments,
        *,
        rg: Callable[[], str | None] = find_rg,
        editor: Editor | None = None,
    ) -> None:
        self._folders = tuple(folders)
        self._documents = documents
        self._rg = rg
        self._editor = editor
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
        return await asyncio.to_thread(text_of, located, self._buffer(located))

    async def write(self, located: Located, text: str, *, over: FileText | None) -> FileText:
        async with self._writing:
            buffer = self._buffer(located)
            written = await asyncio.to_thread(_write, located, text, over, buffer)
            if buffer is not None:
                self._outdated[located.path] = buffer.version
            return written

    async def entries(self, located: Located, *, hidden: bool, ignored: bool) -> list[Entry]:
        return await asyncio.to_thread(_entries, located, self._open(), hidden=hidden, ignored=ignored)

    async def exists(self, located: Located) -> str | None:
        if self._buffer(located) is not None:
            return "file"
        return await asyncio.to_thread(_kind, located.path)

    async def stamps(self, located: Sequence[Located]) -> list[Stamp | None]:
        buffers = [self._buffer(place) for place in located]
        return await asyncio.to_thread(lambda: [_stamp(*pair) for pair in zip(located, buffers, strict=True)])

    async def walk(self, starts: Sequence[Located], pattern: str, *, max_visits: int, seconds: float) -> Found:
        return await asyncio.to_thread(self._walk, starts, pattern, Budget(max_visits, seconds), self._open())

    def _walk(self, starts: Sequence[Located], pattern: str, budget: Budget, buffers: Sequence[Buffer]) -> Found:
        matches = self._matches(pattern)
        found: dict[str, FoundFile] = {}
        for start in starts:
            tree = IgnoreTree(start.folder.root)
            if start.path.is_file() and matches(start, str(start.path)):
                found[str(start.path)] = FoundFile(start.shown, start.path.stat().st_mtime)
            elif start.path.is_dir():
                for entry in files_below(str(start.path), tree, budget):
                    if matches(start, entry.path):
                        mtime = entry.stat(follow_symlinks=False).st_mtime
                        found[entry.path] = FoundFile(self._shown(entry.path), mtime)
            for buffer in buffers:
                path = f"{start.path}/{buffer.uri}" if buffer.path is None else str(buffer.path)
                inside = start.path == start.folder.root if buffer.path is None else _below(start, path)
                if inside and path not in found and matches(start, path) and not tree.hides(str(start.path), path):
                    shown = buffer.uri if buffer.path is None else self._shown(path)
                    found.setdefault(path if buffer.path else buffer.uri, FoundFile(shown, float("inf")))
        files = sorted(found.values(), key=lambda file: (-file.mtime, file.shown))
        return Found(tuple(files), budget.stopped)

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
        question = Question(starts, expression, self._matches(glob), self._shown, glob, limit, seconds)
        program = await asyncio.to_thread(self._rg)
        return await search(question, self._open(), program)

    def _matches(self, glob: str | None) -> Callable[[Located, str], bool]:
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


def _write(located: Located, text: str, over: FileText | None, buffer: Buffer | None) -> FileText:
    if buffer is not None and (over is None or not same_but_for_breaks(buffer.text, over.text)):
        raise ToolFailure(
            "CONFLICT",
            f"{located.shown} is open in the editor with other content than the disk: ask the user to save it.",
        )
    return replace_file(located, text, over)


def _entries(located: Located, buffers: Sequence[Buffer], *, hidden: bool, ignored: bool) -> list[Entry]:
    level = IgnoreTree(located.folder.root).level(str(located.path))
    entries: dict[str, Entry] = {}
    try:
        for entry in os.scandir(located.path):
            kind = "link" if entry.is_symlink() else "folder" if entry.is_dir() else "file"
            if level.skips(entry.path, entry.name, folder=kind == "folder", hidden=hidden, ignored=ignored):
                continue
            facts = entry.stat(follow_symlinks=False)
            entries[entry.name] = Entry(entry.name, kind, facts.st_size, facts.st_mtime)
    except FileNotFoundError:
        raise ToolFailure("NOT_FOUND", f"There is no folder {located.shown}.") from None
    except NotADirectoryError:
        raise ToolFailure("INVALID_PARAM", f"{located.shown} is a file: use Read.") from None
    except OSError as error:
        raise ToolFailure("ACCESS_DENIED", f"{located.shown} cannot be listed: {error.strerror}.") from error
    for buffer in buffers:
        # New files that the editor has not saved yet.
        path = buffer.path
        if path is None or path.parent != located.path or path.name in entries or path.exists():
            continue
        if not level.skips(str(path), path.name, folder=False, hidden=hidden, ignored=ignored):
            entries[path.name] = Entry(path.name, "file", len(buffer.text.encode("utf-8", "replace")), 0)
    return list(entries.values())


def _below(start: Located, path: str) -> bool:
    root = str(start.path).rstrip("/")
    return path == root or path.startswith(f"{root}/")


def _kind(path: Path) -> str | None:
    if path.is_dir():
        return "folder"
    return "file" if path.exists() else None


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
