"""Earlier parts of a conversation, quoted: roles readable, nothing able to pass for an order, a label or a tag (R-5).

Spans are stretches of an old conversation round the messages that answer a question (B-4). Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from codelaw.context.escaping import quoted
from codelaw.context.observations.text import shown
from codelaw.context.tokens import estimate
from codelaw.domain.memories import MessageHit
from codelaw.domain.messages import Fragment, Message
from codelaw.domain.safety.own_tags import escape
from codelaw.templates.render import render
from codelaw.transcript.transcript import Transcript

ARGUMENTS = 200
"""Characters of a call's arguments."""

_THOUGHT = re.compile(r"\A[ \t>*_]*Thought[*_]*:[*_]*[ \t]*")
_ACTION = re.compile(r"^[ \t>*_]*Action[*_]*:.*\Z", re.MULTILINE | re.DOTALL)
_REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>", re.DOTALL)
_RUNS = re.compile(r"\n{3,}")


def speaker(message: Message) -> str:
    """Who speaks, in a word or two."""
    match message.role:
        case "tool":
            return f"result of {message.metadata.tool_name or 'a tool'}"
        case "user" if message.metadata.note in {"reminder", "hint"}:
            return "codelaw"
        case role:
            return role


def spoken(message: Message, characters: int | None = None) -> str:
    """The words of a message without dialect and reminders, head and tail of them when they are too many."""
    match message.role:
        case "assistant":
            text = _assistant(message)
        case "user":
            text = _REMINDER.sub("", message.content)
        case "tool":
            text = shown(message)
        case _:
            text = message.content
    text = _RUNS.sub("\n\n", quoted(escape(text))).strip()
    return text if characters is None else ends(text, characters)


