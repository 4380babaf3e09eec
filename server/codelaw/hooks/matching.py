"""Hooks, commands of the user's that run at certain moments of a chat, and which of them a moment concerns (X-7)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from codelaw.domain.events import HookMoment
from codelaw.domain.safety.globs import translate

DEFAULT_SECONDS = 60.0
LONGEST_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Hook:
    """A command, and when it runs."""

    event: HookMoment
    command: str
    """A line for the shell."""
    matcher: str = ""
    """What it is about, as `hooks/matching` reads it; empty for everything."""
    seconds: float = DEFAULT_SECONDS
    """After which it is killed."""


LONGEST_MATCHER = 500
"""Characters."""
_READABLE = re.compile(r"[\w*.|: -]*", re.ASCII)
"""Names, stars and bars; nothing that a regular expression means by other signs."""


def misread(matcher: str) -> str:
    """Why a matcher cannot be read, in a sentence; empty where it can."""
    if len(matcher) > LONGEST_MATCHER:
        return f"a matcher has at most {LONGEST_MATCHER} characters"
    if _READABLE.fullmatch(matcher) is None:
        return f"the matcher {matcher!r} may hold names, `*` for any characters, and `|` between several, and no more"
    return ""


def concerned(hooks: Sequence[Hook], event: HookMoment, subject: str) -> tuple[Hook, ...]:
    """The hooks of that moment whose matcher fits, in the order of the settings; the same command only once.

    `subject` is the name of a tool, the kind of a subagent, why a session starts, or who asked for a compaction; empty
    for the other moments, which every hook of theirs is about.
    """
    found = (hook for hook in hooks if hook.event == event and (not subject or _fits(hook.matcher, subject)))
    return tuple({hook.command: hook for hook in reversed(list(found))}.values())[::-1]


def _fits(matcher: str, subject: str) -> bool:
    """Names joined by `|`, in each of which `*`, or `.*` by habit, stands for any characters."""
    if not matcher.strip():
        return True
    globs = (translate(name.strip().replace(".*", "*"), braces=False) for name in matcher.split("|"))
    return any(glob is not None and re.fullmatch(glob, subject) for glob in globs)
