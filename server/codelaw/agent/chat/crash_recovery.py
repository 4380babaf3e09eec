"""A turn whose server died is closed: marked interrupted, nothing run again (D-1, R-6)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codelaw.agent.recording.turn_record import closing
from codelaw.agent.turn.pending import left_waiting
from codelaw.context.escaping import neutralise
from codelaw.context.mentions import without_reminder
from codelaw.domain.chats import StoredTurn, TurnError, TurnResult, TurnStop
from codelaw.domain.checkpoints import CompactionReport
from codelaw.domain.errors import Refusal
from codelaw.domain.events import (
    CallStatus,
    ChatEvent,
    CompactionEvent,
    Event,
    SteerEvent,
    ToolCallEvent,
    TurnEnded,
    TurnStarted,
)
from codelaw.domain.messages import Message
from codelaw.domain.models import Usage
from codelaw.transcript.repair.repairs import CRASHED
from codelaw.transcript.transcript import own

if TYPE_CHECKING:
    from codelaw.domain.reports import ChatRecord
    from codelaw.ports.store import ChatStore

_UNDER_WAY: set[CallStatus] = {"pending", "awaiting_approval", "running"}
_WHY = "codelaw stopped before the turn ended"
_WHY_UNREPORTED = "codelaw stopped before it said why the turn failed"


async def closed(store: ChatStore, turn: StoredTurn, messages: Sequence[Message]) -> list[Event]:
    """End a turn whose server died, in the store; gives what is still to be told of it.

    Nothing is when another server was faster, or when the store can only be read. Who ends the turn owns it from then
    on, so that nobody else tells its end meanwhile.
    """
    said = [message for message in messages if message.turn_id == turn.id]
    try:
        await store.end_turn(replace(ended(turn), owner=store.owner), last_words(turn, said))
    except Refusal as refusal:
        if refusal.code not in {"turn_not_found", "store_unavailable"}:
            raise
        return []
    return last_events(turn, said, await store.events(turn.chat_id, 0))


def last_words(turn: StoredTurn, said: Sequence[Message]) -> list[Message]:
    """The messages that close the round; `said` are the turn's own."""
    # As the turn showed its results, as far as it had any.
    as_text = all(message.metadata.as_text for message in said if message.role == "tool")
    return closing(turn.id, said, CRASHED, _WHY, as_text=as_text)


def last_events(turn: StoredTurn, said: Sequence[Message], heard: Sequence[ChatEvent]) -> list[Event]:
    """What the client is still to be told: the end of calls of which it has `heard` none, and the turn's end.

    Before it, what the model was not told any more is returned (R-9).

    What is said is stored before its event is, so that a turn may have begun, a steer may have been told and a call may
    have ended without anybody having heard of it.
    """
    results = {message.metadata.call_id: message for message in said if message.role == "tool"}
    known = {event.event.call_id: event.event for event in heard if isinstance(event.event, ToolCallEvent)}
    reported: list[Event] = _begun(turn, said, heard)
    for caller in said:
        for call in caller.metadata.calls:
            last = known.get(call.id)
            if last is None or last.status in _UNDER_WAY:
                title, status = call.tool if last is None else last.title, _status(results.get(call.id))
                step, parent = caller.metadata.step or 0, caller.metadata.parent
                reported.append(ToolCallEvent(call.id, call.tool, title, status, step, parent=parent))
    return [*reported, *_steers(turn, said, heard, reported), _end(turn, own(said), _WHY)]


def _end(turn: StoredTurn, said: Sequence[Message], why: str, stop: TurnStop = "failed", answer: str = "") -> TurnEnded:
    error = TurnError("internal_error", f"{why}.", "Send the message again to go on.") if stop == "failed" else None
    steps = max((message.metadata.step or 0 for message in said), default=0)
    result = TurnResult(turn.chat_id, turn.id, stop, answer, steps, usage=turn.last_usage or Usage(), error=error)
    return TurnEnded(result)


