"""The path patterns of rules: the tools' globs, read narrowly to allow and widely to deny (S-1)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache

from codelaw.domain.errors import ToolFailure
from codelaw.domain.safety.globs import alternatives, translate

Matcher = Callable[[str], bool]

KEPT = 1024
"""Patterns that stay compiled."""
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


class PatternError(ValueError):
    """A pattern that cannot be read, or can match no path; the message says why."""


@lru_cache(maxsize=KEPT)
def allowing(pattern: str) -> Matcher:
    """Whether a rule that allows covers a normalised path: exactly what the pattern says.

    Raises:
        PatternError: it can match nothing.
    """
    clean = _clean(pattern)
    return _compiled([_placed(one, clean) for one in _alternatives(clean)], fold=False)


@lru_cache(maxsize=KEPT)
def denying(pattern: str) -> Matcher:
    """Whether a rule that denies covers a normalised path: every way in which the pattern may be meant.

    Of alternatives in braces each stands for itself, so that one without a slash matches in every folder; so does
    `secrets/`. A backslash may be meant for a slash. Upper and lower case are one, and so are composed and decomposed
    accents, as they are on some disks.

    Raises:
        PatternError: it can match nothing.
    """
    clean = _clean(pattern)
    wide = list(_alternatives(clean))
    if "\\" in clean:
        with suppress(PatternError):  # only one of the two readings is a pattern
            wide += _alternatives(clean.replace("\\", "/"))
    patterns = [_placed(one, one.removesuffix("/")) for one in wide if one]
    exact, folded = _compiled(patterns, fold=False), _compiled(patterns, fold=True)
    return lambda path: exact(path) or folded(_folded(path))


@lru_cache(maxsize=KEPT)
def starred(pattern: str) -> Matcher:
    """Whether a name without slashes is as the pattern says, in which a star is any text."""
    return _compiled([pattern], fold=False)


def _clean(pattern: str) -> str:
    """Without what no shown path has: `./`, empty and `.` folders.

    Raises:
        PatternError: it leads out of the workspace, or can match nothing.
    """
    if pattern.startswith(("//", "~/")) or pattern == "~" or _DRIVE.match(pattern):
        raise PatternError("the pattern leads out of the workspace: paths are relative to its folder")
    if "\0" in pattern:
        raise PatternError("no path holds a NUL")
    bare = pattern.removeprefix("./")
    whole = [part for part in bare.split("/") if part != "."]
    clean = "/".join(part for at, part in enumerate(whole) if part or at in (0, len(whole) - 1))
    if bare.endswith("/.") and not clean.endswith("/"):
        clean += "/"
    if not clean:
        raise PatternError("the pattern names no file: write the tool alone for all of them")
    every = _alternatives(clean)
    if all(".." in one.split("/") for one in every):
        raise PatternError("the pattern leads out of the workspace, or by `..` through it: no path is shown like that")
    if not any(one.strip("/") for one in every) and clean != "/":
        raise PatternError("the pattern names no file: write the tool alone for all of them")
    return clean


def _alternatives(pattern: str) -> list[str]:
    try:
        found = alternatives(pattern)
    except ToolFailure as failure:
        raise PatternError(failure.message.removesuffix(".")) from failure
    if found is None or any(translate(one, braces=False) is None for one in found):
        raise PatternError("it has a bracket or brace that is not closed, or cannot be read")
    return found


def _placed(pattern: str, judged: str) -> str:
    """The pattern over whole paths; where `judged` holds no slash it matches in every folder."""
    if pattern == "/":
        return "**"
    below = f"{pattern}**" if pattern.endswith("/") else pattern
    return f"**/{below}" if "/" not in judged else below.removeprefix("/")


def _compiled(patterns: list[str], *, fold: bool) -> Matcher:
    texts = [translate(_folded(one) if fold else one, braces=False) for one in dict.fromkeys(patterns)]
    expression = re.compile("|".join(f"(?:{text})" for text in texts if text is not None), re.DOTALL)
    return lambda path: expression.fullmatch(path) is not None


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
