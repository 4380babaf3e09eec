"""What stands beside a turn's question: profile, memories, and what was said earlier in the chat (L-3, L-6, B-4)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codelaw.agent.inputs.surroundings import select, span_budget
from codelaw.agent.recall.question_vectors import late_message
from codelaw.agent.recall.remembering import SLOW
from codelaw.context.past.spans import spans_fragment
from codelaw.context.sections import message_tokens
from codelaw.domain.chats import Notice
from codelaw.domain.errors import Refusal
from codelaw.domain.messages import Fragment
from codelaw.domain.reports import Dropped

if TYPE_CHECKING:
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.agent.recall.question_vectors import Retrieved, Retriever
    from codelaw.agent.recall.remembering import ChatMemory
    from codelaw.agent.recording.history import Past
    from codelaw.domain.messages import Message

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SpanLimits:
    """The settings of `retrieval`, and the time it has."""

    top_k: int = 5
    radius: int = 2
    min_similarity: float | None = None
    seconds: float = 0.5


@dataclass(frozen=True, slots=True)
class Beside:
    """The fragments in their order, and what to tell the user of those that are missing."""

    fragments: tuple[Fragment, ...] = ()
    about: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Ids of the memories that the fragments tell, by their names."""
    notices: tuple[Notice, ...] = ()
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextRetriever:
    """Gathers for one turn of one chat. What fails or is late is left out, and told once in a chat (B-8)."""

    past: Past
    memory: ChatMemory
    retriever: Retriever
    limits: SpanLimits

    async def gather(self, typed: str, asked: Message, inputs: TurnInputs, *, used: bool = True) -> Beside:
        """What belongs to the question `typed`, which is sent as `asked`; never raises but for a cancel.

        `used` is off for an inspection, after which no model has seen anything.
        """
        async with asyncio.TaskGroup() as both:
            remembering = both.create_task(self.memory.beside(typed, used=used))
            finding = both.create_task(self._found(typed, asked, inputs))
        remembered, found = remembering.result(), finding.result()
        missing = () if used else tuple(Dropped("memories", notice.message) for notice in remembered.notices)
        return Beside(
            (*remembered.fragments, *found.fragments),
            remembered.about,
            (
                *remembered.notices,
                *(one for one in found.notices if not used or not self.memory.reported_before(one.code)),
            ),
            (*missing, *found.dropped),
        )

    async def _found(self, typed: str, asked: Message, inputs: TurnInputs) -> Beside:
        try:
            return await self._spans(typed, asked, inputs)
        except TimeoutError:
            why = "the search took longer than memory.timeoutMs allows"
        except Refusal as refusal:
            why = refusal.message.rstrip(".")
        except Exception:  # noqa: BLE001 - what is found is a gift: a bug takes none of the turn (B-8)
            _log.exception("the search in a chat failed")
            why = "it failed inside; the log says why"
        message = f"The turn goes on with the newest messages only: {why}."
        notice = Notice("warning", "retrieval_unavailable", message)
        return Beside(notices=(notice,), dropped=(Dropped("spans", message),))

    async def _spans(self, typed: str, asked: Message, inputs: TurnInputs) -> Beside:
        if inputs.settings.strategy not in {"span-retrieval", "auto"}:
            return Beside()
        transcript = self.past.transcript
        size = message_tokens(asked)
        selection = await asyncio.to_thread(select, inputs, transcript, asked=size)
        if selection.strategy != "span-retrieval":
            return Beside()
        history = (await asyncio.to_thread(self.past.state, selection)).view
        shown = frozenset(message.id for message in history.rounds.messages) if history.rounds else frozenset[str]()
        away = {message.id for message in transcript.messages if message.turn_id in transcript.withdrawn}
        if len(shown) + len(away) >= len(transcript.messages):
            return Beside()  # nothing is old
        found = await self._hits(typed, shown | away)
        dropped = [Dropped("vectors", f"found by words only: {found.words_only}")] if found.words_only else []
        fragment, reported = await asyncio.to_thread(
            spans_fragment,
            transcript,
            shown,
            found.hits,
            radius=self.limits.radius,
            budget_tokens=span_budget(inputs, asked=size),
        )
        slow = Notice("warning", SLOW, late_message(found.words_only, self.limits.seconds)) if found.late else None
        if fragment is None:
            dropped.append(Dropped("spans", "nothing that was said earlier speaks of the question"))
        if reported.left_out:
            out = f"{reported.left_out} spans for which the share of retrieval has no room"
            dropped.append(Dropped("spans over budget", out))
        notices = (slow,) if slow is not None else ()
        return Beside((fragment,) if fragment is not None else (), {}, notices, tuple(dropped))

    async def _hits(self, typed: str, without: frozenset[str]) -> Retrieved:
        limits = self.limits
        searching = asyncio.ensure_future(
            self.retriever.hits(
                self.past.chat_id, typed, top_k=limits.top_k, min_similarity=limits.min_similarity, without=without
            )
        )
        try:
            async with asyncio.timeout(limits.seconds):
                return await asyncio.shield(searching)
        finally:
            searching.cancel()
            self.memory.attic.leave(searching)
