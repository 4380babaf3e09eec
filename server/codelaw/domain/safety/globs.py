"""Globs as regular expressions: one engine for searches, ignore files and permission rules (T-3, S-1)."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import PurePosixPath

from codelaw.domain.errors import ToolFailure

Matcher = Callable[[str], bool]

MAX_ALTERNATIVES = 500
"""Globs that one with braces may stand for."""
MAX_EXPANDED = 5_000
"""Characters of all of them together; what they are compiled to grows with it (S-6)."""


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
    """The glob as the text of a regular expression for a full match; None when it cannot be read.

    What it takes to match grows with the text and the glob, never with the ways to share the text among the stars
    (S-6): a star that another follows is content with the nearest place where what stands between them fits.

    Raises:
        ToolFailure: INVALID_PARAM when the braces stand for too many alternatives.
    """
    expanded = alternatives(pattern) if braces else [pattern]
    if expanded is None:
        return None
    texts = [_expression(alternative) for alternative in expanded]
    if None in texts:
        return None
    return texts[0] if len(texts) == 1 else "|".join(f"(?:{text})" for text in texts)


def alternatives(pattern: str) -> list[str] | None:
    """The globs without braces that one with braces stands for; None when a bracket or brace is not closed.

    Raises:
        ToolFailure: INVALID_PARAM when they are too many, or too long together.
    """
    outside: list[tuple[list[str], list[str]]] = []
    before: list[str] = []
    current = [""]
    at = 0
    while at < len(pattern):
        char, piece = pattern[at], pattern[at]
        if char == "\\":
            piece = pattern[at : at + 2]
        elif char == "[":
            closed = _class(pattern, at)
            if closed is None:
                return None
            piece = pattern[at : closed[1]]
        elif char == "{":
            outside.append((current, before))
            current, before, piece = [""], [], ""
        elif char == "," and outside:
            current, before, piece = [""], before + current, ""
        elif char == "}" and outside:
            inside = before + current
            current, before = outside.pop()
            if len(current) * len(inside) > MAX_ALTERNATIVES:
                raise ToolFailure("INVALID_PARAM", f"The braces give more than {MAX_ALTERNATIVES} alternatives.")
            current, piece = [start + end for start in current for end in inside], ""
        at += max(1, len(piece))
        if piece:
            current = [start + piece for start in current]
        if len(current) > 1 and sum(map(len, current)) > MAX_EXPANDED:
            raise ToolFailure("INVALID_PARAM", f"The braces give more than {MAX_EXPANDED} characters.")
    return None if outside else current


def spelt_out(text: str) -> list[str]:
    """What a text stands for by its braces: itself alone where it has none, or more than can be looked at."""
    with suppress(ToolFailure):
        return alternatives(text) or [text] if "{" in text else [text]
    return [text]


def _expression(pattern: str) -> str | None:
    """A glob without braces: blocks of folders and names, with any number of folders between two blocks."""
    blocks: list[list[list[str]]] = [[[""]]]
    at, end = 0, len(pattern)
    while at < end:
        char = pattern[at]
        segments = blocks[-1]
        starts_part = at == 0 or pattern[at - 1] == "/"
        if char == "*":
            stop = at
            while stop < end and pattern[stop] == "*":
                stop += 1
            if stop - at >= 2 and starts_part and pattern[stop : stop + 1] == "/":
                blocks.append([[""]])
                stop += 1
            elif stop - at >= 2 and starts_part and stop == end:
                segments[-1][-1] += ".+" if at else ".*"
            else:
                segments[-1].append("")
            at = stop
        elif char == "/":
            segments.append([""])
            at += 1
        elif char == "[":
            closed = _class(pattern, at)
            if closed is None:
                return None
            text, at = closed
            segments[-1][-1] += text
        elif char == "\\" and at + 1 == end:
            return None
        else:
            at += 1 + (char == "\\")
            segments[-1][-1] += "[^/]" if char == "?" else re.escape(pattern[at - 1])
    first, *others = ["/".join(map(_starred, segments)) for segments in blocks]
    if not others:
        return first
    between = "".join(f"(?>(?:[^/]*/)*?{block})" for block in others[:-1])
    return f"{first}{between}(?:[^/]*/)*{others[-1]}"


def _starred(pieces: list[str]) -> str:
    """One folder or name: pieces of fixed length with a star between each two."""
    if len(pieces) == 1:
        return pieces[0]
    between = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1])
    return f"{pieces[0]}{between}[^/]*{pieces[-1]}"


def _class(pattern: str, at: int) -> tuple[str, int] | None:
    """A `[…]` as a regular expression, and where it ends."""
    start = at + 1
    negated = pattern[start : start + 1] in {"!", "^"}
    start += negated
    stop = pattern.find("]", start + 1)
    if stop < 0:
        return None
    members = _members(pattern[start:stop].replace("\\", ""))
    text = f"(?!/)[{'^' if negated else ''}{members}]"
    try:
        re.compile(text)
    except re.error:
        return None
    return text, stop + 1


def _members(body: str) -> str:
    """Characters and ranges, spelt so that none of them means more in a regular expression: `--`, `&&`, `[`."""
    spelt, at = "", 0
    while at < len(body):
        ranged = body[at + 1 : at + 2] == "-" and at + 2 < len(body)
        spelt += re.escape(body[at]) + (f"-{re.escape(body[at + 2])}" if ranged else "")
        at += 3 if ranged else 1
    return spelt
