"""The words of a text, as a comparison without a model sees them (B-5)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_RUN = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)
"""Scripts that write no spaces between words; for Korean, which puts its endings onto them, it is as good."""
_VOWEL = re.compile(r"[aeiouy]")
_ENDINGS = (
    ("ational", "ate"),
    ("ization", "ize"),
    ("isation", "ise"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("iveness", "ive"),
    ("ations", "ate"),
    ("ation", "ate"),
    ("ments", "ment"),
    ("ingly", ""),
    ("edly", ""),
    ("ness", ""),
    ("ies", "y"),
    ("ied", "y"),
    ("ing", ""),
    ("sses", "ss"),
    ("ers", "er"),
    ("es", "e"),
    ("ed", ""),
    ("ly", ""),
    ("s", ""),
)
_SHORTEST = 3

_LITTLE = """
a about again all also am an and any are as at be been being but by can could d did do does doing don down for from
further had has have having he her here hers him his how i if in into is it its itself just ll m me might more most
must my no nor not now of off on once only or other our ours out over own re s same shall she should so some such t
than that the their theirs them then there these they this those through to too under until up us ve very was we
were what when where which while who whom why will with would you your yours said
"""
FUNCTION_WORDS = frozenset(_LITTLE.split())
"""English words that say little about what a text is about."""


def words(text: str) -> Iterator[tuple[str, bool]]:
    """The words in lower case, identifiers also in their parts; true where a word is such a whole identifier.

    Where no spaces are written, two characters that stand together are a word.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    for run in _RUN.findall(text):
        if not run.isascii():
            yield from ((word, False) for word in _of_other_scripts(run))
            continue
        if run.islower() or run.isdigit():
            yield run, False
            continue
        parts = _PART.findall(run)
        for part in parts:
            yield part.lower(), False
        if len(parts) > 1:
            yield run.lower(), True


def _of_other_scripts(run: str) -> Iterator[str]:
    at = 0
    for found in _UNSPACED.finditer(run):
        if found.start() > at:
            yield run[at : found.start()].casefold()
        pairs = found.group()
        yield from (pairs[start : start + 2] for start in range(max(1, len(pairs) - 1)))
        at = found.end()
    if at < len(run):
        yield run[at:].casefold()


def stem(word: str) -> str:
    """The word without its English ending, so that forms of one word are one."""
    if len(word) <= _SHORTEST or not word.isascii():
        return word
    for ending, instead in _ENDINGS:
        if word.endswith(ending):
            if ending == "s" and word[-2] in "sui":
                return word
            rest = word[: -len(ending)]
            if len(rest) < _SHORTEST or _VOWEL.search(rest) is None:
                continue
            if instead or ending == "s":
                return _without_e(rest + instead)
            return _without_e(_single(rest))
    return _without_e(word)


def _single(rest: str) -> str:
    """`stopp` → `stop`, but `fall` stays."""
    return rest[:-1] if len(rest) > _SHORTEST and rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest


def _without_e(word: str) -> str:
    return word[:-1] if word.endswith("e") and len(word) > _SHORTEST else word
