"""The running turn: an object of its own, durable step by step (R-1a)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from codelaw.agent.dialects.scanning import GrowingText
from codelaw.agent.recording.pictures import rows_of
from codelaw.context.escaping import json_line
from codelaw.context.pictures import without_pictures
from codelaw.context.shortening.compressor import compress
from codelaw.context.shortening.scratchpad import given_way
from codelaw.domain.chats import Notice
from codelaw.domain.checkpoints import Aside, Demotion
from codelaw.domain.errors import Refusal
from codelaw.domain.events import Event, NoticeEvent, of_child
from codelaw.domain.messages import Call, Fragment, Message, Metadata, Note
from codelaw.domain.models import CacheMiss, Prices, Usage
from codelaw.domain.results import FileChange, ToolResult
from codelaw.ports.cancelling import to_the_end
from codelaw.transcript.repair.repairs import final_message, open_calls, result_message

if TYPE_CHECKING:
    from codelaw.agent.dialects.base import ParsedReply
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.agent.recording.outbox import Outbox
    from codelaw.domain.files import Located
    from codelaw.domain.media.images import Picture
    from codelaw.ports.store import ChatStore

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class TurnRecord:
    """What has been said in the running turn, twice: as the history will keep it, and in full for the model.

    Every method that adds something has stored it when it returns.
    """

    chat_id: str
    id: str
    question: Message
    store: ChatStore
    outbox: Outbox
    refs: int = 0
    """Refs of results that the chat has given; the next one is unique in it (C-4)."""
    inputs: TurnInputs | None = None
    """What the turn works with; None until that is settled."""
    record: list[Message] = field(default_factory=list[Message])
    """Steers, assistant messages and compressed results: joins the history when the turn ends."""
    scratchpad: list[Message] = field(default_factory=list[Message])
    """The same messages with full observations (R-2)."""
    beside: tuple[Fragment, ...] = ()
    """What is sent right after the question, and is in no record (L-3)."""
    asides: list[Aside] = field(default_factory=list[Aside])
    """What of that, and of the texts behind results, the view goes on to show when the turn has ended."""
    step: int = 0
    usage: Usage = field(default_factory=Usage)
    last_usage: Usage | None = None
    """Usage of the latest real answer (W-2)."""
    cache_miss: CacheMiss | None = None
    """The first of the turn."""
    changes: list[FileChange] = field(default_factory=list[FileChange])
    notices: list[Notice] = field(default_factory=list[Notice])
    noticed: set[str] = field(default_factory=set[str])
    """Once-per-chat notices already given; a child has none of its own."""
    refused: frozenset[str] = frozenset()
    """Kept items that their maker did not take, as `Binding.refused` names them (P-5)."""
    partial: GrowingText = field(default_factory=GrowingText)
    """The text of the reply that is arriving."""
    partial_answer: GrowingText = field(default_factory=GrowingText)
    parent: str = ""
    """The call that began it, for a child turn (X-4)."""
    agent: str = ""
    """What kind of subagent a child turn is."""
    above: TurnRecord | None = None
    """The turn of that call, to which a child's cost, changes and notices belong."""
    below: Usage = field(default_factory=Usage)
    """Usage of its children."""
    paid: float | None = 0.0
    """US dollars for all its requests, those of its children too; None once one had no known price."""
    reported: dict[str, str] = field(default_factory=dict[str, str])
    """The contents of whole results by ref, where the history has a cut one."""
    touched: dict[str, Located] = field(default_factory=dict[str, "Located"])
    """By their uris, the files that it has changed; a child's are those of the turn above."""
    halts: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event], repr=False)
    """By the ids of their calls, what stops the commands that run (R-8)."""
    _doubtful: list[tuple[Message, Message]] = field(default_factory=list[tuple[Message, Message]], repr=False)
    """As in `record` and `scratchpad`, what the store may have kept although it said that it failed."""

    @property
    def model(self) -> str:
        """Which is asked; empty until that is settled."""
        return "" if self.inputs is None else self.inputs.model_name

    @property
    def prices(self) -> Prices | None:
        """What it costs; None where that is not known."""
        return None if self.inputs is None else self.inputs.prices

    @property
    def as_text(self) -> bool:
        """Whether the model is shown results as text (C-7)."""
        return self.inputs is None or self.inputs.settings.as_text

    @property
    def name(self) -> str:
        """What the ids of its messages and calls are made of, unique in the chat."""
        return self.parent or self.id

    @property
    def spent(self) -> Usage:
        """All that was billed for it, its children too."""
        return self.usage + self.below

    @property
    def cost_usd(self) -> float | None:
        """What that costs in US dollars; None where a price is not known."""
        return None if self.prices is None else self.paid

    def spend(self, usage: Usage) -> None:
        """Take in what was billed for one request, whose size decides its prices; of a child the turn above pays."""
        self.usage += usage
        cost = None if self.prices is None else self.prices.cost(usage)
        for turn in (self, self.above):
            if turn is not None:
                turn.paid = None if cost is None or turn.paid is None else turn.paid + cost
        if self.above is not None:
            self.above.below += usage

    def emit(self, event: Event) -> None:
        """Tell the clients; of a child what is told of children."""
        reported = of_child(event, self.parent) if self.parent else event
        if reported is not None:
            self.outbox.post(self.id, reported)

    def notice(self, notice: Notice) -> None:
        """Tell the user something that stops nothing."""
        self.notices.append(notice)
        if self.above is not None:
            self.above.notices.append(notice)
        self.emit(NoticeEvent(notice.level, notice.code, notice.message, self.step or None))

    async def notice_for_good(self, notice: Notice) -> None:
        """The same, and keep with the chat that it was told; what only a child is told is not kept."""
        if not self.parent:
            await self.store.mark_noticed(self.chat_id, notice.code)
            self.noticed.add(notice.code)
        self.notice(notice)

    async def begin(self) -> None:
        """Store the task of a child turn; the question of any other is stored with the turn."""
        await self.store.append(self.chat_id, [self.question])

    async def note(
        self, note: Note, text: str, fragments: tuple[Fragment, ...] = (), pictures: Sequence[Picture] = ()
    ) -> None:
        """Add a user message inside the round: a steer, whose pictures the chat keeps already, or a reminder."""
        images = tuple(one.image for one in pictures)
        facts = Metadata(step=self.step, note=note, fragments=fragments, images=images, parent=self.parent or None)
        message = Message(f"{note}_{self.name}_{self.step}_{len(self.record)}", self.id, "user", text, facts)
        await self._write([(message, message)])

    async def say(self, reading: ParsedReply, calls: tuple[Call, ...] = (), answer: str | None = None) -> Message:
        """Add what the model said, as written; the answer makes it the turn's last message."""
        message = Message(
            f"say_{self.name}_{self.step}",
            self.id,
            "assistant",
            reading.kept,
            Metadata(
                step=self.step,
                answer=answer,
                calls=calls,
                native=reading.native,
                kept=reading.items,
                parent=self.parent or None,
                searches=reading.searches,
            ),
        )
        try:
            await self._write([(message, message)])
        finally:
            if message in self.record:
                self.partial, self.partial_answer = GrowingText(), GrowingText()
        return message

    async def freeze(self, asides: Sequence[Aside]) -> None:
        """Let the view go on to show these when the turn has ended (L-3).

        They are a gift: what the store does not take goes with the turn, as those of a child do.
        """
        if self.parent:
            self.asides += asides
        if self.parent or not asides:
            return
        try:
            await self._write((), asides=asides)
        except Refusal as refusal:
            _log.warning("what the view of turn %s shows beside its messages is not kept: %s", self.id, refusal.message)

    async def observe(self, caller: Message, call: Call, result: ToolResult, behind: tuple[Fragment, ...] = ()) -> None:
        """Add a call's result: full for the model, compressed for the history, whole in the store (R-1).

        `behind` are texts that the view shows right behind it, and no record holds.
        """
        turn = self.above or self
        turn.refs += 1
        ref = f"r{turn.refs}"
        envelope = result.envelope()
        mtime = _mtime(result.data)
        content = json_line(result.observation())
        full = result_message(caller, call, content, ref=ref, mtime=mtime, as_text=self.as_text)
        if result.pictures:
            images = tuple(one.image for one in result.pictures)
            full = replace(full, metadata=replace(full.metadata, images=images))
        kept, settings = full, None if self.inputs is None else self.inputs.settings
        economy = settings is None or settings.economy  # the view shows results whole until a batch pays (C-6)
        if settings is None or settings.compress_results:
            kept = replace(full, content=json_line(compress(call.tool, envelope, ref)))
            if economy:
                self.reported[ref] = full.content
                kept = replace(kept, metadata=replace(kept.metadata, whole=True))
            elif result.pictures:
                kept = without_pictures(kept)
        asides = [Aside(full.id, one.name, one.text) for one in behind] if economy else []
        full = replace(full, metadata=replace(full.metadata, asides=behind))
        await self._write([(kept, full)], [(ref, envelope), *rows_of(result.pictures)], asides)
        self.changes.extend(result.changes)
        if self.above is not None:
            self.above.changes.extend(result.changes)

    def gave_way(self) -> tuple[Demotion, ...]:
        """What the turn has shortened while it ran, so that its round goes on as it was shown last (C-5)."""
        asked = self.question.id
        lost = not self.beside and any(aside.message_id == asked for aside in self.asides)
        shortened = given_way(self.scratchpad, self.record, self.reported, self.asides)
        return (Demotion(asked, "aside"), *shortened) if lost else shortened

    @property
    def answered(self) -> bool:
        """Whether the answer has been stored."""
        return bool(self.record) and self.record[-1].metadata.answer is not None

    def open_calls(self) -> list[tuple[Message, Call]]:
        """Calls that have no result yet."""
        return open_calls(self.record)

    def closing(self, why: str, call_text: str) -> list[Message]:
        """The messages that end an unfinished turn: a result for every open call, and the marked last word."""
        return closing(
            self.id,
            self.record,
            call_text,
            why,
            partial=self.partial.text,
            answer=self.partial_answer.text or None,
            as_text=self.as_text,
            parent=self.parent or None,
        )

    async def recall(self) -> bool:
        """Take in what the store has kept although it said that it failed, as when a connection is lost in a commit.

        False when that cannot be known now. Never raises but for a cancel.
        """
        if not self._doubtful:
            return True
        try:
            stored = await self.store.load(self.chat_id)
        except Exception as error:  # noqa: BLE001 - the turn is to be ended whatever the store does
            _log.warning("what is kept of turn %s is not known: %s", self.id, error)
            return False
        doubtful, self._doubtful = self._doubtful, []
        ids = {message.id for message in stored.messages if message.turn_id == self.id}
        self.record += [kept for kept, _ in doubtful if kept.id in ids]
        self.scratchpad += [full for kept, full in doubtful if kept.id in ids]
        self.asides = [aside for aside in stored.asides if aside.message_id in ids or aside in self.asides]
        return True

    async def _write(
        self,
        said: Sequence[tuple[Message, Message]],
        results: Sequence[tuple[str, dict[str, Any]]] = (),
        asides: Sequence[Aside] = (),
    ) -> None:
        """Store, then remember: messages as in `record` and in `scratchpad`.

        A cancel waits for the store, so that both always say the same.
        """
        kept = [message for message, _ in said]
        writing = asyncio.ensure_future(self.store.append(self.chat_id, kept, results, asides))
        try:
            await to_the_end(writing)
        finally:
            if writing.exception() is None:
                self.record += kept
                self.scratchpad += [full for _, full in said]
                self.asides += asides
            else:
                self._doubtful += said


def _mtime(data: Mapping[str, Any]) -> float | None:
    value = data.get("mtime")
    return float(value) if isinstance(value, int | float) else None


def closing(
    turn_id: str,
    said: Sequence[Message],
    call_text: str,
    why: str,
    *,
    partial: str = "",
    answer: str | None = None,
    as_text: bool,
    parent: str | None = None,
) -> list[Message]:
    """The messages that end a round which said so much: a result for every open call, and the marked last word."""
    content = json_line({"status": "error", "data": {}, "error": {"code": "EXECUTION_ERROR", "message": call_text}})
    closed = [result_message(*call, content, as_text=as_text) for call in open_calls(said)]
    return [*closed, final_message(turn_id, partial, why, answer, parent=parent)]
