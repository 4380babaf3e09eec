"""Reading a model's summary: cleaned, or refused with the reason (K-5)."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Sequence

from codelaw.templates.render import render
from codelaw.transcript.summaries.harmless import harmless, plain
from codelaw.transcript.summaries.headings import FILES, REQUIRED, TITLE, computed, fence, heading
from codelaw.transcript.summaries.unfinished import without_empty_plans

SMALL_SOURCE = 2_000
"""Tokens up to which a summary may be longer than what it sums up."""
_MOST_REPEATS = 12
"""Of one line."""
_DENSITY = 0.09
"""A text that packs smaller than this share says one thing over and over."""
_ECHOED = 2
"""Lines of the instruction that make an echo."""
_NOTHING = re.compile(
    r"[\W_]*(?:null|none|nil|undefined|n/?a|nothing|empty|no summary|empty string)?[\W_]*", re.IGNORECASE
)
_FENCED = re.compile(r"\s*```[\w-]*[ \t]*\n(?P<text>.*?)\n?[ \t]*```\s*", re.DOTALL)
_FINISH = re.compile(r"^[ \t>*_`]*(?:Action[*_]*:[*_]*[ \t]*`?)?Finish[ \t]*\[", re.MULTILINE)
_CALL = re.compile(
    r"^[ \t>*_]*Action[*_]*:[*_]*\s*`?(?!Finish\b)[A-Za-z_][\w.-]*\s*\["
    r"|^[ \t]*<(?:\w+:)?(?:function_calls?|invoke|tool_use|tool_calls?)\b",
    re.MULTILINE,
)
_JSON = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[\"{\]])")
_PLACEHOLDER = re.compile(r"\[(?![✓✔xX]\]|computed)[^\]\n`]{2,80}\](?!\()")
_MARKS = re.compile(r"^[\s>]*(?:[-*+•]\s+)?(?:\[[✓✔xX]\]\s*)?(?:[*_]{1,3}[^*_\n]{2,40}[*_]{1,3}\s*[:：]?)?")
_NAMES = {
    "objectives": "Objectives & Status",
    "context": "Technical Context",
    "milestones": "Completed Milestones",
    "insights": "Key Insights & Decisions",
}


class BadSummary(Exception):
    """A summary that cannot be used; the text says why, for the model and the user."""


def check(
    text: str,
    *,
    stop_reason: str,
    tool_called: bool,
    source_tokens: int,
    limit_tokens: int,
    count: Callable[[str], int],
) -> str:
    """The model's text without wrapping and preamble, unable to forge anything (K-5).

    `source_tokens` is what it sums up; `limit_tokens` what it may have, as `count` counts them.

    Raises:
        BadSummary: it is empty, cut, refused, a call, headless, an echo, a loop, too long, or speaks of the future.
    """
    lines = _headed(_said(text, stop_reason=stop_reason, tool_called=tool_called))
    lines, ahead = without_empty_plans(_filled(lines))
    if ahead:
        raise BadSummary(f"it tells what is still to come ({ahead!r}), and must tell the past only")
    summary = harmless("\n".join(lines).strip())
    size = count(summary)
    if size > limit_tokens:
        raise BadSummary(f"it is too long: about {size} tokens, and {limit_tokens} are allowed")
    if source_tokens > SMALL_SOURCE and size >= source_tokens:
        raise BadSummary("it is no shorter than what it sums up")
    return summary


def check_text(
    text: str, *, stop_reason: str, tool_called: bool, limit_tokens: int, count: Callable[[str], int]
) -> str:
    """The model's text without wrapping, for a summary that has no template (B-3).

    Raises:
        BadSummary: it is empty, cut, refused, a call, a loop, or too long.
    """
    summary = harmless(_said(text, stop_reason=stop_reason, tool_called=tool_called)).strip()
    size = count(summary)
    if size > limit_tokens:
        raise BadSummary(f"it is too long: about {size} tokens, and {limit_tokens} are allowed")
    return summary


def _said(text: str, *, stop_reason: str, tool_called: bool) -> str:
    """What a whole reply says, without fence and Finish."""
    if stop_reason == "refusal":
        raise BadSummary("the model refused to write it")
    if tool_called or stop_reason == "tool_use":
        raise BadSummary("a tool was called instead of writing it")
    if stop_reason == "max_tokens":
        raise BadSummary("it was cut off by the output limit")
    said = plain(text).strip()
    _refuse_nothing(said)
    _refuse_loops(said)
    return _unwrapped(said)


def _refuse_nothing(said: str) -> None:
    if _NOTHING.fullmatch(said):
        raise BadSummary("it is empty")


def _refuse_loops(said: str) -> None:
    repeats = Counter(line.strip() for line in said.split("\n") if len(line.strip()) > 3)
    often = repeats.most_common(1)[0][1] if repeats else 0
    packed = len(zlib.compress(said.encode("utf-8", "replace"))) if len(said) > 2_000 else len(said)
    if often > _MOST_REPEATS or packed < len(said.encode("utf-8", "replace")) * _DENSITY:
        raise BadSummary("it repeats itself over and over")


def _unwrapped(said: str) -> str:
    """What stands inside a code fence or inside `Finish[…]`; a preamble in front of it goes with it."""
    for _ in range(2):
        if fenced := _FENCED.fullmatch(said):
            said = fenced["text"].strip()
        finish = _FINISH.search(said)
        if finish and not any(heading(line) for line in said[: finish.start()].split("\n")):
            if _CALL.search(said[: finish.start()]):
                raise BadSummary("a tool was called instead of writing it")
            said = said[finish.end() :].strip().removesuffix("```").rstrip(" \n`").removesuffix("]").strip()
    _refuse_nothing(said)
    if _CALL.search(said):
        raise BadSummary("a tool was called instead of writing it")
    if _JSON.match(said):
        raise BadSummary("it is JSON, and must be Markdown")
    return said


def _headed(said: str) -> list[str]:
    """The lines from the first heading on.

    Raises:
        BadSummary: headings are missing, doubled or out of order.
    """
    lines = said.split("\n")
    places = [(place, name) for place, line in enumerate(lines) if (name := heading(line)) is not None]
    if not places:
        raise BadSummary("it is not a summary: none of the headings is in it")
    found = [name for _, name in places if name not in {TITLE, FILES}]
    missing = [_NAMES[name] for name in REQUIRED if name not in found]
    if missing:
        raise BadSummary(f"headings are missing: {', '.join(missing)}")
    if found != list(REQUIRED):
        raise BadSummary("its headings are doubled or out of order")
    first = places[0][0]
    opened = any(fence(line) for line in lines[max(0, first - 2) : first])
    body = lines[first:]
    while opened and body and (not body[-1].strip() or fence(body[-1])):
        body.pop()
    return body


def _filled(lines: Sequence[str]) -> list[str]:
    """The lines without a hint of the instruction that was left standing.

    Raises:
        BadSummary: the instruction or the bare template was handed back.
    """
    asked = {line.strip() for dialect in ("react", "native") for line in _instruction(dialect)}
    own = [line for line in lines if line.strip() not in asked]
    if len(lines) - len(own) >= _ECHOED:
        raise BadSummary("it repeats the instruction instead of following it")
    said = [_PLACEHOLDER.sub("", _MARKS.sub("", line)) for line in own if not (computed(line) or heading(line))]
    if all(_NOTHING.fullmatch(rest) or fence(rest) for rest in said):
        raise BadSummary("it leaves the template unfilled")
    return own


def _instruction(dialect: str) -> list[str]:
    """The lines of the instruction that nobody writes by chance."""
    text = render("summary", words=0, dialect=dialect, until="", kept=0)
    return [line for line in text.split("\n") if len(line) > 30 and heading(line) is None and not computed(line)]
