"""Events in order, joined, at most sixty deliveries of deltas a second, and sent whatever the store does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from codelaw.agent.recording.outbox import INTERVAL, Outbox
from codelaw.domain.errors import Refusal
from codelaw.domain.events import (
    RESERVED,
    AnswerDelta,
    ChatEvent,
    Event,
    NoticeEvent,
    Numbers,
    ThoughtDelta,
    ToolOutputEvent,
)
from codelaw.domain.safety.redaction import Redaction


class Book:
    """The part of a store that an outbox uses; it may be told to fail."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, Event]] = []
        self.numbers: list[int] = []
        self.fails = False

    async def append_events(
        self, chat_id: str, turn_id: str, events: Sequence[tuple[float, Event]], after: Numbers | None = None
    ) -> list[int]:
        await asyncio.sleep(0)
        if self.fails:
            raise Refusal("store_unavailable", "full")
        known, last = after or Numbers(), await self.last_number(chat_id)
        begin = known.given if known.stored == last else last + RESERVED
        numbers = [begin + place for place in range(1, len(events) + 1)]
        self.numbers += numbers
        self.rows += [(turn_id, event) for _, event in events]
        return numbers

    async def last_number(self, chat_id: str) -> int:
        return self.numbers[-1] if self.numbers else 0

    async def events(self, chat_id: str, since: int) -> list[ChatEvent]:
        rows = [(seq, row) for seq, row in zip(self.numbers, self.rows, strict=True) if seq > since]
        return [ChatEvent(chat_id, turn_id, seq, 1.0, event) for seq, (turn_id, event) in rows]


def outbox(book: Book, sent: list[ChatEvent]) -> Outbox:
    return Outbox("c", book, sent.append)  # type: ignore[arg-type]


def notice(code: str) -> NoticeEvent:
    return NoticeEvent("info", code, "")


async def test_deltas_that_trickle_are_told_at_most_sixty_times_a_second():
    sent: list[ChatEvent] = []
    box = outbox(Book(), sent)
    loop = asyncio.get_running_loop()
    started = loop.time()
    for _ in range(60):
        box.post("t", AnswerDelta("x", 1))
        await asyncio.sleep(0.002)
    await box.drain()
    assert len(sent) <= (loop.time() - started) / INTERVAL + 2
    assert "".join(event.event.delta for event in sent if isinstance(event.event, AnswerDelta)) == "x" * 60


async def test_what_is_no_delta_does_not_wait_and_takes_the_deltas_along():
    sent: list[ChatEvent] = []
    box = outbox(Book(), sent)
    for number in range(3):
        box.post("t", ThoughtDelta("a", 1))
        box.post("t", ThoughtDelta("b", 1))
        box.post("t", AnswerDelta("c", 1))
        box.post("t", notice(str(number)))
        await box.drain()
    assert [getattr(event.event, "delta", "!") for event in sent] == ["ab", "c", "!"] * 3
    assert [event.seq for event in sent] == list(range(1, 10))


async def test_a_store_that_fails_for_a_while_leaves_no_hole_and_no_number_twice():
    book, sent = Book(), list[ChatEvent]()
    box = outbox(book, sent)
    for turn, fails in (("one", False), ("one", True), ("two", True), ("three", False)):
        book.fails = fails
        box.post(turn, notice(turn))
        await box.drain()
    assert [event.seq for event in sent] == [1, 2, 3, 4]
    assert [turn for turn, _ in book.rows] == ["one", "one", "two", "three"]


async def test_a_client_that_cannot_be_told_stops_nothing():
    book, sent = Book(), list[ChatEvent]()

    def send(event: ChatEvent) -> None:
        if event.seq == 2:
            raise ConnectionError
        sent.append(event)

    box = Outbox("c", book, send)  # type: ignore[arg-type]
    for number in range(3):
        box.post("t", notice(str(number)))
    await box.drain()
    assert [event.seq for event in sent] == [1, 3]
    assert len(book.rows) == 3


async def test_a_key_that_comes_in_deltas_that_are_joined_does_not_leave():
    sent: list[ChatEvent] = []
    key = "k3y-of-the-model-0123456789"
    box = Outbox("c", Book(), sent.append, Redaction({key: "model key"}))  # type: ignore[arg-type]
    for piece in ("it is ", *key, " so"):
        box.post("t", AnswerDelta(piece, 1))
    box.post("t", notice(f"n {key}"))
    await box.drain()
    assert [event.event for event in sent] == [
        AnswerDelta("it is [redacted: model key] so", 1),
        notice("n [redacted: model key]"),
    ]


async def test_what_is_not_kept_has_the_number_of_the_event_before_it():
    book, sent = Book(), list[ChatEvent]()
    box = outbox(book, sent)
    output = ToolOutputEvent("k", "stdout", "x", 1)
    for event in (notice("a"), output, notice("b"), output, output):
        box.post("t", event)
    await box.drain()
    box.post("t", output)
    await box.drain()
    book.fails = True
    box.post("t", output)
    box.post("t", notice("c"))
    await box.drain()
    assert [event.seq for event in sent] == [1, 1, 2, 2, 2, 2, 2, 3]
    assert [type(event) for _, event in book.rows] == [NoticeEvent, NoticeEvent]
    book.fails = False
    box.post("t", notice("d"))
    await box.drain()
    assert len(book.rows) == 4, "what the store owed is there, and no output"


async def test_what_was_sent_without_a_store_is_stored_under_the_same_numbers():
    book, sent = Book(), list[ChatEvent]()
    book.rows, book.numbers = [("old", notice("old"))] * 7, [1, 2, 3, 4, 5, 6, 7]
    box = Outbox("c", book, sent.append, new=False)  # type: ignore[arg-type]
    for fails in (True, True, False):
        book.fails = fails
        box.post("t", notice("new"))
        await box.drain()
    first = sent[0].seq
    assert first > RESERVED + 7
    assert [event.seq for event in sent] == [first, first + 1, first + 2]
    assert book.numbers[7:] == [event.seq for event in sent]
