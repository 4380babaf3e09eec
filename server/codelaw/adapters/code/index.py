"""The index of the workspace that a server has open (X-5).

Before every search it asks for what has changed since the last one, on the disk and in the open documents, and reads
that anew; so no notification can be missed. It sees the workspace through the one it is given, so it knows no
file that is ignored or denied. Reading, ranking and writing are done in a thread of its own; what it holds is
`ranking/code`'s digests, never text.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codelaw.adapters.code import answering
from codelaw.adapters.code.commits import Commits
from codelaw.adapters.code.kept import IndexFile, Row
from codelaw.adapters.code.rows import IndexRows, skipped_by_name, skipped_by_size, skipped_by_text, taken
from codelaw.adapters.code.vectors import CodeVectors
from codelaw.adapters.code.yielding import spare, yielding
from codelaw.adapters.stores.readers import Worker, log_unheard
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Buffer, Located, Survey
from codelaw.ports.code import FileOutline, FoundPlaces, IndexState, PlaceKind, Symbol
from codelaw.ports.workspace import Workspace
from codelaw.ranking.code.digest import digested
from codelaw.ranking.code.frame import Frame

_log = logging.getLogger(__name__)

MAX_FILES = 200_000
MAX_VISITS = 600_000
WALK_SECONDS = 60.0
PATIENCE = 20.0
"""Seconds that a search waits for an index that is being built; then it answers from what is there."""
MOST_NEW = 0.25
"""The share of an unfinished index that may be new before it is put together anew for somebody who does not wait."""
BATCH = 32
"""Files that are read before the next ones are looked at."""
STORED = 512
"""Files that are written together."""


@dataclass(frozen=True, slots=True)
class _TextToDigest:
    """A text that is to be digested."""

    path: str
    mtime: float
    size: int
    text: str
    hash: str


class WorkspaceIndex:
    """Built at the first search; shared by all chats of a session."""

    def __init__(self, folder: Path, commits: Commits | None = None, vectors: CodeVectors | None = None) -> None:
        """`folder` is where the indexes of all workspaces are kept."""
        self._folder = folder
        self.commits = commits or Commits(None)
        self.vectors = vectors or CodeVectors()
        self._worker = Worker("codelaw-index")
        self._kept: IndexFile | None = None
        self._roots: tuple[Path, ...] = ()
        self._rows = IndexRows()
        self._survey: Survey | None = None
        """Nothing is known of the files, or what has changed since is in `_owed`."""
        self._owed: dict[str, float] = {}
        """Files that are to be read, with the times that were seen."""
        self._frame: Frame | None = None
        self._framed = -1
        """The edition of the rows that it was made of."""
        self._framing: asyncio.Future[Frame] | None = None
        """The frame that is being made."""
        self._partial: Frame | None = None
        """What there was when somebody would not wait any longer."""
        self._lock = asyncio.Lock()
        self._running: set[asyncio.Task[None]] = set()
        self._pending = 0
        self._seconds = 0.0
        self._complete = False
        self._note = ""

    async def search(
        self, workspace: Workspace, query: str, *, below: Sequence[str] = (), kind: PlaceKind = "any", limit: int = 10
    ) -> FoundPlaces:
        self.commits.look(workspace.folders)
        frame = await self._current(workspace)
        await self.commits.ready()
        if self._kept is not None and self.vectors.name:
            self.vectors.follow(workspace, self._kept, self._rows.all())
        vector = await self.vectors.question(query)
        found = await self._worker.do(
            lambda: answering.ranked(
                frame,
                query,
                self.commits.history(frame),
                self.vectors.near(vector),
                below=below,
                kind=kind,
                limit=limit,
            )
        )
        texts: dict[str, list[str] | None] = {}
        for path in dict.fromkeys(place.path for place in found):
            texts[path] = await _lines_of(workspace, path)
        known = [(place, lines) for place in found if (lines := texts[place.path]) is not None]
        reported = await self._worker.do(lambda: [answering.shown(place, lines, query) for place, lines in known])
        return FoundPlaces(tuple(reported), self.state())

    async def outline(self, workspace: Workspace, below: Sequence[str], limit: int) -> tuple[list[FileOutline], int]:
        frame = await self._current(workspace)
        chosen = await self._worker.do(lambda: answering.outlined(frame, below))
        found: list[FileOutline] = []
        for path, digest in chosen:
            if len(found) == limit:
                break
            if await _may_be_seen(workspace, path):
                found.append(answering.outline_in(path, digest))
        if not chosen and len(below) == 1:
            place = await asyncio.to_thread(workspace.locate, below[0])
            if await workspace.exists(place) == "folder":
                return [], 0
            text = (await workspace.read(place)).text
            found = [await self._worker.do(lambda: answering.outline_of(below[0], text))]
        return found, max(len(chosen), len(found))

    async def named(
        self, workspace: Workspace, name: str, limit: int, *, begun: bool = False
    ) -> list[tuple[str, Symbol]]:
        frame = await self._current(workspace)
        chosen = await self._worker.do(lambda: answering.named(frame, name, begun=begun))
        found: list[tuple[str, Symbol]] = []
        for path, symbol in chosen:
            if len(found) == limit:
                break
            if await _may_be_seen(workspace, path):
                found.append((path, symbol))
        return found

    def state(self) -> IndexState:
        counted = self._rows.counted
        failed = self._kept.failed if self._kept is not None else ""
        status = "none" if not self._roots else "building" if not self._complete else "memory" if failed else "ready"
        return IndexState(
            status,
            files=counted.files,
            chunks=counted.chunks,
            pending=self._pending,
            seconds=round(self._seconds, 3),
            skipped=counted.skipped,
            commits=self.commits.count,
            embedder=self.vectors.name,
            embedded=self.vectors.count,
            embedding=self.vectors.busy,
            note=" ".join(filter(None, (self._note, failed, self.vectors.failed))),
        )

    async def rebuild(self, workspace: Workspace) -> None:
        async with self._lock:
            self._forget()
            self._roots = tuple(folder.root for folder in workspace.folders)
            kept = self._kept = IndexFile(self._folder, self._roots)
            await self._worker.do(kept.throw_away)
        self._begin(workspace)

    async def close(self) -> None:
        """Stop reading, and give the file back."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await asyncio.gather(self.commits.close(), self.vectors.close())
        self._worker.end()

    async def _current(self, workspace: Workspace) -> Frame:
        """The index as the files are now, or as far as it is after some time."""
        run = self._begin(workspace)
        done, _ = await asyncio.wait({run}, timeout=PATIENCE)
        if done:
            run.result()
        if self._framing is not None:
            return await asyncio.shield(self._framing)
        if self._frame is None or (self._framed != self._rows.edition and not done):
            rows, last = self._rows.all(), self._partial or self._frame
            self._partial = await self._worker.do(lambda: answering.framed_over(rows, last, most=MOST_NEW))
            return self._partial
        return self._frame

    def _begin(self, workspace: Workspace) -> asyncio.Task[None]:
        run = asyncio.create_task(self._refresh(workspace))
        self._running.add(run)
        run.add_done_callback(self._running.discard)
        run.add_done_callback(log_unheard)
        return run

    async def _refresh(self, workspace: Workspace) -> None:
        async with self._lock:
            with yielding():
                await self._follow(workspace)

    async def _follow(self, workspace: Workspace) -> None:
        roots = tuple(folder.root for folder in workspace.folders)
        if roots != self._roots or self._kept is None:
            self._forget()
            self._roots = roots
            kept = self._kept = IndexFile(self._folder, roots)
            self._rows = await self._worker.do(lambda: IndexRows(kept.load()))
        began = time.perf_counter()
        if await self._read_changed(workspace, self._kept):
            self._seconds = time.perf_counter() - began
        if self._framed != self._rows.edition or self._frame is None:
            await self._make_frame(self._frame.whole if self._frame is not None else None)
        self._complete = True

    async def _make_frame(self, whole: Frame | None) -> None:
        """The frame of all rows; where few have changed since the `whole` one was made, a small one over that."""
        self._partial = None  # two of them at once would be too much memory
        edition, changed = self._rows.edition, self._rows.changed
        if whole is not None and answering.are_few(len(changed), whole):
            framing = self._worker.do(lambda: answering.framed_few(changed, whole))
        else:
            rows = self._rows.all()
            framing = self._worker.do(lambda: answering.framed_over(rows, None))
            whole = None
        self._framing = asyncio.ensure_future(framing)
        try:
            self._frame, self._framed = await self._framing, edition
        finally:
            self._framing = None
        if whole is None:
            self._rows.settle()

    def _forget(self) -> None:
        self._rows, self._owed, self._survey = IndexRows(), {}, None
        self._frame, self._framed, self._partial = None, -1, None
        self._complete, self._kept = False, None

    async def _read_changed(self, workspace: Workspace, kept: IndexFile) -> int:
        """Read what has changed since the last look; gives how many files that were."""
        survey = await workspace.survey(self._survey, max_visits=MAX_VISITS, seconds=WALK_SECONDS)
        gone = await self._take(survey)
        read = await self._read_open(workspace, survey.open)
        opened = self._rows.opened
        changed = [path for path in self._owed if path not in opened]
        self._pending = len(changed)
        unstored: dict[str, Row] = {}
        for start in range(0, len(changed), BATCH):
            batch = {path: self._owed[path] for path in changed[start : start + BATCH]}
            rows = await self._rows_of(workspace, batch)
            self._rows.put(rows)
            for path in batch:
                del self._owed[path]
            self._pending -= len(batch)
            spare(len(self._rows.disk))
            unstored |= rows
            if len(unstored) >= STORED:
                storing, unstored = unstored, {}
                await self._worker.do(lambda storing=storing: kept.store(storing))
        if unstored or gone:
            await self._worker.do(lambda: kept.store(unstored, gone))
        return len(changed) + read + len(gone)

    async def _take(self, survey: Survey) -> list[str]:
        """Note what is to be read, and forget what is gone; gives the latter."""
        rows, owed, note = self._rows.disk, self._owed, self._note
        found = await self._worker.do(lambda: taken(survey, rows, owed, MAX_FILES, note))
        # Of a survey only what the next one needs is kept: the first one names every file.
        self._survey, self._owed, self._note = replace(survey, changed={}, gone=frozenset()), found.owed, found.note
        self._rows.drop(found.gone)
        return found.gone

    async def _rows_of(self, workspace: Workspace, batch: Mapping[str, float]) -> dict[str, Row]:
        """What becomes of files, given with the times that were seen before they are read."""
        rows = {
            path: Row(mtime, 0, "", reason, None) for path, mtime in batch.items() if (reason := skipped_by_name(path))
        }
        left = [path for path in batch if path not in rows]
        places = await asyncio.to_thread(lambda: list(_located(workspace, left)))
        stamps = await workspace.stamps([place for _, place in places])
        texts: list[_TextToDigest] = []
        for (path, place), stamp in zip(places, stamps, strict=True):
            size = stamp.size if stamp is not None else 0
            reason = skipped_by_size(size) if stamp is not None else "gone"
            if not reason:
                try:
                    file = await workspace.read(place)
                except ToolFailure as failure:
                    reason = "binary" if failure.code == "BINARY_FILE" else "unreadable"
                else:
                    known = self._rows.disk.get(path)
                    if known is not None and known.hash == file.digest:
                        rows[path] = replace(known, mtime=batch[path], size=size)
                    else:
                        texts.append(_TextToDigest(path, batch[path], size, file.text, file.digest))
                    continue
            rows[path] = Row(batch[path], size, "", reason, None)
        rows |= {path: Row(batch[path], 0, "", "unreadable", None) for path in left if path not in dict(places)}
        return rows | await self._worker.do(lambda: _digested(texts))

    async def _read_open(self, workspace: Workspace, seen: Collection[str]) -> int:
        """Take the open documents as they stand; gives how many have changed, opened or closed."""
        now = {path: buffer for path, buffer in _buffers(workspace) if path in seen}
        opened = self._rows.opened
        closed = opened.keys() - now.keys()
        for path in closed:
            self._rows.close(path)
        changed = {path: buffer for path, buffer in now.items() if opened.get(path) != (buffer.uri, buffer.version)}
        read = {path: buffer for path, buffer in changed.items() if not skipped_by_name(path)}
        made = await self._worker.do(lambda: _digested([_read_of(*one) for one in read.items()])) if read else {}
        for path, row in made.items():
            self._rows.open(path, (changed[path].uri, changed[path].version), row)
        return len(closed) + len(made)


