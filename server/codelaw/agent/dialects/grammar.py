r"""The grammar of a `react` reply (R-3).

    reply    := thought? action | Finish-action | text
    thought  := "Thought:" text
    action   := "Action:" fence? name "[" arguments "]" fence?
    Finish   := "Finish[" text "]"

A label stands at the start of a line, bold or quoted at will. Arguments are one JSON object, raw newlines in its
strings included; nothing at all stands for `{}`. Finish text holds any characters: it ends at the last `]` before the
next label line, or before the end.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

FINISH = "Finish"
_LABEL_LINE = re.compile(r"^[ \t>*_]*(?:Thought|Action|Observation)[*_]*:|^\[(?:tool|user|assistant)\]", re.MULTILINE)
_INVENTED = re.compile(r"^(?:\[(?:tool|user|assistant)\]|[ \t>*_]*Observation[*_]*:)", re.MULTILINE)
_ACTION_LABEL = re.compile(r"^[ \t>*_]*Action[*_]*:[*_]*[ \t]*", re.MULTILINE)
_OPENING = re.compile(r"(?:\s*```[\w-]*[ \t]*\n|[ \t]*`)?\s*([A-Za-z_][\w.-]*)[ \t]*\[")
_BARE_FINISH = re.compile(r"^(?:```[\w-]*[ \t]*\n)?[ \t`]*Finish[ \t]*\[", re.MULTILINE)
_THOUGHT_LABEL = re.compile(r"\A\s*[>*_]*Thought[*_]*:[*_]*\s*")
_LABEL_BEGUN = re.compile(
    r"[ \t>*_`]*(?:A(?:c(?:t(?:i(?:on?)?)?)?)?|F(?:i(?:n(?:i(?:sh?)?)?)?)?)?\Z|[ \t>*_`]*(?:Action|Finish)"
)
_TRAILING_FENCE = re.compile(r"\s*```[\w-]*\s*\Z")
_CLOSING = re.compile(r"\s*(?:\]`?|\Z)")
MAX_DEPTH = 64
"""Levels of nesting that arguments may have; more is no work for a tool, and no JSON writer likes it."""


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"The number {text[:20]} is no JSON.")
    return value


_DECODER = json.JSONDecoder(strict=False, parse_constant=_finite, parse_float=_finite)


@dataclass(frozen=True, slots=True)
class Opening:
    """Where an action begins: its label, its name and the place behind its `[`."""

    start: int
    name: str
    inside: int


def opening(text: str) -> Opening | None:
    """The first action of a reply, complete or not; the earlier of a labelled action and a bare Finish."""
    labelled = None
    for label in _ACTION_LABEL.finditer(text):
        if name := _OPENING.match(text, label.end()):
            labelled = Opening(label.start(), name[1], name.end())
            break
    bare = _BARE_FINISH.search(text)
    if bare and (labelled is None or bare.start() < labelled.start):
        return Opening(bare.start(), FINISH, bare.end())
    return labelled


def action_label(text: str) -> int | None:
    """Where the text first tries to act, readably or not."""
    label = _ACTION_LABEL.search(text)
    return label.start() if label else None


def label_begun(line: str) -> bool:
    """Whether an unfinished line is, or may still become, the beginning of an action."""
    return _LABEL_BEGUN.match(line) is not None


def thought_of(text: str) -> str:
    """The thought in the text before an action, without its label."""
    return _TRAILING_FENCE.sub("", _THOUGHT_LABEL.sub("", text)).strip()


def thought_start(text: str) -> int | None:
    """Where the thought's own words begin; None without a label."""
    label = _THOUGHT_LABEL.match(text)
    return label.end() if label else None


def finish_end(text: str, inside: int) -> int:
    """Where the Finish text that begins at `inside` ends, as far as `text` goes.

    That is the last `]` before the next label line that has one in front of it, else the last `]`; a Finish that is
    never closed goes to the end. More text never makes it end earlier.
    """
    for label in _LABEL_LINE.finditer(text, inside):
        close = text.rfind("]", inside, label.start())
        if close >= 0:
            return close
    close = text.rfind("]", inside)
    return close if close >= 0 else max(inside, len(text.rstrip()))


def unfit_arguments(value: Any, depth: int = 0) -> str | None:
    """Why parsed arguments cannot be written as JSON again, in words for the model; None when they can."""
    if depth > MAX_DEPTH:
        return "The arguments are nested too deeply."
    if isinstance(value, float):
        return None if math.isfinite(value) else "The arguments hold a number that is no JSON."
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
