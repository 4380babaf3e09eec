"""From hits to spans: stretches of an old conversation round the messages that answer a question (B-4). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from codelaw.context.past.quoting import ends, speaker, spoken
from codelaw.context.tokens import estimate
from codelaw.domain.messages import Fragment, Message
from codelaw.domain.passages import Hit
from codelaw.templates.render import render
from codelaw.transcript.transcript import Transcript

RESULT_CHARACTERS = 600
"""Of a tool's result in a span: head and tail of it."""
SMALLEST = 40
"""Tokens below which no part of a message is worth its place."""
_CHARACTERS = 2
"""Of a token, careful: where an anchor must be cut to fit."""


@dataclass(frozen=True, slots=True)
class Span:
    """Messages from place `first` to place `last` of a record, both in it."""

    first: int
    last: int
    anchors: tuple[int, ...]
    """The places of its hits, rising; at least one."""
    score: float
    """The best of theirs."""

    @property
    def rank(self) -> tuple[float, ...]:
        """Smaller is better: more anchors, then the better score, then the newer one (B-4)."""
        return (-len(self.anchors), -self.score, -self.last)


@dataclass(frozen=True, slots=True)
class SpanReport:
    """What came of the hits."""

    hits: int = 0
    """Those that speak of old messages which the view does not show in any case."""
    spans: int = 0
    anchors: int = 0
    messages: int = 0
    tokens: int = 0
    cut: int = 0
    """Spans that lost messages, or a part of one, to the budget."""
    left_out: int = 0
    """Spans for which there was no room at all."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A message of a span as it is quoted."""

    place: int
    text: str
    whole: bool = True


def spans_of(anchors: Mapping[int, float], *, radius: int, allowed: AbstractSet[int]) -> list[Span]:
    """The anchors with `radius` messages on either side, those that touch or overlap made one, in order.

    `anchors` gives the score of each place. A span ends before a place that is not `allowed`.
    """
    found: list[Span] = []
    for place in sorted(anchors):
        first = last = place
        while first > place - radius and first - 1 in allowed:
            first -= 1
        while last < place + radius and last + 1 in allowed:
            last += 1
        before = found[-1] if found else None
        if before is not None and first <= before.last + 1:
            score = max(before.score, anchors[place])
            found[-1] = Span(before.first, max(before.last, last), (*before.anchors, place), score)
        else:
            found.append(Span(first, last, (place,), anchors[place]))
    return found


def filled(spans: Sequence[Span], budget: int, texts: Mapping[int, str]) -> tuple[list[tuple[Span, list[Piece]]], int]:
    """The best spans that `budget` tokens hold, in the order of the record, and how many found no room (B-4).

    `texts` has the message of each place in a span. A span that does not fit keeps its anchors, then the messages
    nearest to them; where even one anchor is too long, it is cut.
    """
    kept: list[tuple[Span, list[Piece]]] = []
    left, out = budget, 0
    for span in sorted(spans, key=lambda one: one.rank):
        pieces = _pieces(span, left, texts)
        if not pieces:
            out += 1
            continue
        left -= sum(estimate(piece.text) for piece in pieces)
        kept.append((span, pieces))
    return sorted(kept, key=lambda one: one[0].first), out


def spans_fragment(
    transcript: Transcript,
    shown_ids: AbstractSet[str],
    hits: Sequence[Hit],
    *,
    radius: int,
    budget_tokens: int,
) -> tuple[Fragment | None, SpanReport]:
    """The block beside the question with what was found earlier in this chat, and what it holds.

    Args:
        transcript: the chat's finished rounds; what was archived is searched too, what was withdrawn is not.
        shown_ids: the messages that the view shows in any case: nothing of them is told twice.
        hits: best first; those of unknown, withdrawn or shown messages are left out.
        radius: messages on either side of a hit.
        budget_tokens: for the whole block, as estimated.
    """
    record = transcript.unwithdrawn
    places = {message.id: place for place, message in enumerate(record)}
    anchors: dict[int, float] = {}
    for hit in hits:
        place = places.get(hit.message_id)
        if place is not None and hit.message_id not in shown_ids and _says_something(record[place]):
            anchors.setdefault(place, hit.score)
    if not anchors:
        return None, SpanReport()

    allowed = {place for place, message in enumerate(record) if message.id not in shown_ids}
    spans = spans_of(anchors, radius=radius, allowed=allowed)
    frame = estimate(_rendered([])) + estimate(_heading(0.0)) * len(spans)

    texts = {place: _line(record[place]) for span in spans for place in range(span.first, span.last + 1)}
    kept, out = filled(spans, budget_tokens - frame, texts)
    if not kept:
        return None, SpanReport(hits=len(anchors), left_out=out)
    told = [_stretch(transcript, record, pieces) for _, pieces in kept]
    block = _rendered(told)
    cut = sum(len(pieces) < span.last - span.first + 1 or not all(one.whole for one in pieces) for span, pieces in kept)
    return Fragment("spans", block), SpanReport(
        hits=len(anchors),
        spans=len(kept),
        anchors=sum(len(span.anchors) for span, _ in kept),
        messages=sum(len(pieces) for _, pieces in kept),
        tokens=estimate(block),
        cut=cut,
        left_out=out,
    )


def _pieces(span: Span, room: int, texts: Mapping[int, str]) -> list[Piece]:
    """The messages of a span that fit, in order: all, or the anchors and what is nearest to them, or an anchor's ends.

    Nothing only where there is no room for a part of the first anchor.
    """
    whole = [Piece(place, texts[place]) for place in range(span.first, span.last + 1)]
    if sum(estimate(piece.text) for piece in whole) <= room:
        return whole
    kept: dict[int, Piece] = {}
    near = sorted(range(span.first, span.last + 1), key=lambda place: _distance(span, place))
    for place in near:
        piece = whole[place - span.first]
        tokens = estimate(piece.text)
        if tokens > room and place in span.anchors and room >= SMALLEST:
            piece = Piece(place, ends(piece.text, room * _CHARACTERS), whole=False)
            tokens = estimate(piece.text)
        if tokens <= room:
            kept[place] = piece
            room -= tokens
    if not any(place in kept for place in span.anchors):
        return []
    return [kept[place] for place in sorted(kept)]


def _distance(span: Span, place: int) -> tuple[int, int]:
    """How far a message is from the nearest anchor; of two that are equally far the earlier one leads to it."""
    return min(abs(place - anchor) for anchor in span.anchors), place


def _says_something(message: Message) -> bool:
    return bool(spoken(message, RESULT_CHARACTERS))


def _line(message: Message) -> str:
    """A message with its speaker; a result only by its ends."""
    text = spoken(message, RESULT_CHARACTERS if message.role == "tool" else None)
    return f"{speaker(message)}: {text or '…'}"


def _stretch(transcript: Transcript, record: Sequence[Message], pieces: Sequence[Piece]) -> str:
    """A span as text: when it was said, then its messages, a mark where some are left out."""
    lines = [_heading(transcript.started.get(record[pieces[0].place].turn_id))]
    before = pieces[0].place - 1
    for piece in pieces:
        if piece.place != before + 1:
            lines.append("…")
        lines.append(piece.text)
        before = piece.place
    return "\n".join(lines)


def _heading(started: float | None) -> str:
    """The date and time of a turn, in UTC, as they stand above a span."""
    when = "at an unknown time"
    if started is not None:
        with suppress(OverflowError, OSError, ValueError):
            when = datetime.fromtimestamp(started, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"--- {when}"


def _rendered(stretches: Sequence[str]) -> str:
    return render("spans", spans="\n\n".join(stretches))
