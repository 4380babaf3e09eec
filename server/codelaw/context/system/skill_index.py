"""The skills index, the last of our own modules in L1: names and descriptions, a line each (X-2, L-2)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from codelaw.context.escaping import one_name
from codelaw.context.tokens import estimate
from codelaw.domain.brought import Skill
from codelaw.templates.render import render

SHARE = 0.02
"""Of the window, for the whole index."""
_SHORT = 200
"""Characters of a description where not all lines fit whole."""


def skill_index(skills: Sequence[Skill], window: int, *, searched: bool) -> str:
    """The index in its share of a window, in the order of `skills`; empty where there is none.

    Where not all fit, descriptions are cut; what does not fit then is counted. `searched` says that find_tools finds
    it.
    """
    return _index(tuple((one.sheet.name, one.description) for one in skills), int(window * SHARE), searched)


@lru_cache(maxsize=8)
def _index(skills: tuple[tuple[str, str], ...], room: int, searched: bool) -> str:  # noqa: FBT001 - a cache's key
    if not skills:
        return ""
    whole = [_line(name, description) for name, description in skills]
    text = render("skills", lines=whole, more=0, searched=searched)
    if estimate(text) <= room:
        return text
    short = [_line(name, _cut(description)) for name, description in skills]
    left = room - estimate(render("skills", lines=[], more=len(short), searched=searched))
    kept: list[str] = []
    for line in short:
        left -= estimate(f"{line}\n")
        if left < 0:
            break
        kept.append(line)
    return render("skills", lines=kept, more=len(short) - len(kept), searched=searched)


def _line(name: str, description: str) -> str:
    return f"- {name}: {one_name(description)}" if description else f"- {name}"


def _cut(description: str) -> str:
    return description if len(description) <= _SHORT else f"{description[: _SHORT - 1].rstrip()}…"
