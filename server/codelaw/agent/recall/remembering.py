"""Memory as one chat sees it: saved through the gate, searched, and gathered beside a turn's question (B-6 to B-8)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from codelaw.agent.recall.question_vectors import (
    Late,
    QuestionVectors,
    late_message,
    leave,
    log_failure,
    looked_at,
    patience,
)
from codelaw.context.shortening.economy import PROFILE
from codelaw.context.tokens import estimate
from codelaw.domain.chats import Notice
from codelaw.domain.errors import EmbeddingFailure, Refusal
from codelaw.domain.memories import Candidate, Category, Memory, MemoryScope, Places, Recalled, Saved
from codelaw.domain.messages import Fragment
from codelaw.memory import capture
from codelaw.memory import recall as profile
from codelaw.memory.evidence import evident
from codelaw.memory.recall import MemoryBlock, ranked, shown

if TYPE_CHECKING:
    from codelaw.agent.recall.question_vectors import EmbedderInUse
    from codelaw.ports.memories import MemoryStore, Vector

T = TypeVar("T")

PATIENCE = 5.0
"""Seconds that the embedder has where no turn waits: a save, a search."""
SLOW = "embedder_slow"
"""The notice's code."""
NEIGHBOURS = 30
"""Entries that a new one is compared with."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a turn is shown of memory."""

    fragments: tuple[Fragment, ...] = ()
    """To stand right after the question (L-3): the profile, then what was recalled; neither when there is none."""
    recalled: tuple[Recalled, ...] = ()
    notices: tuple[Notice, ...] = ()
    about: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Ids of the memories that the fragments tell, by their names."""


@dataclass(frozen=True, slots=True)
class RecallLimits:
    """The settings of `memory`."""

    enabled: bool = True
    top_k: int = 5
    min_similarity: float | None = None
    seconds: float = 0.5
    """After which a turn goes on without."""
    category: Category | None = None


@dataclass(slots=True, eq=False)
class EmbeddingTasks:
    """What the chats of a session share: which trouble was told, and the work that nobody waits for."""

    reported: set[tuple[str | None, str]] = field(default_factory=set[tuple[str | None, str]])
    """By chat."""
    questions: QuestionVectors = field(default_factory=QuestionVectors)
    saving: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Two that save the same at once: the second finds what the first saved; what is forgotten is not saved again."""
    _left: set[asyncio.Future[Any]] = field(default_factory=set[asyncio.Future[Any]])
    _later: set[asyncio.Future[Any]] = field(default_factory=set[asyncio.Future[Any]])

    @property
    def hangs(self) -> bool:
        """Something that took too long is still going on."""
        return bool(self._left)

    def leave(self, work: asyncio.Future[Any]) -> None:
        """Wait for it no more; it is cancelled when it has not ended after a while."""
        if work.done():
            log_failure(work, "what memory waited for")
        elif work not in self._left:
            self._left.add(work)
            work.add_done_callback(self._left.discard)
            leave(work, "what memory waited for")

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it in the background; a failure is logged."""
        task = asyncio.create_task(work)
        self._later.add(task)
        task.add_done_callback(self._later.discard)
        task.add_done_callback(lambda done: log_failure(done, "what memory does in the background"))

    async def settle(self) -> None:
        """Wait for what goes on in the background."""
        await asyncio.gather(*self._later, return_exceptions=True)

    async def close(self) -> None:
        """Finish what was begun, as far as that is quick, and cancel the rest."""
        if self._later:
            await asyncio.wait(self._later, timeout=1.0)
        self.questions.close()
        for work in (*self._left, *self._later):
            work.cancel()


@dataclass(frozen=True, slots=True)
class ChatMemory:
    """A `Remembering`: the memory of one chat, or of no chat, as the settings are now."""

    store: MemoryStore
    embedder: EmbedderInUse | None
    """None as long as there is none."""
    places: Places
    limits: RecallLimits
    attic: EmbeddingTasks

    async def save(
        self,
        text: str,
        category: Category | None = None,
        scope: MemoryScope | None = None,
        confidence: float | None = None,
        *,
        unasked: bool = False,
    ) -> Saved:
        """Remember a text, or merge it with an entry that says the same.

        What is saved `unasked`, with nobody's word for it, stays in the project, or without one in the chat, where no
        scope is named; it changes no entry of the scope `user`.

        Raises:
            Refusal: `memory_refused` by the gate, `store_unavailable`.
        """
        self._require_enabled()
        kept = await asyncio.to_thread(capture.checked, text)
        where = scope or capture.scope_for(category or capture.DEFAULT_CATEGORY, self.places, unasked=unasked)
        mine = capture.owner(where, self.places)
        sure = capture.DEFAULT_CONFIDENCE if confidence is None else confidence
        name, vector = await self._vector(kept, PATIENCE)
        async with self.attic.saving:
            near = await self.store.candidates(self.places, kept, embedder=name, vector=vector, limit=NEIGHBOURS)
            there = [one.memory for one in near]
            if unasked and (known := capture.users_own(kept, there)) is not None:
                return Saved(known, merged=True)
            others = capture.others(there, where, mine, unasked=unasked)
            older = await asyncio.to_thread(capture.duplicate, kept, others)  # of very many short words: a second
            if older is not None:
                memory = capture.merged(older, kept, category, where, mine, confidence=sure)
            else:
                kind = category or capture.DEFAULT_CATEGORY
                made = (uuid4().hex[:12], kept, kind, where, mine)
                memory = Memory(*made, confidence=sure, created_at=time.time())
            unchanged = older is not None and older.text == memory.text
            if unchanged:
                vector = None  # it has one, or is waiting for it
            await self.store.save(memory, embedder=name, vector=vector)
        return Saved(memory, older is not None)

    async def search(self, query: str, category: Category | None = None, limit: int = 5) -> Sequence[Recalled]:
        """The entries that answer best, best first.

        Raises:
            Refusal: `store_unavailable`.
        """
        end = asyncio.get_running_loop().time() + PATIENCE
        name, vector = await self._vector(looked_at(query), PATIENCE)
        many = max(50, limit)
        found = await self.store.candidates(
            self.places, query, embedder=name, vector=vector, category=category, limit=many
        )
        fit = await self.fitting(found, query, vector, end - asyncio.get_running_loop().time())
        best = ranked(fit, limit=limit, category=category, min_similarity=self.limits.min_similarity)
        self._used([one.memory for one in best])
        return best

    async def update(
        self,
        memory_id: str,
        *,
        text: str | None = None,
        category: Category | None = None,
        scope: MemoryScope | None = None,
        confidence: float | None = None,
    ) -> Memory:
        """Change what is given.

        Raises:
            Refusal: `memory_not_found`; `memory_refused` by the gate; `store_unavailable`.
        """
        before = await self._mine(memory_id)
        kept = None if text is None else await asyncio.to_thread(capture.checked, text)
        name, vector = ("", None) if kept in (None, before.text) else await self._vector(kept or "", PATIENCE)
        async with self.attic.saving:
            before = await self._mine(memory_id)  # meanwhile it may have been merged, or forgotten
            moved = scope is not None and scope != before.scope
            after = replace(
                before,
                text=before.text if kept is None else kept,
                category=category or before.category,
                scope=scope or before.scope,
                belongs_to=capture.owner(scope, self.places) if scope is not None and moved else before.belongs_to,
                confidence=before.confidence if confidence is None else confidence,
            )
            await self.store.save(after, embedder=name, vector=vector)
        return after

    async def forget(self, memory_id: str) -> None:
        """Forget it for good.

        Raises:
            Refusal: `memory_not_found`, `store_unavailable`.
        """
        async with self.attic.saving:  # who is about to merge something with it would write it anew
            await self._mine(memory_id)
            await self.store.forget(memory_id)

    async def beside(self, question: str, *, used: bool = True) -> Remembered:
        """What a turn that asks `question` is shown of memory; never raises but for a cancel.

        It takes no longer than the limit: what fails or is late is left out, and told once in a chat (B-8).
        `used` is off for an inspection, after which no model has seen anything, and which is told everything.
        """
        if not self.limits.enabled:
            return Remembered()
        gathering = _Gathering(self, asyncio.get_running_loop().time() + self.limits.seconds, once=used)
        if self.attic.hangs:
            gathering.trouble("slow", "what took too long is still going on")
            return Remembered(notices=tuple(gathering.notices))
        known, recalled = await gathering.gather(question)
        block = shown(recalled)
        if used:
            self._used([*known.memories, *block.memories])
        parts = {name: part for name, part in ((PROFILE, known), ("memories", block)) if part.text}
        fragments = tuple(Fragment(name, part.text) for name, part in parts.items())
        about = {name: [memory.id for memory in part.memories] for name, part in parts.items()}
        return Remembered(fragments, recalled[: len(block.memories)], tuple(gathering.notices), about)

    async def fitting(
        self, found: Sequence[Candidate], question: str, vector: Vector | None, seconds: float
    ) -> Sequence[Candidate]:
        """Those that have something in common with the question; `seconds` for measuring an embedder that is new."""
        embedder = None if self.embedder is None else self.embedder.now
        floor = None
        if embedder is not None and vector is not None and found:
            floor = await self.attic.questions.floor(embedder, vector, seconds)
        return await asyncio.to_thread(evident, found, looked_at(question), floor)

    def reported_before(self, cause: str) -> bool:
        """Whether this trouble was told in the chat; from now on it was."""
        key = self.places.session, cause
        before = key in self.attic.reported
        self.attic.reported.add(key)
        return before

    async def _vector(self, text: str, seconds: float) -> tuple[str, Vector | None]:
        """The embedder's name and the text's vector; nothing where words must do: the queue makes one later (B-5)."""
        embedder = None if self.embedder is None else self.embedder.now
        try:
            if embedder is not None:
                return embedder.name, (await asyncio.wait_for(embedder.embed([text]), seconds))[0]
        except (EmbeddingFailure, TimeoutError) as error:
            _log.warning("memory: not embedded: %s", error)
        return "", None

    async def _mine(self, memory_id: str) -> Memory:
        memory = await self.store.get(memory_id)
        if memory.scope == "user" and memory.belongs_to != self.places.user:
            raise Refusal("memory_not_found", "There is no such memory.", "List the memories to see their ids.")
        return memory

    def _used(self, memories: Sequence[Memory]) -> None:
        if memories:
            self.attic.later(self.store.mark_used([memory.id for memory in memories], time.time()))

    def _require_enabled(self) -> None:
        if not self.limits.enabled:
            raise Refusal("memory_refused", "Memory is switched off.", "Set memory.enabled to true to use it.")


class _Gathering:
    """One gathering of memories for a turn, which must be over at `until`, in seconds of the loop's clock."""

    def __init__(self, memory: ChatMemory, until: float, *, once: bool) -> None:
        self._memory = memory
        self._until = until
        self._once = once
        self.notices: list[Notice] = []

    async def gather(self, question: str) -> tuple[MemoryBlock, tuple[Recalled, ...]]:
        """The profile, and what is recalled beside it."""
        memory = self._memory
        store, places, limits = memory.store, memory.places, memory.limits
        anything = await self._attempt(store.list(places, None, None, 1, None))
        if anything is None or not anything[0]:
            return MemoryBlock(""), ()  # and no embedder was bothered
        about = asyncio.ensure_future(self._about())
        try:
            name, vector = await self._embedded(question)
            found = await self._attempt(
                store.candidates(places, question, embedder=name, vector=vector, category=limits.category)
            )
            fit = await self._attempt(memory.fitting(found, question, vector, self._left / 2)) if found else None
            known = await self._attempt(about) or MemoryBlock("")
        finally:
            memory.attic.leave(about)
        recalled = ranked(
            fit or (),
            limit=limits.top_k,
            category=limits.category,
            min_similarity=limits.min_similarity,
            without={entry.id for entry in known.memories},
        )
        return known, recalled

    def trouble(self, cause: str, why: str) -> None:
        """Tell it, unless the same was told before in this chat."""
        _log.warning("memory: %s: %s", cause, why)
        self._report(cause, "memory_unavailable", f"The turn goes on without all of its memories: {why}.")

    def _report(self, cause: str, code: str, message: str) -> None:
        if not self._once or not self._memory.reported_before(cause):
            self.notices.append(Notice("warning", code, message))

    @property
    def _left(self) -> float:
        return self._until - asyncio.get_running_loop().time()

    async def _embedded(self, question: str) -> tuple[str, Vector | None]:
        """The question's vector and whose it is; nothing where words must do."""
        memory = self._memory
        embedder = None if memory.embedder is None else memory.embedder.now
        if embedder is None:
            return "", None
        vector = await self._attempt(memory.attic.questions.vector(embedder, question, patience(self._left)))
        return ("", None) if vector is None else (embedder.name, vector)

    async def _about(self) -> MemoryBlock:
        store, places = self._memory.store, self._memory.places
        user = await store.foremost(places, "user", profile.USER_CATEGORIES, profile.PROFILE_ENTRIES)
        project = await store.foremost(places, "project", profile.PROJECT_CATEGORIES, profile.PROFILE_ENTRIES)
        return await asyncio.to_thread(profile.profile, user, project, estimate)

    async def _attempt(self, work: Awaitable[T]) -> T | None:
        """The result of `work`; None, and a notice, when it fails or is late. It is left behind then."""
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait([task], timeout=max(0.0, self._left))
            if task.done():
                return task.result()
            self.trouble("slow", "the store took longer than memory.timeoutMs allows")
        except Late as late:
            _log.warning("memory: %s", late)
            self._report(SLOW, SLOW, late_message(str(late), self._memory.limits.seconds))
        except (Refusal, EmbeddingFailure) as failure:
            self.trouble(getattr(failure, "code", "embedder"), failure.message.rstrip("."))
        except Exception as bug:  # noqa: BLE001 - a bug in memory takes none of the turn (B-8)
            _log.exception("memory failed")
            self.trouble(type(bug).__name__, "memory failed inside; the log says why")
        finally:
            self._memory.attic.leave(task)
        return None
