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
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from codelaw.adapters.code import answering
from codelaw.adapters.code.commits import Commits
from codelaw.adapters.code.kept import (
    LARGEST,
    IndexFile,
    IndexRows,
    Row,
    skipped_by_name,
    skipped_by_text,
    spare,
    taken,
)
from codelaw.adapters.code.vectors import CodeVectors
from codelaw.adapters.stores.readers import Worker, log_unheard
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Buffer, Located, Survey
from codelaw.ports.code import FileOutline, FoundPlaces, IndexState, PlaceKind, Symbol
from codelaw.ports.workspace import Workspace
from codelaw.ranking.code.digest import digested
from codelaw.ranking.code.frame import Frame

T = TypeVar("T")

_log = logging.getLogger(__name__)

MAX_FILES = 200_000
MAX_VISITS = 600_000
WALK_SECONDS = 60.0
PATIENCE = 20.0
"""Seconds that a search waits for an index that is being built; then it answers from what is there."""
SWITCH_SECONDS = 0.0005
"""How soon a thread that computes lets the event loop go on. Python's own time is ten times that, and a turn that
begins beside an index waits for it many times."""
BATCH = 32
"""Files that are read before the next ones are looked at."""
STORED = 512
"""Files that are written together."""


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
        found = [answering.outline_in(path, digest) for path, digest in await _seen(workspace, chosen, limit)]
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
        return await _seen(workspace, chosen, limit)

    def state(self) -> IndexState:
        rows = self._rows
        failed = self._kept.failed if self._kept is not None else ""
        status = "none" if not self._roots else "building" if not self._complete else "memory" if failed else "ready"
        return IndexState(
            status,
            files=rows.files,
            chunks=rows.chunks,
            pending=self._pending,
            seconds=round(self._seconds, 3),
            skipped=tuple(sorted((+rows.skipped).items())),
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
            self._frame = await self._framed_over(
                self._frame
            )  # of what there is, as somebody would not wait any longer
        return self._frame

    async def _framed_over(self, last: Frame | None) -> Frame:
        changed, rows = self._rows.changed, self._rows.all()
        whole = last.whole if last is not None else None
        return await self._worker.do(lambda: answering.framed_over(changed, rows, whole))

    def _begin(self, workspace: Workspace) -> asyncio.Task[None]:
        run = asyncio.create_task(self._refresh(workspace))
        self._running.add(run)
        run.add_done_callback(self._running.discard)
        run.add_done_callback(log_unheard)
        return run

    async def _refresh(self, workspace: Workspace) -> None:
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_SECONDS))
        async with self._lock:
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
            edition = self._rows.edition
            self._framing = asyncio.ensure_future(self._framed_over(self._frame if self._framed >= 0 else None))
            try:
                self._frame, self._framed = await self._framing, edition
            finally:
                self._framing = None
            if self._frame.below is None:
                self._rows.settle()
        self._complete = True

    def _forget(self) -> None:
        self._rows, self._owed, self._survey = IndexRows(), {}, None
        self._frame, self._framed = None, -1
        self._complete, self._kept = False, None

    async def _read_changed(self, workspace: Workspace, kept: IndexFile) -> int:
        """Read what has changed since the last look; gives how many files that were."""
        survey = await workspace.survey(self._survey, max_visits=MAX_VISITS, seconds=WALK_SECONDS)
        gone = await self._take(survey)
        read = await self._read_open(survey.open)
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
        self._owed, gone, self._note = await self._worker.do(lambda: taken(survey, rows, owed, MAX_FILES, note))
        # Of a survey only what the next one needs is kept: the first one names every file.
        self._survey = replace(survey, changed={}, gone=frozenset(), open={})
        self._rows.put(dict.fromkeys(gone))
        return gone

    async def _rows_of(self, workspace: Workspace, batch: Mapping[str, float]) -> dict[str, Row]:
        """What becomes of files, given with the times that were seen before they are read."""
        rows = {
            path: Row(mtime, 0, "", reason, None) for path, mtime in batch.items() if (reason := skipped_by_name(path))
        }
        left = [path for path in batch if path not in rows]
        places = await asyncio.to_thread(lambda: list(_located(workspace, left)))
        stamps = await workspace.stamps([place for _, place in places])
        texts: list[tuple[str, Row, str]] = []
        for (path, place), stamp in zip(places, stamps, strict=True):
            size = stamp.size if stamp is not None else 0
            reason = "gone" if stamp is None else "too large" if size > LARGEST else ""
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
                        texts.append((path, Row(batch[path], size, file.digest, "", None), file.text))
                    continue
            rows[path] = Row(batch[path], size, "", reason, None)
        rows |= {path: Row(batch[path], 0, "", "unreadable", None) for path in left if path not in dict(places)}
        return rows | await self._worker.do(lambda: _digested(texts))

    async def _read_open(self, now: Mapping[str, Buffer]) -> int:
        """Take the open documents as they stand; gives how many have changed, opened or closed."""
        opened = self._rows.opened
        closed = opened.keys() - now.keys()
        for path in closed:
            self._rows.open(path, None)
        changed = {path: buffer for path, buffer in now.items() if opened.get(path) != (buffer.uri, buffer.version)}
        read = {path: buffer for path, buffer in changed.items() if not skipped_by_name(path)}
        made = await self._worker.do(lambda: _digested([_read_of(*one) for one in read.items()])) if read else {}
        for path, row in made.items():
            self._rows.open(path, ((changed[path].uri, changed[path].version), row))
        return len(closed) + len(made)


def _located(workspace: Workspace, paths: Iterable[str]) -> Iterator[tuple[str, Located]]:
    """Where the paths lie, those left out that cannot be reached."""
    for path in paths:
        try:
            yield path, workspace.locate(path)
        except ToolFailure as failure:
            _log.debug("not indexed: %s: %s", path, failure.message)


def _read_of(path: str, buffer: Buffer) -> tuple[str, Row, str]:
    hashed = hashlib.sha256(buffer.text.encode("utf-8", "surrogatepass")).hexdigest()
    return path, Row(0.0, len(buffer.text), hashed, "", None), buffer.text


def _digested(texts: Sequence[tuple[str, Row, str]]) -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for path, row, text in texts:
        reason = skipped_by_text(text)
        rows[path] = replace(row, skipped=reason, digest=None if reason else digested(path, text))
        time.sleep(0)  # the event loop may want its turn
    return rows


async def _seen(workspace: Workspace, chosen: Sequence[tuple[str, T]], limit: int) -> list[tuple[str, T]]:
    """The first of these whose files this workspace shows."""
    found: list[tuple[str, T]] = []
    for path, one in chosen:
        if len(found) == limit:
            break
        with suppress(ToolFailure):
            if await workspace.exists(await asyncio.to_thread(workspace.locate, path)) == "file":
                found.append((path, one))
    return found


async def _lines_of(workspace: Workspace, path: str) -> list[str] | None:
    """The lines of a file as it is now; None where it is gone, or this workspace does not show it."""
    try:
        file = await workspace.read(await asyncio.to_thread(workspace.locate, path))
    except ToolFailure:
        return None
    return file.text.splitlines()
