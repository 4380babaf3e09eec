"""What a text is about, as a set of word stems, and how alike two texts are by them (B-6)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache
from math import sqrt

from codelaw.ranking.words import stem

QUESTION_WORDS = 24
"""Of a question that count: a pasted log must not drown what was asked."""

_RUN = re.compile(r"[^\W_]+")
_ACCENT = re.compile("[\u0300-\u036f]")
_LITTLE_WORDS = (
    "a about again all also am an and any are as at be been being but by can could d did do does doing for "
    "from had has have having he her here hers him his how i if in into is it its itself just ll m me might "
    "more most must my now of off on once or other our ours out over own please re s same shall she should so "
    "some such t than that the their theirs them then there these they this those through to too under up us "
    "ve very was we were what when where which while who whom why will with would you your yours"
)
_FUNCTION_WORDS = frozenset(map(stem, _LITTLE_WORDS.split()))
"""English words that say little about what a text is about; those that deny or limit are none of them."""


@lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """The stems of a text's words in order, function words left out unless there is nothing else."""
    return tuple(word for word, _ in _stems(text))


def asked(question: str) -> dict[str, str]:
    """The words of a question that memories are looked for with, by their stems; at most `QUESTION_WORDS`.

    Of a long question its beginning and its end count: that is where people say what they want.
    """
    each = list(dict(_stems(question)).items())
    half = QUESTION_WORDS // 2
    return dict(each if len(each) <= QUESTION_WORDS else [*each[:half], *each[-half:]])


def likeness(question: Collection[str], text: str) -> float:
    """How alike a question, as stems, and a text are, from 0 to 1: shared words over the mean of both counts."""
    mine, theirs = set(question), set(words(text))
    if not mine or not theirs:
        return 0.0
    return len(mine & theirs) / sqrt(len(mine) * len(theirs))


def fused(by_words: float, by_vectors: float | None) -> float:
    """One similarity from 0 to 1 of two: what either shows counts, and both together count more.

    `by_vectors` is a cosine, None where there is no vector; opposite directions are as good as unrelated ones.
    """
    cosine = min(max(by_vectors or 0.0, 0.0), 1.0)
    return 1.0 - (1.0 - by_words) * (1.0 - cosine)


def _stems(text: str) -> list[tuple[str, str]]:
    """Stems with their words, in order."""
    if not text.isascii():
        text = _ACCENT.sub("", unicodedata.normalize("NFKD", text))
    stems = [(stem(run), run) for run in _RUN.findall(text.casefold())]
    return [each for each in stems if each[0] not in _FUNCTION_WORDS] or stems
