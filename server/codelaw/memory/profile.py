"""Who the user is and what the project has decided: the part of memory that every turn is shown (B-7).

An entry is in it by its category alone, and only when somebody named that category: what is saved without one is a
`fact` (`memory/capture`), which no profile shows, and is found by what it has in common with a question (B-6).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from codelaw.domain.memories import Category, Memory
from codelaw.memory.recall import Shown, harmless
from codelaw.templates.render import render

USER_CATEGORIES: tuple[Category, ...] = ("preference", "habit", "skill", "constraint")
"""Of the user's entries, those that describe the user."""
PROJECT_CATEGORIES: tuple[Category, ...] = ("constraint", "decision", "preference", "habit", "skill")
"""Of the project's entries, those that describe the project, and how the user works in it."""
PROFILE_TOKENS = 500
"""The whole block stays below."""
PROFILE_ENTRIES = 40
"""Of each kind that are worth looking at."""
_LONGEST = 400
"""Characters of one entry in a profile; a longer one is cut."""


def profile(user: Sequence[Memory], project: Sequence[Memory], count: Callable[[str], int]) -> Shown:
    """The block of the user profile and the project context, below `PROFILE_TOKENS` by `count`.

    The surest entries stand first, among equals the newest. User and project take turns, so that neither crowds out the
    other; an entry that does not fit is passed over, since a shorter one may.
    """
    waiting = [_ordered(user, "user", USER_CATEGORIES), _ordered(project, "project", PROJECT_CATEGORIES)]
    taken: tuple[list[Memory], list[Memory]] = [], []
    text = ""
    for rank in range(max(map(len, waiting), default=0)):
        for mine, entries in zip(taken, waiting, strict=True):
            if rank >= len(entries):
                continue
            mine.append(entries[rank])
            longer = _block(*taken)
            if count(longer) < PROFILE_TOKENS:
                text = longer
            else:
                mine.pop()
    return Shown(text, (*taken[0], *taken[1]))


def _ordered(memories: Sequence[Memory], scope: str, categories: Sequence[Category]) -> list[Memory]:
    fit = [memory for memory in memories if memory.scope == scope and memory.category in categories]
    return sorted(fit, key=lambda memory: (-memory.confidence, -memory.created_at, memory.id))[:PROFILE_ENTRIES]


def _block(user: Sequence[Memory], project: Sequence[Memory]) -> str:
    if not user and not project:
        return ""
    return render("profile", user=list(map(_line, user)), project=list(map(_line, project)))


def _line(memory: Memory) -> str:
    whole = f"{memory.category}: {harmless(memory.text)}"
    return whole if len(whole) <= _LONGEST else whole[: _LONGEST - 1] + "…"