async def left_unreported(store: ChatStore, turn: StoredTurn) -> list[tuple[str, Event]]:
    """What a dead server has left untold up to its chat's newest turn, by turn: steers that it took, and the end (D-1).

    Nothing where another server is faster, or where the store can only be read.
    """
    if turn.status == "running" or turn.owner == store.owner or await store.is_alive(turn.owner):
        return []
    recent = await store.page(turn.chat_id, 2, None)
    end = _end_unreported(turn, recent)
    unreported: list[tuple[str, Event]] = [*left_waiting(recent.events)]
    if end is not None:
        unreported.append((turn.id, end))
    try:
        return unreported if unreported and await store.take_over(turn) else []
    except Refusal as refusal:
        if refusal.code != "store_unavailable":
            raise
        return []


def _end_unreported(turn: StoredTurn, record: ChatRecord) -> TurnEnded | None:
    """The end of a turn that is stored and that nobody has heard of: its server died before it could tell it (D-1).

    `record` holds the turn's messages and events. None where the end was told.
    """
    reported = any(event.turn_id == turn.id and isinstance(event.event, TurnEnded) for event in record.events)
    if reported:
        return None
    said = [message for message in own(record.messages) if message.turn_id == turn.id]
    answers = [message.metadata.answer for message in said if message.metadata.answer is not None]
    return _end(turn, said, _WHY_UNREPORTED, turn.stop_reason or "failed", answers[-1] if answers else "")


def _begun(turn: StoredTurn, said: Sequence[Message], heard: Sequence[ChatEvent]) -> list[Event]:
    """The beginning of the turn, and the steers that it is made of, where nobody has heard of it."""
    if any(event.turn_id == turn.id and isinstance(event.event, TurnStarted) for event in heard):
        return []
    question = next((message for message in said if message.role == "user" and message.metadata.note is None), None)
    if question is None:
        return []
    typed, made = without_reminder(question.content), ""
    waited = [steer for turn_id, steer in left_waiting(heard) if turn_id != turn.id]
    for number, steer in enumerate(waited, 1):
        made = f"{made}\n\n{neutralise(steer.text)}" if made else neutralise(steer.text)
        if made == typed:
            return [TurnStarted(typed, steered=True, steers=tuple(one.id for one in waited[:number]))]
    return [TurnStarted(typed)]


def _steers(
    turn: StoredTurn, said: Sequence[Message], heard: Sequence[ChatEvent], begun: Sequence[Event]
) -> Iterator[SteerEvent]:
    """What has become of the steers that wait by what was `heard`: what stands in the turn was told."""
    notes = [message for message in said if message.metadata.note == "steer"]
    known = (event.event for event in heard if event.turn_id == turn.id)
    unheard = deque(notes[sum(isinstance(event, SteerEvent) and event.state == "told" for event in known) :])
    made = {steer_id for event in begun if isinstance(event, TurnStarted) for steer_id in event.steers}
    for turn_id, steer in left_waiting(heard):
        if steer.id in made:
            continue
        if unheard and without_reminder(unheard[0].content).endswith(neutralise(steer.text)):
            yield replace(steer, state="told", step=unheard.popleft().metadata.step)
        elif turn_id == turn.id:
            yield steer


def _status(result: Message | None) -> CallStatus:
    if result is None:
        return "interrupted"
    return "failed" if result.content.startswith('{"status": "error"') else "completed"


async def compaction_left_open(store: ChatStore, chat_id: str) -> tuple[str, CompactionEvent] | None:
    """The turn and the end to be told of a compaction whose server died at it, if there is one (K-6)."""
    newest = await store.last_compaction(chat_id)
    if newest is None or not isinstance(newest.event, CompactionEvent):
        return None
    event = newest.event
    if event.phase not in {"started", "summarising"} or await store.is_alive(event.owner):
        return None
    message = "codelaw stopped before the compaction ended; the history is as it was."
    report = CompactionReport(compacted=False, reason="cancelled", message=message)
    return newest.turn_id, CompactionEvent("cancelled", report, event.owner)


def ended(turn: StoredTurn) -> StoredTurn:
    """The turn as it is written down."""
    return replace(turn, status="ended", stop_reason="failed")
