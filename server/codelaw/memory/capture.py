"""The gate: what becomes a memory, what is refused, and what is merged with an older one (B-6)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from difflib import SequenceMatcher

from codelaw.domain.errors import Refusal
from codelaw.domain.memories import Category, Memory, MemoryScope, Places
from codelaw.memory.recall import escape_tags
from codelaw.memory.secrecy import secret
from codelaw.memory.words import words
from codelaw.ranking.words import stem

LONGEST = 1_000
"""Characters of one memory."""
DEFAULT_CONFIDENCE = 0.8
DEFAULT_CATEGORY: Category = "fact"
ALIKE = 0.75
"""Of the words of two texts that must be the same, and in the same order, for both to say one thing."""

_WIDTH: dict[MemoryScope, int] = {"session": 0, "project": 1, "user": 2}
_OF_THE_USER: frozenset[Category] = frozenset({"preference", "skill", "habit"})
_LABEL = re.compile(
    r"\A(?:\s*(?:\[\w+\]|(?:thought|action|observation|user|assistant|system|tool)\s*:|</?[\w -]*>))+", re.IGNORECASE
)
_TURNING_WORDS = (
    "not no never none neither nor without except unless only instead rather don doesn didn isn aren wasn "
    "cannot can won shouldn mustn avoid stop disable disabled enable enabled before after former formerly old "
    "new until less more most least nicht kein keine nie ohne nur pas jamais sans sauf"
)
_TURNS = frozenset(map(stem, _TURNING_WORDS.split()))
"""Words that turn what a sentence says: a text with one more of them says something else."""


def checked(text: str) -> str:
    """The text as it may be kept: on one line, with no tag of ours.

    Raises:
        Refusal: `memory_refused`: it says nothing, is too long, or holds a secret; the message never repeats it.
    """
    if len(text) > 4 * LONGEST:  # not even worth looking through
        raise _too_long(len(text))
    kind = secret(text)
    if kind is not None:
        raise Refusal(
            "memory_refused",
            f"This looks like it holds {kind}, and secrets are not remembered.",
            "Say it without the secret: where it is kept, not what it is.",
        )
    kept = escape_tags(text)
    if not any(map(str.isalnum, kept)) or not any(map(str.isalnum, _LABEL.sub("", text))):
        raise Refusal("memory_refused", "There is nothing in it to remember.", "Say what is to be remembered.")
    if len(kept) > LONGEST:
        raise _too_long(len(kept))
    return kept


def _too_long(characters: int) -> Refusal:
    message = f"It has {characters} characters; a memory has at most {LONGEST}."
    return Refusal("memory_refused", message, "Say it shorter, or save its parts one by one.")


def scope_for(category: Category, places: Places, *, unasked: bool = False) -> MemoryScope:
    """Where an entry belongs that names no scope: what describes the user to the user, the rest to the project.

    What is saved `unasked` never follows the user into another project.
    """
    if unasked:
        return "project" if places.projects or places.session is None else "session"
    return "user" if category in _OF_THE_USER or not places.projects else "project"


def owner(scope: MemoryScope, places: Places) -> str:
    """Whose a new entry of that scope is.

    Raises:
        Refusal: `memory_refused`: there is no project, or no chat.
    """
    match scope:
        case "user":
            return places.user
        case "project":
            if places.projects:
                return places.projects[0]
            message, hint = "No folder is open, so there is no project to remember it for.", "Use the scope user."
        case "session":
            if places.session is not None:
                return places.session
            message, hint = (
                "Outside of a chat there is no session to remember it for.",
                "Name a chat, or another scope.",
            )
    raise Refusal("memory_refused", message, hint)


def others(near: Iterable[Memory], where: MemoryScope, mine: str, *, unasked: bool) -> list[Memory]:
    """The entries that a new one of that scope and owner may say again.

    What another folder's project has must be this one's too; what a project has is never one user's alone. What is
    saved `unasked` changes nothing of the user's own.
    """
    return [
        one
        for one in near
        if (one.belongs_to == mine or (one.scope != where and (one.scope, where) != ("project", "user")))
        and not (unasked and one.scope == "user")
    ]


def users_own(text: str, near: Iterable[Memory]) -> Memory | None:
    """The user's own entry that has just this text."""
    return next((one for one in near if one.scope == "user" and one.text == text), None)


def duplicate(text: str, others: Iterable[Memory]) -> Memory | None:
    """The entry among `others` that says the same as `text`, the most alike one; None when there is none."""
    best: tuple[float, Memory] | None = None
    for other in others:
        ratio = _sameness(text, other.text)
        if ratio and (best is None or ratio > best[0]):
            best = ratio, other
    return best[1] if best is not None else None


def _sameness(text: str, other: str) -> float:
    """From 0 to 1; 0 for texts that do not say the same.

    One may only have more words than the other, and none that carries a number or turns the meaning: a word in the
    place of another, or at another place, is a change of mind.
    """
    mine, theirs = words(text), words(other)
    if mine == theirs:
        # What is not a word still counts: C and C++ are two things.
        return 1.0 if _marks(text) == _marks(other) else 0.0
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    if "replace" in (kinds := {change[0] for change in changes}) or len(kinds) > 1:
        return 0.0
    for _, first, last, start, end in changes:
        if any(word in _TURNS or any(map(str.isdigit, word)) for word in (*mine[first:last], *theirs[start:end])):
            return 0.0
    ratio = matcher.ratio()
    return ratio if ratio >= ALIKE and _marks(text) == _marks(other) else 0.0


def merged(  # noqa: PLR0917 - what was said, field by field
    older: Memory, text: str, category: Category | None, scope: MemoryScope, mine: str, confidence: float
) -> Memory:
    """`older` with what was said again: one entry stays.

    The longer text wins, since it says more, and of equally long ones the newer; so do the higher confidence and the
    wider scope, in which only the words that were said for it count. A category that was named replaces the older one.
    Id and age stay the older's.
    """
    wider = _WIDTH[scope] > _WIDTH[older.scope]
    return replace(
        older,
        text=text if wider or len(text) >= len(older.text) else older.text,
        category=category or (DEFAULT_CATEGORY if wider else older.category),
        scope=scope if wider else older.scope,
        belongs_to=mine if wider else older.belongs_to,
        confidence=max(older.confidence, confidence),
    )


def _marks(text: str) -> list[str]:
    """The signs that stand right at a word and are not punctuation: `C++`, `C#`, `-x`, `!`, `~`."""
    return sorted(re.findall(r"(?<=\w)(?:[+#*]+)|(?<![\w-])[-!~^]+(?=\w)", text))
