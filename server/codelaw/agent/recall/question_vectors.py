"""Vectors of what is asked: each question is embedded once, whoever needs it, and what comes late is kept (B-8).

An embedder that is slower than a turn waits is not stopped: its vector is there when the same question is asked again,
or sent after it was inspected. While one is late, no other is begun, so that nothing piles up behind what hangs.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from codelaw.domain.errors import EmbeddingFailure

if TYPE_CHECKING:
    from collections.abc import Collection

    from codelaw.domain.memories import MessageHit
    from codelaw.memory.background import Chance
    from codelaw.ports.memories import Embedder, MessageIndex, Vector


@dataclass(slots=True)
class EmbedderInUse:
    """The one of a session; who works with it looks again before each piece of work."""

    now: Embedder


LEFT_SECONDS = 30.0
"""How long something that was left behind may go on; while it does, no turn waits for memory again."""
LOOKED_AT = 2_000
"""Characters of a question that are embedded: its beginning and its end."""
KEPT = 32
"""Vectors that are kept."""
RESERVE_SECONDS, RESERVE_SHARE = 0.1, 0.2
"""Of the time that a turn waits, what is left for the search when the embedder takes the rest; the smaller counts."""
AGAIN_SECONDS = 60.0
"""After which an embedder that could not be measured is measured again."""

_log = logging.getLogger(__name__)


class Late(Exception):
    """The vector did not come in time; the message says why."""


class QuestionVectors:
    """The vectors of one session's questions, and the measures of its embedders."""

    def __init__(self) -> None:
        self._asked: dict[tuple[str, str], asyncio.Task[Vector]] = {}
        """The newest, by embedder and text; one that has ended holds its vector."""
        self._late: asyncio.Task[Vector] | None = None
        """What was waited for in vain."""
        self._measures: dict[str, tuple[float, asyncio.Task[Chance]]] = {}
        """By embedder, with the time at which it was begun."""

    async def vector(self, embedder: Embedder, question: str, seconds: float) -> Vector:
        """The vector of a question, at most `seconds` waited for.

        Raises:
            Late: it is not there yet.
            EmbeddingFailure: it could not be made.
        """
        key = embedder.name, looked_at(question)
        task = self._asked.get(key)
        if task is None or _failed(task):
            if self._late is not None and not self._late.done():
                raise Late("the embedder still works on an earlier question")
            task = self._asked[key] = asyncio.create_task(_embedded(embedder, key[1]))
            while len(self._asked) > KEPT:
                del self._asked[next(iter(self._asked))]
        try:
            await asyncio.wait([task], timeout=max(0.0, seconds))
        finally:
            if not task.done() and task is not self._late:
                self._late = task
                leave(task, "a question's vector")
        if not task.done():
            raise Late(f"the embedder took longer than {seconds * 1000:.0f} ms")
        if task.cancelled():
            raise Late("the embedder was stopped")
        return task.result()

    async def floor(self, embedder: Embedder, vector: Vector, seconds: float) -> float | None:
        """From which cosine on similarity to a question is evidence; None as long as nobody knows (B-6).

        The embedder is measured when this is asked for the first time, in the background if that takes longer.
        """
        now = asyncio.get_running_loop().time()
        known = self._measures.get(embedder.name)
        if known is None or (_failed(known[1]) and now > known[0] + AGAIN_SECONDS):
            known = self._measures[embedder.name] = now, asyncio.create_task(_measured(embedder))
            known[1].add_done_callback(lambda done: log_failure(done, f"the measure of {embedder.name}"))
        task = known[1]
        await asyncio.wait([task], timeout=max(0.0, seconds))
        return None if not task.done() or _failed(task) else task.result().floor(vector)

    def close(self) -> None:
        """Stop what is going on."""
        for task in (*self._asked.values(), *(task for _, task in self._measures.values())):
            task.cancel()


def _failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


async def _embedded(embedder: Embedder, text: str) -> Vector:
    (vector,) = await embedder.embed([text])
    return vector


async def _measured(embedder: Embedder) -> Chance:
    background = await asyncio.to_thread(load_background)
    vectors = await embedder.embed(background.texts())
    return await asyncio.to_thread(background.measured, vectors)


