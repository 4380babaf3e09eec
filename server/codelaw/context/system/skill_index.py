"""The skills index, the last of our own modules in L1: names and descriptions, a line each (X-2, L-2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from codelaw.context.escaping import one_name
from codelaw.context.tokens import estimate
from codelaw.domain.brought import Skill
from codelaw.templates.render import render

SHARE = 0.02
"""Of the window, for the whole index."""
_SHORT = 200
"""Characters of a description where not all lines fit whole."""


@dataclass(frozen=True, slots=True)
class SkillIndex:
    """The index as it stands in L1, and what it has no room for."""

    text: str
    """Empty where there is no skill."""
    left_out: tuple[tuple[str, str], ...] = ()
    """Names and descriptions, for find_tools to search (X-11)."""


def skill_index(skills: Sequence[Skill], window: int) -> SkillIndex:
    """The index in its share of a window, in the order of `skills`.

    Where not all fit, descriptions are cut; what does not fit then is counted, and left to find_tools.
    """
    return _index(tuple((one.sheet.name, one.description) for one in skills), int(window * SHARE))


@lru_cache(maxsize=8)
def _index(skills: tuple[tuple[str, str], ...], room: int) -> SkillIndex:
    if not skills:
        return SkillIndex("")
    whole = [_line(name, description) for name, description in skills]
    text = render("skills", lines=whole, more=0)
    if estimate(text) <= room:
        return SkillIndex(text)
    short = [_line(name, _cut(description)) for name, description in skills]
    left = room - estimate(render("skills", lines=[], more=len(short)))
    kept: list[str] = []
    for line in short:
        left -= estimate(f"{line}\n")
        if left < 0:
            break
        kept.append(line)
    return SkillIndex(render("skills", lines=kept, more=len(short) - len(kept)), skills[len(kept) :])


def _line(name: str, description: str) -> str:
    return f"- {name}: {one_name(description)}" if description else f"- {name}"


def _cut(description: str) -> str:
    return description if len(description) <= _SHORT else f"{description[: _SHORT - 1].rstrip()}…"