def _located(workspace: Workspace, paths: Iterable[str]) -> Iterator[tuple[str, Located]]:
    """Where the paths lie, those left out that cannot be reached."""
    for path in paths:
        try:
            yield path, workspace.locate(path)
        except ToolFailure as failure:
            _log.debug("not indexed: %s: %s", path, failure.message)


def _buffers(workspace: Workspace) -> Iterator[tuple[str, Buffer]]:
    """The open files of the workspace, by path as shown."""
    folders = workspace.folders
    for buffer in workspace.buffers.all():
        if buffer.path is None:
            continue
        holding = [folder for folder in folders if buffer.path.is_relative_to(folder.root)]
        if holding:
            folder = max(holding, key=lambda one: len(one.root.parts))
            inside = buffer.path.relative_to(folder.root).as_posix()
            yield inside if len(folders) == 1 else f"{folder.name}/{inside}", buffer


def _read_of(path: str, buffer: Buffer) -> _TextToDigest:
    hashed = hashlib.sha256(buffer.text.encode("utf-8", "surrogatepass")).hexdigest()
    return _TextToDigest(path, 0.0, len(buffer.text), buffer.text, hashed)


def _digested(texts: Sequence[_TextToDigest]) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for one in texts:
        reason = skipped_by_text(one.text)
        digest = None if reason else digested(one.path, one.text)
        rows[one.path] = Row(one.mtime, one.size, one.hash, reason, digest)
        time.sleep(0)  # the event loop may want its turn
    return rows


async def _may_be_seen(workspace: Workspace, path: str) -> bool:
    try:
        return await workspace.exists(await asyncio.to_thread(workspace.locate, path)) == "file"
    except ToolFailure:
        return False


async def _lines_of(workspace: Workspace, path: str) -> list[str] | None:
    """The lines of a file as it is now; None where it is gone, or this workspace does not show it."""
    try:
        file = await workspace.read(await asyncio.to_thread(workspace.locate, path))
    except ToolFailure:
        return None
    return file.text.splitlines()
