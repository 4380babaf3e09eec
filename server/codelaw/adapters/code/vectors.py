"""Vectors of the pieces of files, by an embedder that the user has set up for code (X-5).

They are made in the background after a search, through the view that searched, so that no embedder gets a file that is
denied or ignored; without known keys, a few pieces at a time. A piece that has not changed keeps its vector. A search
takes what is there; it waits for the question's vector for a while, and goes by words alone where that is late.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from codelaw.adapters.code.kept import Embedded, IndexFile, Row
from codelaw.adapters.stores.readers import Worker, log_unheard
from codelaw.agent.recall.question_vectors import Late, QuestionVectors
from codelaw.domain.errors import EmbeddingFailure, ToolFailure
from codelaw.domain.safety.redaction import Redaction
from codelaw.ranking.code.hints import Singles, Vectors, beside, nearest

if TYPE_CHECKING:
    from codelaw.ports.memories import Embedder, Vector
    from codelaw.ports.workspace import Workspace
    from codelaw.ranking.code.digest import Chunk

_log = logging.getLogger(__name__)

CHARACTERS = 800
"""Of a piece, its path and its symbol included."""
AT_ONCE = 32
"""Pieces of one request."""
MOST = 100_000
"""Pieces that get vectors; what lies behind them is found by words."""
ENOUGH = 0.9
"""Share of the files that must have vectors from an earlier server before a search uses them."""
PAUSE, LONGEST_PAUSE = 0.02, 1.0
"""Seconds between two requests: half of what the last one took, within these."""
FIRST_WAIT, LONGEST_WAIT = 5.0, 600.0
"""Seconds after a failure; doubled each time."""


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The texts of a file that are embedded."""

    path: str
    hash: str
    texts: tuple[str, ...]
    digests: tuple[bytes, ...]


