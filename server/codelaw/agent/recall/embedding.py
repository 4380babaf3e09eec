"""The background queue that embeds what was said, and what is remembered (B-5)."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from codelaw.domain.chats import Notice
from codelaw.domain.errors import EmbeddingFailure, Refusal

if TYPE_CHECKING:
    from codelaw.agent.recall.question_vectors import EmbedderInUse
    from codelaw.domain.memories import Passage
    from codelaw.ports.memories import Embedder, MemoryStore, MessageIndex

BATCH = 16
"""Passages of one step in the background: small, so that a turn waits little for whatever they share."""
BACKFILL_BATCH = 64
"""Passages of one step of a backfill, for which somebody waits."""
PAUSE = 0.02
"""Least seconds between two steps in the background; a step that took longer is followed by a pause as long."""
LONGEST_PAUSE = 2.0
FIRST_WAIT, LONGEST_WAIT = 5.0, 600.0
"""Seconds after a first failure, and most of them; doubled each time."""
CLOSE_SECONDS = 0.8
GIVE_BACK_SECONDS = 0.5
HINT = "Mend the embedding settings, or set embedding.provider to hashing, which needs nothing."

_log = logging.getLogger(__name__)


class Embedding:
    """Indexes and embeds what waits, in one task that ends when nothing does.

    The queue itself lies in the store: what a dead server left is found at the next `kick` without a chat. A failure
    never reaches a turn; it is told once, by `report`, in the chat that was kicked (B-8).
    """

    def __init__(
        self,
        index: MessageIndex,
        memories: MemoryStore | None,
        embedder: EmbedderInUse,
        report: Callable[[str, Notice], None],
        *,
        whose: str | None = None,
        shared: bool = False,
    ) -> None:
        """`whose`: the user whose memories are given to the embedder, beside what is everybody's.

        None: no memory is, as long as memory is switched off. `shared`: others keep their chats in the same store; what
        waits of theirs is embedded by a `backfill` alone, which somebody has asked for.
        """
        self._index = index
        self._memories = memories
        self._embedder = embedder
        self._report = report
        self.whose = whose
        self._shared = shared
        self._unindexed: dict[str | None, None] = {}
        self._unembedded: dict[str | None, None] = {}
        """Chats in the order in which they were asked for; None: everything, memories too."""
        self._step_at_a_time = asyncio.Lock()
        """A claim does not keep this server's own steps apart."""
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._failures = 0
        self._not_before = 0.0
        """When embedding may be tried again, by the loop's clock."""
        self._blocked = False
        """The embedder can never succeed as it is set."""
        self._unreported: Notice | None = None
        self._reported = False
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether something is being done, or waited for."""
        return self._task is not None and not self._task.done()

    def kick(self, chat_id: str | None = None) -> None:
        """Something was added to a chat, or may wait anywhere; returns at once."""
        if self._closed or (chat_id is None and self._shared):
            return
        self._unindexed[chat_id] = None
        self._report_in(chat_id)
        self._news.set()
        if not self.busy:
            self._task = asyncio.create_task(self._run(), name="embedding")

    def renew(self) -> None:
        """The embedder is another one now: what failed before says nothing about it."""
        self._failures, self._not_before = 0, 0.0
        self._blocked = self._reported = False
        self._unreported = None
        self.kick()

    async def backfill(self, chat_id: str | None = None) -> int:
        """Embed everything that waits, of one chat or of all; gives how many passages and memories that were.

        Raises:
            Refusal: `model_unavailable`: the embedder failed; what was done before stays. `store_unavailable`.
        """
        done = 0
        try:
            while await self._index.index(chat_id):
                pass
            while (count := await self._step(self._embedder.now, chat_id, BACKFILL_BATCH)) > 0:
                done += count
        except EmbeddingFailure as failure:
            message = f"{failure.message} {done} were embedded before." if done else failure.message
            raise Refusal("model_unavailable", message, HINT) from failure
        if done and self._blocked:  # what could never succeed did: whoever runs the endpoint has mended it
            self.renew()
        return done

    async def close(self) -> None:
        """Stop within a second, and give back what was claimed."""
        self._closed = True
        task, self._task = self._task, None
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=CLOSE_SECONDS)

    async def _run(self) -> None:
        while self._unindexed or (self._unembedded and not self._blocked):
            self._news.clear()
            began = asyncio.get_running_loop().time()
            waits = not self._unindexed and began < self._not_before
            try:
                if self._unindexed:
                    await self._index_some()
                elif not waits:
                    await self._embed_some()
            except Refusal as refusal:
                _log.warning("the embedding queue waits: %s", refusal.message)
                self._back_off()
                waits = True
            except Exception:  # noqa: BLE001 - it must not be tried again and again; the next session may be mended
                self._blocked = True
                _log.exception("the embedding queue stands still")
                return
            if waits:  # or until there is something new to be indexed
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), self._not_before - began)
            else:
                took = asyncio.get_running_loop().time() - began
                await asyncio.sleep(min(max(PAUSE, took), LONGEST_PAUSE))

    async def _index_some(self) -> None:
        chat_id = next(iter(self._unindexed))
        # Taken out first: a kick in between puts it back.
        del self._unindexed[chat_id]
        try:
            after = self._unindexed if await self._index.index(chat_id) else self._unembedded
        except Refusal:
            self._unindexed.setdefault(chat_id)
            raise
        after.setdefault(chat_id)

    async def _embed_some(self) -> None:
        chat_id, embedder = next(iter(self._unembedded)), self._embedder.now
        try:
            left = await self._step(embedder, chat_id, BATCH)
        except EmbeddingFailure as failure:
            if self._embedder.now is embedder:  # else the settings have changed meanwhile
                self._failed(failure)
            return
        if not left:
            self._unembedded.pop(chat_id, None)
        self._failures = 0

    async def _step(self, embedder: Embedder, chat_id: str | None, most: int) -> int:
        """Embed at most so many; 0: nothing waits, or other servers do it."""
        async with self._step_at_a_time:
            passages = await self._claimed(embedder.name, chat_id, most)
            if passages:
                await self._embed(embedder, passages)
                return len(passages)
            user = self.whose
            if chat_id is not None or self._memories is None or user is None:
                return 0
            memories = await self._memories.unembedded(embedder.name, most, user)
            if memories:
                vectors = await embedder.embed([memory.text for memory in memories])
                ids = [memory.id for memory in memories]
                await self._memories.store_vectors(embedder.name, list(zip(ids, vectors, strict=True)))
            return len(memories)

    async def _claimed(self, name: str, chat_id: str | None, most: int) -> Sequence[Passage]:
        claiming = asyncio.ensure_future(self._index.claim(name, chat_id, most))
        try:
            return await asyncio.shield(claiming)
        except asyncio.CancelledError:
            # The store finishes what it has begun: what it still claims for us must be given back.
            await asyncio.wait([claiming], timeout=GIVE_BACK_SECONDS)
            if claiming.done() and not claiming.cancelled() and claiming.exception() is None:
                await self._give_back(claiming.result())
            raise

    async def _embed(self, embedder: Embedder, passages: Sequence[Passage]) -> None:
        try:
            vectors = await embedder.embed([passage.text for passage in passages])
            ids = [passage.id for passage in passages]
            await self._index.store(embedder.name, list(zip(ids, vectors, strict=True)))
        except BaseException:
            await self._give_back(passages)
            raise

    async def _give_back(self, passages: Sequence[Passage]) -> None:
        try:
            async with asyncio.timeout(GIVE_BACK_SECONDS):
                await self._index.release([passage.id for passage in passages])
        except (Refusal, TimeoutError) as error:
            _log.warning("passages stay claimed until this server ends: %s", error)

    def _failed(self, failure: EmbeddingFailure) -> None:
        if failure.lasting:
            self._blocked = True
        else:
            self._back_off()
        _log.warning("not embedded: %s", failure.message)
        if not self._reported and self._unreported is None:
            message = f"Old messages are found by their words only, they could not be embedded: {failure.message}"
            self._unreported = Notice("warning", "embedding_failed", message)
            self._report_in(next(iter(self._unembedded), None))

    def _back_off(self) -> None:
        wait = min(FIRST_WAIT * 2**self._failures, LONGEST_WAIT) * (0.75 + 0.5 * random.random())  # noqa: S311 - no secret
        self._failures = min(self._failures + 1, 20)
        self._not_before = asyncio.get_running_loop().time() + wait

    def _report_in(self, chat_id: str | None) -> None:
        if self._unreported is not None and chat_id is not None:
            notice, self._unreported, self._reported = self._unreported, None, True
            self._report(chat_id, notice)
