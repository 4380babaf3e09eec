"""What a chat knows of its finished turns: the transcript, its view, and the usage that still counts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from codelaw.agent.inputs.turn_context import HistoryState
from codelaw.context.builder import after
from codelaw.context.escaping import json_line
from codelaw.context.past.projection import ARCHIVE, project
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.errors import Refusal
from codelaw.domain.results import observation_of
from codelaw.ports.cancelling import to_the_end
from codelaw.transcript.repair.hygiene import hygiene
from codelaw.transcript.transcript import Transcript, own

if TYPE_CHECKING:
    from codelaw.agent.model_calls.caching import Sent
    from codelaw.context.builder import History
    from codelaw.context.past.strategies import Selection
    from codelaw.context.sections import Section
    from codelaw.domain.chats import StoredChat
    from codelaw.domain.checkpoints import Aside, Checkpoint, ThreadSummary
    from codelaw.domain.messages import Message
    from codelaw.domain.models import Ttl, Usage
    from codelaw.ports.store import ChatStore

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Past:
    """The finished rounds of one chat. What changes their view is stored first, then remembered (K-6)."""

    chat_id: str
    store: ChatStore
    transcript: Transcript = field(default_factory=Transcript)
    generation: int = 0
    """As the store has it (K-7)."""
    last_usage: Usage | None = None
    """Of the latest real answer, until a compaction or a restore (W-2)."""
    settled: str = ""
    """The newest finished turn when the view was last cut, restored or rid of a turn; empty when it never was."""
    last_active: float = 0.0
    """When the model was last asked, in seconds since the epoch."""
    ttl: Ttl | None = None
    """As `HistoryState` has it."""
    asked: Sent | None = None
    """The last request of this server, and the reply to it."""
    sent: Section | None = None
    """The finished rounds of the last request, whichever turn made it."""
    _view: tuple[Transcript, Selection, History] | None = None
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def take(self, stored: StoredChat, left_out: set[str]) -> None:
        """Take in what the store holds; the turns `left_out` are not history yet."""
        messages = tuple(message for message in own(stored.messages) if message.turn_id not in left_out)
        repaired, _ = hygiene(messages)  # H-4
        self.transcript = Transcript(
            messages=tuple(repaired),
            checkpoints=stored.checkpoints,
            demotions=frozenset(stored.demotions),
            asides=stored.asides,
            started={turn.id: turn.started_at for turn in stored.turns},
            withdrawn=stored.withdrawn,
            thread=stored.thread_summary,
        ).recalling(self.transcript.reported)
        self.generation = stored.chat.generation
        self.settled = stored.settled
        self.last_usage = None
        for turn in stored.turns:
            if turn.last_usage is not None:
                self.last_usage = turn.last_usage
            if turn.id == stored.settled:
                self.last_usage = None
        self.last_active = max(self.last_active, stored.chat.updated_at)

    async def recall(self) -> None:
        """Bring back what turns showed of their results, where the view still shows it so: one read (C-6).

        Raises:
            Refusal: `store_unavailable`.
        """
        missing = [ref for ref in self.transcript.whole if ref not in self.transcript.reported]
        if not missing:
            return
        found = await self.store.results(self.chat_id, missing)
        reported = await asyncio.to_thread(_contents, found)
        self.transcript = self.transcript.recalling({**self.transcript.reported, **reported})

    def forget(self) -> None:
        """Give the memory back."""
        self.transcript, self._view, self.sent, self.asked = Transcript(), None, None, None

    def state(self, selection: Selection) -> HistoryState:
        """The rounds as they are now, and the view that a selection gives of them."""
        known, transcript = self._view, self.transcript
        if known is None or not self.is_known(selection):
            self._view = known = transcript, selection, after(project(transcript, selection), self.sent)
        return HistoryState(transcript, known[2], self.settled, self.last_usage, self.last_active, ttl=self.ttl)

    def is_known(self, selection: Selection) -> bool:
        """Whether `state` takes no time: the view was made by an earlier step."""
        return self._view is not None and self._view[0] is self.transcript and self._view[1] == selection

    def ended(
        self,
        messages: Sequence[Message],
        turn_id: str,
        started: float,
        usage: Usage | None,
        now: float,
        *,
        reported: Mapping[str, str],
        asides: Sequence[Aside] = (),
    ) -> None:
        """A turn has become a round; `reported` are its whole results by ref, `asides` what stands behind messages."""
        after = self.transcript.ended(messages, turn_id, started, asides)
        self.transcript = after.recalling({**self.transcript.reported, **reported})
        self.last_usage = usage or self.last_usage
        self.last_active = now

    async def reshape(self, checkpoint: Checkpoint | None, demotions: Sequence[Demotion] = ()) -> None:
        """Change the view: stored, then swapped in one moment. A cancel waits for the store and is raised after.

        Raises:
            Refusal: `chat_busy`: another server was faster; `store_unavailable`. The view is as it was.
        """

        async def write() -> None:
            async with self._writing:
                # A checkpoint settles the usage: what was billed before it says nothing of the new view.
                settled = self.transcript.newest_turn if checkpoint is not None else ""
                self.generation = await self.store.reshape(
                    self.chat_id, self.generation, checkpoint, demotions, settled
                )
                self.transcript = self.transcript.reshaped(checkpoint, demotions)
                if checkpoint is not None:
                    self._settle(settled)

        await to_the_end(write())

    def refused(self, items: AbstractSet[str]) -> tuple[Demotion, ...]:
        """What leaves out, from now on, the kept items that begin with one of `items` (P-5)."""
        return tuple(
            Demotion(one.id, "thinking")
            for one in self.transcript.messages
            if items and (kept := one.metadata.kept) is not None and kept.items[0].body in items
        )

    async def shorten(self, demotions: Sequence[Demotion]) -> bool:
        """`reshape` with demotions alone. Whether they are in force: they only save tokens, so a turn does without."""
        if not demotions:
            return False
        try:
            await self.reshape(None, demotions)
        except Refusal as refusal:
            _log.info("nothing was demoted: %s", refusal.message)
            return False
        return True

    async def summarise(self, summary: ThreadSummary, seen: Transcript) -> bool:
        """Keep the rolling summary made of `seen`; False, and nothing is kept, when a turn of it was withdrawn since.

        Raises:
            Refusal: `chat_busy`: another server has changed the history meanwhile; `store_unavailable`.
        """

        async def write() -> bool:
            async with self._writing:
                if self.transcript.withdrawn != seen.withdrawn or summary.covers not in self.transcript.turns:
                    return False
                await self.store.save_thread_summary(self.chat_id, self.generation, summary)
                self.transcript = self.transcript.summarised(summary)
                return True

        return await to_the_end(write())

    async def restore(self, checkpoint_id: str | None) -> None:
        """Undo a checkpoint, the newest without an id, and those after it (K-3).

        Raises:
            Refusal: `nothing_to_undo`, and as `reshape`.
        """

        async def write() -> None:
            async with self._writing:
                before = self.transcript
                after = before.restored(checkpoint_id)
                if after is None:
                    what = "checkpoint of that id" if checkpoint_id else "compaction"
                    raise Refusal("nothing_to_undo", f"There is no {what} to undo in this chat.", "")
                undone = [cut.id for cut in before.checkpoints[len(after.checkpoints) :]]
                settled = before.newest_turn
                self.generation = await self.store.restore(self.chat_id, self.generation, undone, settled)
                # Rounds may have joined meanwhile: only the checkpoints change.
                self.transcript = replace(self.transcript, checkpoints=after.checkpoints)
                self._settle(settled)

        await to_the_end(write())
        await self.recall()

    async def withdraw(self, turn_id: str) -> None:
        """Let the model forget a turn; the record keeps it (E-2).

        Raises:
            Refusal: as `reshape`; `nothing_to_undo` when it was withdrawn before.
        """

        async def write() -> None:
            async with self._writing:
                settled = self.transcript.newest_turn
                self.generation = await self.store.withdraw_turn(self.chat_id, self.generation, turn_id, settled)
                self.transcript = self.transcript.without(turn_id)
                self._settle(settled)

        await to_the_end(write())

    def _settle(self, turn_id: str) -> None:
        """What was billed up to that turn says nothing of the view as it is now (W-2)."""
        self.settled, self.last_usage = turn_id or self.settled, None

    def result(self, path: str) -> dict[str, object] | None:
        """A summary as a tool result, by `archive:<n>` (from 1), or None."""
        number = path.removeprefix(ARCHIVE)
        summaries = self.transcript.summaries
        if number == path or not number.isdecimal() or not 0 < int(number) <= len(summaries):
            return None
        return {"status": "success", "data": {"content": summaries[int(number) - 1].content}}


def _contents(results: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What the model was shown of full results, by ref."""
    return {ref: json_line(observation_of(envelope)) for ref, envelope in results.items()}


def with_summaries(record: Sequence[Message], checkpoints: Sequence[Checkpoint]) -> tuple[Message, ...]:
    """What was said, each summary standing before the first round that its checkpoint kept."""
    summaries: dict[str, list[Message]] = {}
    for cut in checkpoints:
        if cut.summary is not None:
            summaries.setdefault(cut.first_kept, []).append(cut.summary)
    reported: list[Message] = []
    for message in record:
        reported += summaries.pop(message.turn_id, [])
        reported.append(message)
    return tuple(reported)