def ends(text: str, characters: int) -> str:
    """Head and tail of a text, with a word on what is missing between them; the text when it is short enough."""
    if len(text) <= characters:
        return text
    mark = f" … {len(text) - characters} characters left out … "
    head = max(1, (characters - len(mark)) * 2 // 3)
    tail = max(0, characters - len(mark) - head)
    return text[:head].rstrip() + mark + (text[-tail:].lstrip() if tail else "")


def _assistant(message: Message) -> str:
    facts = message.metadata
    if facts.answer is not None:
        return facts.answer
    said = message.content if facts.native else _ACTION.sub("", _THOUGHT.sub("", message.content))
    calls = [f"(calls {call.tool} {_arguments(dict(call.arguments))})" for call in facts.calls]
    return "\n".join([*([said.strip()] if said.strip() else []), *calls])


def _arguments(arguments: dict[str, object]) -> str:
    return ends(json.dumps(arguments, ensure_ascii=False, default=str), ARGUMENTS)


RESULT_CHARACTERS = 600
"""Of a tool's result in a span: head and tail of it."""
SMALLEST = 40
"""Tokens below which no part of a message is worth its place."""
_CHARACTERS = 2
"""Of a token, careful: where an anchor must be cut to fit."""


@dataclass(frozen=True, slots=True)
class Stretch:
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


Piece = tuple[int, str]
"""The place of a message in the record, and what is quoted of it."""


@dataclass(frozen=True, slots=True)
class SpanReport:
    """What came of the hits."""

    messages: int = 0
    tokens: int = 0
    left_out: int = 0
    """Spans for which there was no room at all."""


def spans_of(anchors: Mapping[int, float], *, radius: int, allowed: AbstractSet[int]) -> list[Stretch]:
    """The anchors with `radius` messages on either side, those that touch or overlap made one, in order.

    `anchors` gives the score of each place. A span ends before a place that is not `allowed`.
    """
    found: list[Stretch] = []
    for place in sorted(anchors):
        first = last = place
        while first > place - radius and first - 1 in allowed:
            first -= 1
        while last < place + radius and last + 1 in allowed:
            last += 1
        before = found[-1] if found else None
        if before is not None and first <= before.last + 1:
            score = max(before.score, anchors[place])
            found[-1] = Stretch(before.first, max(before.last, last), (*before.anchors, place), score)
        else:
            found.append(Stretch(first, last, (place,), anchors[place]))
    return found


def filled(
    spans: Sequence[Stretch], budget: int, texts: Mapping[int, str]
) -> tuple[list[tuple[Stretch, list[Piece]]], int]:
    """The best spans that `budget` tokens hold, in the order of the record, and how many found no room (B-4).

    `texts` has the message of each place in a span. A span that does not fit keeps its anchors, then the messages
    nearest to them; where even one anchor is too long, it is cut.
    """
    kept: list[tuple[Stretch, list[Piece]]] = []
    for span in sorted(spans, key=lambda one: one.rank):
        if pieces := _pieces(span, budget, texts):
            budget -= sum(estimate(text) for _, text in pieces)
            kept.append((span, pieces))
    return sorted(kept, key=lambda one: one[0].first), len(spans) - len(kept)


def spans_fragment(
    transcript: Transcript,
    shown_ids: AbstractSet[str],
    hits: Sequence[MessageHit],
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
    places = {message.id: place for place, message in enumerate(record) if message.id not in shown_ids}
    anchors: dict[int, float] = {}
    for hit in hits:
        place = places.get(hit.message_id)
        if place is not None and spoken(record[place], RESULT_CHARACTERS):
            anchors.setdefault(place, hit.score)
    spans = spans_of(anchors, radius=radius, allowed=set(places.values()))
    frame = estimate(render("spans", spans="")) + estimate(_heading(0.0)) * len(spans)
    texts = {place: _line(record[place]) for span in spans for place in range(span.first, span.last + 1)}
    kept, out = filled(spans, budget_tokens - frame, texts)
    if not kept:
        return None, SpanReport(left_out=out)
    block = render("spans", spans="\n\n".join(_quoted(transcript, record, pieces) for _, pieces in kept))
    return Fragment("spans", block), SpanReport(sum(len(pieces) for _, pieces in kept), estimate(block), out)


def _pieces(span: Stretch, room: int, texts: Mapping[int, str]) -> list[Piece]:
    """The messages of a span that fit, in order: all, or the anchors and what is nearest to them, or an anchor's ends.

    Nothing only where there is no room for a part of the first anchor.
    """
    whole = [(place, texts[place]) for place in range(span.first, span.last + 1)]
    if sum(estimate(text) for _, text in whole) <= room:
        return whole
    kept: dict[int, str] = {}
    # Of two that are equally far from an anchor the earlier one leads to it.
    for place, text in sorted(whole, key=lambda one: (min(abs(one[0] - anchor) for anchor in span.anchors), one[0])):
        if estimate(text) > room and place in span.anchors and room >= SMALLEST:
            text = ends(text, room * _CHARACTERS)  # noqa: PLW2901 - what is kept of it
        if estimate(text) <= room:
            kept[place] = text
            room -= estimate(text)
    return sorted(kept.items()) if not kept.keys().isdisjoint(span.anchors) else []


def _line(message: Message) -> str:
    """A message with its speaker; a result only by its ends."""
    text = spoken(message, RESULT_CHARACTERS if message.role == "tool" else None)
    return f"{speaker(message)}: {text or '…'}"


def _quoted(transcript: Transcript, record: Sequence[Message], pieces: Sequence[Piece]) -> str:
    """A span as text: when it was said, then its messages, a mark where some are left out."""
    lines = [_heading(transcript.started.get(record[pieces[0][0]].turn_id))]
    before = pieces[0][0] - 1
    for place, text in pieces:
        lines += [text] if place == before + 1 else ["…", text]
        before = place
    return "\n".join(lines)


def _heading(started: float | None) -> str:
    """The date and time of a turn, in UTC, as they stand above a span."""
    when = "at an unknown time"
    if started is not None:
        with suppress(OverflowError, OSError, ValueError):
            when = datetime.fromtimestamp(started, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"--- {when}"
