"""Globs as regular expressions, for searches and for ignore files."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from codelaw.domain.errors import ToolFailure

Matcher = Callable[[str], bool]


def path_matcher(pattern: str) -> Matcher:
    """Whether a path, relative with `/`, matches a glob (T-3).

    Without a slash the glob is matched against the name, at any depth; `**/` matches zero folders too; `{a,b}` gives
    alternatives.

    Raises:
        ToolFailure: INVALID_PARAM for a glob that is not closed; ACCESS_DENIED for one that climbs out.
    """
    if ".." in PurePosixPath(pattern).parts:
        raise ToolFailure("ACCESS_DENIED", f"The glob {pattern!r} leads out of the folder with `..`.")
    plain = pattern.removeprefix("./")
    anywhere = "/" not in plain
    expression = translate(plain.strip("/"), braces=True)
    if expression is None:
        raise ToolFailure("INVALID_PARAM", f"The glob {pattern!r} has a bracket or brace that is not closed.")
    compiled = re.compile(expression, re.DOTALL)
    if anywhere:
        return lambda path: compiled.fullmatch(path.rsplit("/", 1)[-1]) is not None
    return lambda path: compiled.fullmatch(path) is not None


def translate(pattern: str, *, braces: bool) -> str | None:
    """The glob as the text of a regular expression for a full match; None when it cannot be read."""
    out: list[str] = []
    at, depth, end = 0, 0, len(pattern)
    while at < end:
        char = pattern[at]
        starts_part = at == 0 or pattern[at - 1] == "/"
        if char == "*":
            stop = at
            while stop < end and pattern[stop] == "*":
                stop += 1
            if stop - at >= 2 and starts_part and pattern[stop : stop + 1] == "/":
                out.append("(?:.*/)?")
                at = stop + 1
            elif stop - at >= 2 and starts_part and stop == end:
                out.append(".+" if at else ".*")
                at = stop
            else:
                out.append("[^/]*")
                at = stop
        elif char == "?":
            out.append("[^/]")
            at += 1
        elif char == "[":
            closed = _class(pattern, at)
            if closed is None:
                return None
            text, at = closed
            out.append(text)
        elif char == "\\":
            if at + 1 == end:
                return None
            out.append(re.escape(pattern[at + 1]))
            at += 2
        elif braces and char in "{,}" and (depth or char == "{"):
            depth += {"{": 1, ",": 0, "}": -1}[char]
            out.append({"{": "(?:", ",": "|", "}": ")"}[char])
            at += 1
        else:
            out.append(re.escape(char))
            at += 1
    return None if depth else "".join(out)


def _class(pattern: str, at: int) -> tuple[str, int] | None:
    """A `[…]` as a regular expression, and where it ends."""
    start = at + 1
    negated = pattern[start : start + 1] in {"!", "^"}
    start += negated
    stop = pattern.find("]", start + 1)
    if stop < 0:
        return None
    body = re.sub(r"([\[\]&~|^\\])", r"\\\1", pattern[start:stop].replace("\\", ""))
    text = f"(?!/)[{'^' if negated else ''}{body}]"
    try:
        re.compile(text)
    except re.error:
        return None
    return text, stop + 1
