"""Summaries of archived rounds: how one is asked for, and the document that takes their place (K-4, K-5, K-9)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from codelaw.domain.messages import Message
from codelaw.domain.safety.own_tags import escape
from codelaw.templates.render import render
from codelaw.transcript.summaries.facts import ArchiveFacts, facts
from codelaw.transcript.summaries.facts_text import FactLines, fact_lines
from codelaw.transcript.summaries.headings import Sections, sections
from codelaw.transcript.summaries.identifiers import index

_FIXED = 150
"""Tokens of the headings and sentences around what a summary says."""
_SMALLEST, _LARGEST = 650, 3_650
"""Tokens of the model's text and the facts, together."""
_SLOPE = 0.0155
_MODEL = 0.62
"""The model's share of these."""
_INDEX_SHARE = 100
"""An index takes the hundredth part of the window,"""
_LEAST_INDEX, _MOST_INDEX = 320, 4_000
"""but at least and at most so many tokens."""
_AT_LENGTH = 10_000
"""Tokens of facts that nobody bounded."""
_WORDS = 0.35
"""Words of a text about code that make a token, careful: a model told its limit passes it a little."""

_OPENING = 120
"""Characters by which a message is named."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How long a summary may be, in tokens."""

    model_tokens: int
    """Of the model's text, once cleaned."""
    max_tokens: int
    """To be sent with the request: more, for what is cut off before the text counts."""
    facts_tokens: int
    index_tokens: int

    @property
    def total(self) -> int:
        """The whole document at most."""
        return self.model_tokens + self.facts_tokens + self.index_tokens + _FIXED


def sizes(window: int, index_tokens: int | None = None) -> Sizes:
    """The sizes for a window of that many tokens; `index_tokens` is the setting: 0 for no index, None for the share.

    About 1 500 tokens in all for a window of 32 000, 5 800 for 200 000, 7 800 for 400 000 and above.
    """
    room = round(min(max(1_030 + (window - 32_000) * _SLOPE, _SMALLEST), _LARGEST))
    model = round(room * _MODEL)
    share = min(max(window // _INDEX_SHARE, _LEAST_INDEX), _MOST_INDEX)
    index_room = share if index_tokens is None else max(0, min(index_tokens, share))
    return Sizes(model, model * 3 // 2, room - model, index_room)


@dataclass(frozen=True, slots=True)
class Border:
    """Where the archive ends in a conversation that goes on (K-4)."""

    opening: str
    """How the first user message begins that stays."""
    kept: int
    """User turns that stay."""
    place: int = 1
    """Which of the user messages that begin so it is, from 1."""
    times: int = 1
    """How many there are."""


def border(shown: Sequence[Message], archived: int) -> Border | None:
    """The border behind the first `archived` messages of what a summary call shows; None when nothing stays.

    Messages such as "go on" stand in a chat many times, so that their place among their like is told.
    """
    if archived >= len(shown) or not (opening := _opening(shown[archived].content)):
        return None
    alike = [place for place, one in enumerate(shown) if one.role == "user" and _opening(one.content) == opening]
    place = sum(one <= archived for one in alike)
    return Border(opening, len({one.turn_id for one in shown[archived:]}), max(1, place), max(1, len(alike)))


def instruction(*, limit_tokens: int, dialect: str, border: Border | None = None) -> str:
    """The last user message of a summary call; `limit_tokens` is `Sizes.model_tokens`.

    A `border` is given when the call shows more than is archived.
    """
    words = max(50, int(limit_tokens * _WORDS) // 10 * 10)
    until = escape(border.opening) if border is not None else ""
    return render("summary", words=words, dialect=dialect, until=until, border=border)


def _opening(text: str) -> str:
    return " ".join(text.split())[:_OPENING]


def is_instruction(text: str) -> bool:
    """Whether a user message is the instruction of a summary call, in whatever dialect and size."""
    return text.startswith(render("summary", words=0, dialect="native", until="", border=None).partition("\n\n")[0])


def by_characters(text: str) -> int:
    """Tokens of a text, roughly."""
    return math.ceil(len(text) / 2.92)


def archive_text(
    text: str | None,
    messages: Sequence[Message],
    started: Mapping[str, float],
    size: Sizes,
    *,
    kept: Sequence[Message] = (),
    count: Callable[[str], int] = by_characters,
) -> str:
    """The content of the summary that stands for `messages`; `text` is the model's, checked, or None.

    `started` tells when each turn began, in seconds since the epoch; `kept` is what stays in the view. Never raises.
    """
    found = facts(messages, started)
    described = {} if text is None else _described(sections(text), found)
    # What must be said of the facts may take half of the index's room.
    most = size.facts_tokens + size.index_tokens // 2
    lines = fact_lines(found, size.facts_tokens, count, most=most, described=described)
    spent = count("\n".join((*lines.files, *lines.commands, *lines.failures)))
    room = min(size.index_tokens, size.facts_tokens + size.index_tokens - spent)
    # What a skill says is no work of this chat, and stands in the view anyway.
    spoken = [message for message in messages if message.metadata.tool_name != "load_skill"]
    names = index(spoken, room, count, known=assemble(text, found, "", lines=lines), kept=kept)
    return assemble(text, found, names, lines=lines)


def assemble(text: str | None, found: ArchiveFacts, identifiers: str, *, lines: FactLines | None = None) -> str:
    """The document: the model's text in the template, times, changed files, commands, failed calls and index by code.

    `lines` are the facts as they are to be written, by default at length. Without a text (a cut without a summary)
    only what was computed, under a heading that says so.
    """
    lines = lines or fact_lines(found, _AT_LENGTH, by_characters)
    shown = {
        "known": found.ended is not None,
        "start": _when(found.started),
        "cutoff": _when(found.ended),
        "files": [escape(line) for line in lines.files],
        "commands": [escape(line) for line in lines.commands],
        "failures": [escape(line) for line in lines.failures],
        "index": escape(identifiers),
    }
    if text is None:
        return render("summary_cut", **shown)
    return render("summary_archive", said=sections(escape(text)), **shown)


def _when(seconds: float | None) -> str:
    if seconds is None:
        return "an unknown time"
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return "an unknown time"


def _described(said: Sections, found: ArchiveFacts) -> dict[str, str]:
    """What the model says of files that were really changed."""
    described: dict[str, str] = {}
    for path, sentence in said.files.items():
        for one in found.files:
            if one.path == path or one.path.endswith(f"/{path}") or path.endswith(f"/{one.path}"):
                described.setdefault(one.path, sentence)
    return described
