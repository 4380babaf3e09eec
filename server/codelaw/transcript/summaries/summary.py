"""Summaries of archived rounds: how one is asked for, and the document that takes their place (K-4, K-5, K-9)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import NamedTuple

from codelaw.domain.messages import Message
from codelaw.domain.safety.own_tags import escape
from codelaw.templates.render import render
from codelaw.transcript.summaries.facts import (
    LONGEST_MESSAGE,
    ArchiveFacts,
    CommandRuns,
    FailedCall,
    FileChanges,
    facts,
    one_line,
)
from codelaw.transcript.summaries.identifiers import folded, index
from codelaw.transcript.summaries.summary_check import Sections, sections

Count = Callable[[str], int]

_WIDTHS = (160, 90, 60)
"""Characters of a command, from the roomiest writing to the tightest."""
_MUST = 0.7
"""Share of the budget that changed files and failed commands may take before they are written tighter."""
_FAILURES = 0.4
"""Share of what is left then, for the failed calls."""
_BACKTICKS = re.compile(r"`+")


class FactLines(NamedTuple):
    """What stands under each heading, one line each; commands and calls newest first."""

    files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


def fact_lines(
    facts: ArchiveFacts,
    budget: int,
    count: Count,
    *,
    most: int | None = None,
    described: Mapping[str, str] | None = None,
) -> FactLines:
    """The facts in `budget` tokens as `count` counts them.

    Every changed file and every failed command is in it, written tighter when there are many, in up to `most` tokens;
    what even these do not hold is told as a number. The other failed calls and commands share what is left of the
    budget, newest first. `described` has a sentence for some of the files, beyond the budget.
    """
    others = [call for call in reversed(facts.failures) if call.tool != "Bash"]
    passed = [_command(one, _WIDTHS[1]) for one in reversed(facts.commands) if not one.failed]
    files, commands, calls = _must(facts, budget, max(budget, most or 0), count)
    left = max(0, budget - _cost([*files, *commands, *calls], count))
    failures = _failures(others, left if not passed else int(left * _FAILURES), count)
    left -= _cost(failures, count)
    succeeded = _fitting(passed, left, count, ", none of which failed")
    left -= _cost(succeeded, count)
    flat = len(files) == len(facts.files)
    if flat and all(line.startswith(f"{code(one.path)}: ") for line, one in zip(files, facts.files, strict=True)):
        files = _named(files, facts.files, left, count)
        said = {path: f"; {words}" for path, words in (described or {}).items()}
        files = [f"{line}{said.get(one.path, '')}" for line, one in zip(files, facts.files, strict=True)]
    return FactLines(tuple(files), (*commands, *succeeded), (*calls, *failures))


def code(text: str) -> str:
    """The text as a code span, whatever backticks it holds."""
    fence = "`" * (max(map(len, _BACKTICKS.findall(text)), default=0) + 1)
    return f"`{text}`" if fence == "`" else f"{fence} {text} {fence}"


def _must(facts: ArchiveFacts, budget: int, most: int, count: Count) -> tuple[list[str], list[str], list[str]]:
    """What has to be said: the changed files, the commands that failed and those that never ran, newest first.

    In the roomiest writing that leaves some of the budget, else in the tightest, in at most `most` tokens.
    """
    flat = [_file(one) for one in facts.files]
    tight = [code(path) for path in folded(one.path for one in facts.files)]
    commands, calls = list[str](), list[str]()
    for files, width in ((flat, _WIDTHS[0]), (flat, _WIDTHS[1]), (tight, _WIDTHS[1]), (tight, _WIDTHS[2])):
        commands = [_command(one, width) for one in reversed(facts.commands) if one.failed]
        calls = [_failure(one, width, width) for one in reversed(facts.failures) if one.tool == "Bash"]
        if _cost([*files, *commands, *calls], count) <= budget * _MUST:
            return files, commands, calls
    files = _bounded(facts.files, max(most // 2, most - _cost([*commands, *calls], count)), count)
    commands = _fitting(commands, most - _cost([*files, *calls], count), count, " that failed")
    calls = _fitting(calls, most - _cost([*files, *commands], count), count, " that never ran")
    return files, commands, calls


def _named(lines: Sequence[str], files: Sequence[FileChanges], budget: int, count: Count) -> list[str]:
    """The lines of the files with what their changes name, the best of each file first, as far as the budget goes."""
    shown: list[list[str]] = [[] for _ in files]
    for rank in range(max((len(one.names) for one in files), default=0)):
        for place, one in reversed(list(enumerate(files))):
            if rank < len(one.names):
                budget -= count(f" {one.names[rank]}") + (0 if shown[place] else count(" (``)"))
                if budget >= 0:
                    shown[place].append(one.names[rank])
    named = (f" ({code(' '.join(names))})" if names else "" for names in shown)
    return list(map(str.__add__, lines, named))


def _bounded(files: Sequence[FileChanges], budget: int, count: Count) -> list[str]:
    """The newest files, folded, as many as the budget holds, and the number of the others."""

    def written(size: int) -> list[str]:
        lines = [code(path) for path in folded(one.path for one in files[len(files) - size :])]
        return [*lines, f"and {len(files) - size} more"] if size < len(files) else lines

    return written(bisect_right(range(1, len(files) + 1), budget, key=lambda size: _cost(written(size), count)))


def _failures(calls: Sequence[FailedCall], budget: int, count: Count) -> list[str]:
    """The calls, their messages shortened where not all fit."""
    lines: list[str] = []
    for width in (LONGEST_MESSAGE, *_WIDTHS[1:]):
        lines = [_failure(call, _WIDTHS[1], width) for call in calls]
        if _cost(lines, count) <= budget:
            break
    return _fitting(lines, budget, count)


def _fitting(lines: Sequence[str], budget: int, count: Count, others: str = "") -> list[str]:
    """The first lines that fit, and the number of the others where even that fits."""
    if not lines or _cost(lines, count) <= budget:
        return list(lines)
    kept: list[str] = []
    left = budget - _cost([f"and {len(lines)} more{others}"], count)
    for line in lines:
        left -= _cost([line], count)
        if left < 0:
            break
        kept.append(line)
    return [*kept, f"and {len(lines) - len(kept)} more{others}"]


def _cost(lines: Sequence[str], count: Count) -> int:
    return count("".join(f"* {line}\n" for line in lines)) if lines else 0


def _file(one: FileChanges) -> str:
    said = [
        "created" if one.created else "",
        f"overwritten{_times(one.overwritten)}" if one.overwritten else "",
        f"edited{_times(one.edits)}" if one.edits else "",
        "changed by a command" if one.by_command else "",
    ]
    what = ", ".join(filter(None, said))
    return f"{code(one.path)}: {what}"


def _command(one: CommandRuns, width: int) -> str:
    runs = ", then ".join(f"{ended}{_times(times)}" for ended, times in one.runs)
    return f"{code(one_line(one.text, width))}: {runs}"


def _failure(call: FailedCall, target_width: int, width: int) -> str:
    target = f" {code(one_line(call.target, target_width))}" if call.target else ""
    said = f": {one_line(call.message, width)}" if call.message else ""
    return f"{call.tool}{target}: {call.code}{_times(call.times)}{said}"


def _times(number: int) -> str:
    return f" ×{number}" if number > 1 else ""


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


def archive_text(
    text: str | None,
    messages: Sequence[Message],
    started: Mapping[str, float],
    size: Sizes,
    *,
    kept: Sequence[Message] = (),
    count: Count,
) -> str:
    """The content of the summary that stands for `messages`; `text` is the model's, checked, or None.

    `started` tells when each turn began, in seconds since the epoch; `kept` is what stays in the view. Never raises.
    """
    found = facts(messages, started)
    described = {} if text is None else _described(sections(text), found)
    # What must be said of the facts may take half of the index's room.
    most = size.facts_tokens + size.index_tokens // 2
    lines = fact_lines(found, size.facts_tokens, count, most=most, described=described)
    spent = count("\n".join(chain(*lines)))
    room = min(size.index_tokens, size.facts_tokens + size.index_tokens - spent)
    # What a skill says is no work of this chat, and stands in the view anyway.
    spoken = [message for message in messages if message.metadata.tool_name != "load_skill"]
    names = index(spoken, room, count, known=assemble(text, found, "", lines), kept=kept)
    return assemble(text, found, names, lines)


def assemble(text: str | None, found: ArchiveFacts, identifiers: str, lines: FactLines) -> str:
    """The document: the model's text in the template, times, changed files, commands, failed calls and index by code.

    `lines` are the facts as they are to be written. Without a text (a cut without a summary)
    only what was computed, under a heading that says so.
    """
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
