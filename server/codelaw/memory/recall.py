"""Which memories a model is shown, in what order, and how they are written (B-6).

A memory is data that anybody may have caused to be saved: it is written so that it can begin no line of its own, and
open or close no tag of ours (R-5).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from codelaw.domain.memories import Candidate, Category, Memory, MemoryScope, Recalled
from codelaw.domain.safety.own_tags import disarmed
from codelaw.templates.render import render

SCOPE_PRIORITY: dict[MemoryScope, float] = {"session": 1.0, "project": 0.8, "user": 0.5}
TOP_K = 5
SHOWN_CHARACTERS = 2_000
"""Of all recalled memories together, the words around them included."""
CUT = " …"

# Control characters, line breaks of any kind, and what changes the direction of text or cannot be seen.
_UNPRINTABLE = re.compile(
    "[\x00-\x20\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ud800-\udfff]+"
)
_TAG = re.compile(
    r"<(?=\s*[/|!?]?\s*(?:\||system|attachment|environment|todo-|pin\b|earlier-|remembered|assistant|human\b"
    r"|user\b|tool|function|instruct|inst\b|im_))",
    re.IGNORECASE,
)
# What is not seen, and may say to a model what no person reads.
_JOINED = re.compile(
    "[\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]+"
)


@dataclass(frozen=True, slots=True)
class MemoryBlock:
    """Memories as they stand in the view, and which of them those are."""

    text: str
    """Empty when there is nothing to show."""
    memories: tuple[Memory, ...] = ()


def score(similarity: float, confidence: float, priority: float) -> float:
    """The place of a memory among others: `0.5·similarity + 0.3·confidence + 0.2·scope priority`."""
    return 0.5 * similarity + 0.3 * confidence + 0.2 * priority


def ranked(
    candidates: Iterable[Candidate],
    *,
    limit: int = TOP_K,
    category: Category | None = None,
    min_similarity: float | None = None,
    without: Collection[str] = (),
) -> tuple[Recalled, ...]:
    """The best memories, best first. Ties keep the order of `candidates`; those whose ids are `without` are left out.

    An entry is in it once, at its best.
    """
    best: dict[str, Recalled] = {}
    for candidate in candidates:
        memory = candidate.memory
        if memory.id in without or (category is not None and memory.category != category):
            continue
        if min_similarity is not None and candidate.similarity < min_similarity:
            continue
        value = score(candidate.similarity, memory.confidence, SCOPE_PRIORITY[memory.scope])
        if memory.id not in best or best[memory.id].score < value:
            best[memory.id] = Recalled(memory, candidate.similarity, value)
    # Rounded, so that scores that are equal on paper tie.
    return tuple(sorted(best.values(), key=lambda entry: -round(entry.score, 9))[:limit])


def shown(recalled: Sequence[Recalled], limit: int = SHOWN_CHARACTERS) -> MemoryBlock:
    """The block of recalled memories: whole entries as long as they fit into `limit` characters, best first.

    The first one is always among them; alone too long, it ends with a mark.
    """
    memories = [entry.memory for entry in recalled]
    if not memories:
        return MemoryBlock("")
    taken = 1
    text = _block([line(recalled[0])])
    if len(text) > limit:
        whole = line(recalled[0])
        keep = max(0, len(whole) - (len(text) - limit) - len(CUT))
        return MemoryBlock(_block([whole[:keep] + CUT]), tuple(memories[:1]))
    while taken < len(memories):
        longer = _block([line(entry) for entry in recalled[: taken + 1]])
        if len(longer) > limit:
            break
        text, taken = longer, taken + 1
    return MemoryBlock(text, tuple(memories[:taken]))


def line(entry: Recalled) -> str:
    """A memory as one line of a list: what kind it is, whose, how relevant it is to the question, and its text."""
    memory = entry.memory
    return f"{memory.category} ({memory.scope}, relevance {entry.similarity:.2f}): {escape_tags(memory.text)}"


def escape_tags(text: str) -> str:
    """A memory's text on one line, opening and closing no tag."""
    text = _UNPRINTABLE.sub(" ", _JOINED.sub("", text)).strip()
    return _TAG.sub("&lt;", disarmed(text))


def _block(lines: Sequence[str]) -> str:
    return render("memories", lines=lines)


USER_CATEGORIES: tuple[Category, ...] = ("preference", "habit", "skill", "constraint")
"""Of the user's entries, those that describe the user."""
PROJECT_CATEGORIES: tuple[Category, ...] = ("constraint", "decision", "preference", "habit", "skill")
"""Of the project's entries, those that describe the project, and how the user works in it."""
PROFILE_TOKENS = 500
"""The whole block stays below."""
PROFILE_ENTRIES = 40
"""Of each kind that are worth looking at."""
_LONGEST_LINE = 400
"""Characters of one entry in a profile; a longer one is cut."""


def profile(user: Sequence[Memory], project: Sequence[Memory], count: Callable[[str], int]) -> MemoryBlock:
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
            longer = _profile_block(*taken)
            if count(longer) < PROFILE_TOKENS:
                text = longer
            else:
                mine.pop()
    return MemoryBlock(text, (*taken[0], *taken[1]))


def _ordered(memories: Sequence[Memory], scope: str, categories: Sequence[Category]) -> list[Memory]:
    fit = [memory for memory in memories if memory.scope == scope and memory.category in categories]
    return sorted(fit, key=lambda memory: (-memory.confidence, -memory.created_at, memory.id))[:PROFILE_ENTRIES]


def _profile_block(user: Sequence[Memory], project: Sequence[Memory]) -> str:
    if not user and not project:
        return ""
    return render("profile", user=list(map(_profile_line, user)), project=list(map(_profile_line, project)))


def _profile_line(memory: Memory) -> str:
    whole = f"{memory.category}: {escape_tags(memory.text)}"
    return whole if len(whole) <= _LONGEST_LINE else whole[: _LONGEST_LINE - 1] + "…"