def leave(work: asyncio.Future[Any], what: str) -> None:
    """Wait for it no more: it is cancelled when it has not ended after a while, and a failure is logged."""
    timer = asyncio.get_running_loop().call_later(LEFT_SECONDS, work.cancel)
    work.add_done_callback(lambda _: timer.cancel())
    work.add_done_callback(lambda done: log_failure(done, what))


def log_failure(work: asyncio.Future[Any], what: str) -> None:
    """Note why something failed that nobody waits for any more."""
    if not work.cancelled() and (error := work.exception()) is not None:
        _log.info("%s failed, and nobody waits for it: %s", what, error)


def patience(seconds: float) -> float:
    """How much of the time that a turn waits the embedder may take."""
    return seconds - min(RESERVE_SECONDS, RESERVE_SHARE * seconds)


def late_message(why: str, seconds: float) -> str:
    """What the user is told, and what to do: `seconds` is the limit."""
    enough = max(1_000, round(3 * seconds * 1000, -2))
    return (
        f"Memories and earlier messages were looked up by their words alone: {why}. Set memory.timeoutMs, now "
        f"{seconds * 1000:.0f}, to {enough:.0f} to wait longer. A late answer is kept for when the same is asked again."
    )


def looked_at(question: str) -> str:
    """What of a question is embedded."""
    half = LOOKED_AT // 2
    return question if len(question) <= LOOKED_AT else f"{question[:half]}\n{question[-half:]}"


def load_background() -> ModuleType:
    """What measures embedders; not on the event loop, since it needs numpy."""
    return import_module("codelaw.memory.background")


_WITH_FLOOR = 500
"""Messages that are looked at when some may fall below the floor."""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The messages found, best first."""

    hits: tuple[MessageHit, ...]
    words_only: str = ""
    """Why they were found by their words and days alone, though there is an embedder; empty when they were not."""
    late: bool = False
    """That was because the embedder was too slow."""


@dataclass(frozen=True, slots=True)
class Retriever:
    """Asks the index of messages, by words and, where it can be done in time, by meaning."""

    index: MessageIndex
    embedder: Embedder | None = None
    """None: words and days decide alone."""
    patience: float = 0.3
    """Seconds for embedding the question: the words should still be searched within the time that the turn waits."""
    questions: QuestionVectors = field(default_factory=QuestionVectors)
    """Shared with whoever else needs the question's vector."""

    async def hits(
        self,
        chat_id: str,
        question: str,
        *,
        top_k: int,
        min_similarity: float | None = None,
        without: Collection[str] = (),
    ) -> Retrieved:
        """The messages of a chat that answer a question best. May be cancelled; who calls it limits the time.

        Args:
            chat_id: A chat; one that was deleted meanwhile has no messages.
            question: Any text.
            top_k: How many at most.
            min_similarity: A cosine below which a message is not a hit. It does not concern messages without a vector,
                which have no similarity.
            without: Ids of messages that are not wanted, because they are shown anyhow.

        Raises:
            Refusal: `store_unavailable`.
        """
        if top_k <= 0:
            return Retrieved(())
        vector, why, late = await self._embedded(question)
        found = await self.index.search(
            chat_id,
            question,
            embedder=self.embedder.name if self.embedder is not None and vector is not None else "",
            vector=vector,
            limit=top_k if min_similarity is None else max(top_k, _WITH_FLOOR),
            without=without,
        )
        floor = -2.0 if min_similarity is None else min_similarity
        near = [hit for hit in found if hit.similarity is None or hit.similarity >= floor]
        return Retrieved(tuple(near[:top_k]), why, late)

    async def _embedded(self, question: str) -> tuple[Vector | None, str, bool]:
        """The question's vector, or why there is none, and whether it is only late."""
        if self.embedder is None or not question.strip():
            return None, "", False
        try:
            return await self.questions.vector(self.embedder, question, self.patience), "", False
        except EmbeddingFailure as failure:
            return None, failure.message, False
        except Late as late:
            return None, str(late), True