class CodeVectors:
    """Those of the workspace that was searched last."""

    def __init__(self, redaction: Redaction | None = None) -> None:
        self._embedder: Embedder | None = None
        self._patience = 0.0
        self._redaction = redaction or Redaction()
        self._questions = QuestionVectors()
        self._worker = Worker("codelaw-vectors")
        self._loaded: tuple[IndexFile | None, str] = None, ""
        """Of which file and embedder the vectors are that are held."""
        self._held: dict[str, Embedded] = {}
        self._beside: tuple[tuple[int, int], Vectors] | None = None
        """With the edition and the size of those that are side by side."""
        self._edition = 0
        self._wanted: tuple[Workspace, IndexFile, Mapping[str, Row]] | None = None
        """The view and the files of the newest search, until somebody works on them."""
        self._running: asyncio.Task[None] | None = None
        self._filled = False
        """Once nearly all files had vectors: a part of them would favour those that have some."""
        self._failures = 0
        self._not_before = 0.0
        self.failed = ""
        """Why some pieces have no vectors; empty where that is a matter of time."""

    def use(self, embedder: Embedder | None, seconds: float) -> None:
        """From now on this one makes them, and a search waits so long for it; None: nobody does.

        What was under way stops: other files may be denied by now.
        """
        self.stop()
        if embedder is not self._embedder:
            self._failures, self._not_before, self.failed = 0, 0.0, ""
        self._embedder, self._patience = embedder, seconds

    @property
    def name(self) -> str:
        """The embedder's; empty where there is none."""
        return self._embedder.name if self._embedder is not None else ""

    @property
    def count(self) -> int:
        return sum(len(one.digests) for one in self._held.values()) if self._embedder is not None else 0

    @property
    def busy(self) -> bool:
        """Whether some are being made."""
        return self._running is not None and not self._running.done()

    def stop(self) -> None:
        """Give the embedder nothing more until the next search."""
        self._wanted = None
        if self._running is not None:
            self._running.cancel()

    def follow(self, workspace: Workspace, file: IndexFile, rows: Mapping[str, Row]) -> None:
        """Begin to make what is missing for these files; `file` is where vectors are kept."""
        if self._embedder is None or asyncio.get_running_loop().time() < self._not_before:
            return
        self._wanted = workspace, file, rows
        if not self.busy:
            self._running = asyncio.create_task(self._run(self._embedder))
            self._running.add_done_callback(log_unheard)

    async def done(self) -> None:
        """Wait until nothing is missing, or nothing more can be made."""
        if self._running is not None:
            await asyncio.wait({self._running})

    async def question(self, query: str) -> Vector | None:
        """The vector of a question; None where there is none in time."""
        if self._embedder is None or not self._filled or not query.strip():
            return None
        try:
            return await self._questions.vector(self._embedder, self._redaction.text(query), self._patience)
        except (Late, EmbeddingFailure) as why:
            _log.info("code is searched by words alone: %s", why)
            return None

    def near(self, vector: Vector | None) -> Mapping[str, Singles]:
        """What the pieces are worth that lie near a question, by path. May take a while: not on the event loop."""
        if vector is None:
            return {}

        # An endpoint may give vectors of another size from one day to the next.
        edition, size = self._edition, len(vector) // 4
        if self._beside is None or self._beside[0] != (edition, size):
            held = self._held.copy()
            rows = {path: one.rows for path, one in held.items() if one.rows.shape[1] == size}
            self._beside = (edition, size), beside(rows)
        return nearest(self._beside[1], vector)

    async def close(self) -> None:
        self._questions.close()
        self.stop()
        await self.done()
        self._worker.end()

    async def _run(self, embedder: Embedder) -> None:
        try:
            while self._wanted is not None:
                (workspace, file, rows), self._wanted = self._wanted, None
                await self._load(file, embedder.name, rows)
                await self._fill(embedder, workspace, rows)
        except EmbeddingFailure as failure:
            self.failed = f"Some of the code is searched by its words alone: {failure.message}"
            wait = min(FIRST_WAIT * 2**self._failures, LONGEST_WAIT)
            self._failures += 1
            self._not_before = float("inf") if failure.lasting else asyncio.get_running_loop().time() + wait
            _log.warning("%s", self.failed)

    async def _load(self, file: IndexFile, name: str, rows: Mapping[str, Row]) -> None:
        if self._loaded != (file, name):
            self._held = held = await self._worker.do(lambda: file.vectors(name))
            self._loaded = file, name
            digested = [path for path, row in rows.items() if row.digest is not None]
            self._filled = bool(held) and sum(path in held for path in digested) >= ENOUGH * len(digested)
        gone = [path for path in self._held if path not in rows]
        for path in gone:
            del self._held[path]
        if gone:
            await self._worker.do(lambda: file.store_vectors(name, {}, gone))
        self._edition += 1

    async def _fill(self, embedder: Embedder, workspace: Workspace, rows: Mapping[str, Row]) -> None:
        """Embed what is missing, the pieces of several small files together, until there is a newer view."""
        waiting: list[_Pieces] = []
        room = MOST
        for path, row in rows.items():
            if row.digest is None:
                continue
            room -= len(row.digest.chunks)
            held = self._held.get(path)
            if room < 0 or (held is not None and held.hash == row.hash):
                continue
            pieces = await self._pieces(workspace, path, row)
            if pieces is None:
                continue
            waiting.append(pieces)
            if sum(len(self._new(one)) for one in waiting) >= AT_ONCE:
                await self._embed(embedder, waiting)
                waiting = []
                if self._wanted is not None:
                    return
        if waiting:
            await self._embed(embedder, waiting)
        self._filled, self._failures, self.failed = True, 0, ""

    async def _pieces(self, workspace: Workspace, path: str, row: Row) -> _Pieces | None:
        """The texts of a file, as the view shows it now; None where it is not what the row was made of."""
        try:
            text = await workspace.read(await asyncio.to_thread(workspace.locate, path))
        except ToolFailure:
            return None
        if row.digest is None or text.digest != row.hash:
            return None
        texts = tuple(self._redaction.text(one, shapes=True) for one in passages(path, text.text, row.digest.chunks))
        digests = tuple(hashlib.sha256(one.encode("utf-8", "surrogatepass")).digest()[:16] for one in texts)
        return _Pieces(path, row.hash, texts, digests)

    def _new(self, pieces: _Pieces) -> list[str]:
        held = self._held.get(pieces.path)
        known = frozenset(held.digests) if held is not None else frozenset[bytes]()
        return [text for text, digest in zip(pieces.texts, pieces.digests, strict=True) if digest not in known]

    async def _embed(self, embedder: Embedder, files: Sequence[_Pieces]) -> None:
        loop = asyncio.get_running_loop()
        missing = [text for one in files for text in self._new(one)]
        made: list[Vector] = []
        for start in range(0, len(missing), AT_ONCE):
            began = loop.time()
            made += await embedder.embed(missing[start : start + AT_ONCE])
            await asyncio.sleep(min(max(PAUSE, (loop.time() - began) / 2), LONGEST_PAUSE))
        held, (kept, name) = self._held, self._loaded
        changed = await self._worker.do(lambda: _joined(files, held, made))
        held.update(changed)
        self._edition += 1
        if kept is not None:
            await self._worker.do(lambda: kept.store_vectors(name, changed))


def passages(path: str, text: str, chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """What an embedder is given of each chunk."""
    lines = text.split("\n")
    return tuple(
        (f"{path} {chunk.symbol}\n" + "\n".join(lines[chunk.start : chunk.end]))[:CHARACTERS] for chunk in chunks
    )


def _joined(files: Sequence[_Pieces], held: Mapping[str, Embedded], made: Sequence[Vector]) -> dict[str, Embedded]:
    """The vectors of files, of those that they had and those that were made, in order."""
    new = iter(made)
    found: dict[str, Embedded] = {}
    for one in files:
        before = held.get(one.path)
        known = dict(zip(before.digests, before.rows, strict=True)) if before is not None else {}
        rows = [
            known[digest] if digest in known else np.frombuffer(next(new), "<f4").astype(np.float16)
            for digest in one.digests
        ]
        found[one.path] = Embedded(one.hash, one.digests, np.stack(rows) if rows else np.zeros((0, 1), np.float16))
    return found
