r"""The grammar of a `react` reply (R-3).

    reply    := thought? action | Finish-action | text
    thought  := "Thought:" text
    action   := "Action:" fence? name "[" arguments "]" fence?
    Finish   := "Finish[" text "]"

A label stands at the start of a line, bold or quoted at will; `scanning` says which labels count. Arguments are one
JSON object, raw newlines in its strings included; nothing at all stands for `{}`. Finish text holds any characters: it
ends where the reply does, less the closing `]` and what was opened around the action. A reply without an action is the
answer, whole.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, cast

FINISH = "Finish"
_INVENTED = re.compile(r"^(?:\[(?:tool|user|assistant)\]|[ \t>*_]*Observation[*_]*:)", re.MULTILINE)
_THOUGHT_LABEL = re.compile(r"\A\s*(?:```[\w-]*[ \t]*\n\s*)?[>*_]*Thought[*_]*:[*_]*[ \t]*\n?")
_FORMAL = re.compile(r"\A\s*(?:```[\w-]*[ \t]*\n\s*)?[ \t>*_`]*(?:(?:Thought|Action)[*_]*:|Finish[ \t]*\[)")
_CLOSING = re.compile(r"\s*(?:\]`?|\Z)")
_MARK = re.compile(r'["\\\\{}\[\]]')
MAX_DEPTH = 64
"""Levels of nesting that arguments may have; more is no work for a tool, and no JSON writer likes it."""


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"The number {text[:20]} is not JSON.")
    return value


_DECODER = json.JSONDecoder(strict=False, parse_constant=_finite, parse_float=_finite)


@dataclass(frozen=True, slots=True)
class Opening:
    """Where an action begins, or something that looks like one."""

    start: int
    """Of its label."""
    name: str
    """Empty where only a label stands."""
    inside: int
    """Behind its `[`, or behind the label."""
    wrap: tuple[str, ...] = ()
    """What was opened around it and is closed behind it, the outermost first: a code fence, bold, a backtick."""
    place: Literal["plain", "alone", "quoted"] = "plain"
    """Outside of code fences, alone in one, or in one among other lines."""


def is_formal(text: str) -> bool:
    """Whether a reply speaks in the dialect from its first word."""
    return _FORMAL.match(text) is not None


def thought_of(text: str) -> str:
    """The thought in the text before an action, without its label."""
    return said(text).strip()


def said(text: str) -> str:
    """A reply without an action, without the label of a thought; nothing else is taken from it."""
    return _THOUGHT_LABEL.sub("", text)


def thought_start(text: str) -> int | None:
    """Where the thought's own words begin; None without a label, or while these have not come."""
    label = _THOUGHT_LABEL.match(text)
    return len(text) - len(words) if label and (words := text[label.end() :].lstrip()) else None


def answer_end(text: str, opening: Opening) -> tuple[int, bool]:
    """Where the text of a Finish ends in a whole reply, and whether it was closed.

    It ends at the reply's last `]`, behind which only what was opened around the action may stand; without that, it
    goes to the end.
    """
    whole = text.rstrip()
    bare = whole
    for mark in opening.wrap:
        bare = bare.removesuffix(mark).rstrip()
    for end in (bare, whole):
        if end.endswith("]") and len(end) > opening.inside:
            return len(end) - 1, True
    return max(opening.inside, len(whole)), False


def settled_end(text: str, marks: str) -> int:
    """Up to where a text stays as it is, whatever follows: before blanks and `marks` that may yet be its end."""
    end = len(text)
    while end and (text[end - 1] in marks or text[end - 1].isspace()):
        end -= 1
    return end


class CallEnd:
    """Finds the `]` that closes a call while it arrives; looks at every character once."""

    def __init__(self, inside: int) -> None:
        self.place = inside
        """Before it, all has been looked at."""
        self._depth = 1
        self._quoted = False

    def look(self, text: str, base: int = 0) -> int | None:
        """The place behind the `]`, when it has arrived; `text` is the reply from `base` on, at or before `place`."""
        while self._depth:
            mark = _MARK.search(text, self.place - base)
            if mark is None or (mark[0] == "\\" and mark.end() == len(text)):
                self.place = base + (len(text) if mark is None else mark.start())
                return None
            self.place = base + mark.end() + (mark[0] == "\\")
            self._quoted ^= mark[0] == '"'
            if not self._quoted:
                self._depth += (mark[0] in "{[") - (mark[0] in "}]")
        return self.place


def unfit_arguments(value: Any, depth: int = 0) -> str | None:
    """Why parsed arguments cannot be written as JSON again, in words for the model; None when they can."""
    if depth > MAX_DEPTH:
        return "The arguments are nested too deeply."
    if isinstance(value, float):
        return None if math.isfinite(value) else "The arguments hold a number that is not JSON."
    inside: Iterable[Any] = ()
    if isinstance(value, dict | list):
        inside = cast("dict[Any, Any]", value).values() if isinstance(value, dict) else cast("list[Any]", value)
    return next(filter(None, (unfit_arguments(item, depth + 1) for item in inside)), None)


def invented_from(text: str, inside: int) -> int:
    """Where, behind an action that cannot be read, the model begins to speak for others; the end when it does not."""
    found = _INVENTED.search(text, inside)
    return found.start() if found else len(text)


def arguments_at(text: str, inside: int) -> tuple[dict[str, Any], int]:
    """The JSON object that begins at `inside` and the place behind its `]`.

    Raises:
        ValueError: what is wrong, in words for the model.
    """
    rest = _CLOSING.match(text, inside)
    if rest and rest[0].strip():
        return {}, rest.end()
    begin = inside + len(text[inside:]) - len(text[inside:].lstrip())
    try:
        value, end = _DECODER.raw_decode(text, begin)
    except json.JSONDecodeError as error:
        near = text[max(inside, error.pos - 20) : error.pos + 20].replace("\n", "\\n")
        problem = f"The arguments are not valid JSON: {error.msg} near `{near}`."
        raise ValueError(problem) from error
    except RecursionError as error:
        problem = "The arguments are nested too deeply."
        raise ValueError(problem) from error
    if not isinstance(value, dict):
        problem = f"The arguments must be one JSON object, not {type(value).__name__}."
        raise ValueError(problem)  # noqa: TRY004 - the model's mistake, not a caller's
    if unfit := unfit_arguments(cast("dict[str, Any]", value)):
        raise ValueError(unfit)
    close = _CLOSING.match(text, end)
    if close is None:
        problem = "After the JSON object a `]` must follow."
        raise ValueError(problem)
    return cast("dict[str, Any]", value), close.end()
