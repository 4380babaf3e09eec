"""Which entries of a catalogue answer a question, by the words of their fields (X-11).

BM25 over weighted fields (Robertson, Zaragoza & Taylor, "Simple BM25 Extension to Multiple Weighted Fields", 2004),
with words that mean the same. The constants were chosen on one half of the tasks of `benchmarks/tools.py` and checked
on the other; the lengths of fields are those of the tools that it ranks, fixed, so that an entry's weights do not
depend on its neighbours.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from codelaw.ranking.synonyms import SYNONYMS
from codelaw.ranking.words import question_terms, terms


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """What can be found, by fields."""

    name: str
    server: str = ""
    """Who has it."""
    description: str = ""
    arguments: str = ""
    """Their names."""
    remarks: str = ""
    """What is said of them."""


@dataclass(frozen=True, slots=True)
class _Field:
    weight: float
    """What a word in it counts."""
    b: float
    """How much long ones are marked down."""
    length: float
    """Words of an ordinary one."""


_FIELDS: Mapping[str, _Field] = {
    "name": _Field(3.0, 0.3, 4.0),
    "server": _Field(2.0, 0.0, 2.0),
    "description": _Field(1.0, 0.6, 18.0),
    "arguments": _Field(0.6, 0.6, 4.0),
    "remarks": _Field(0.3, 0.7, 10.0),
}
K1 = 1.2
"""How soon a repeated word stops counting."""
SAME = 0.5
"""The share of a word that counts of another which means the same, or begins alike."""
COVERAGE = 0.5
"""The share of an entry's score that depends on how much of the question it has."""
SERVER = 1.3
"""What the score of an entry is multiplied by whose server the question names."""
ALIKE = (6, 5)
"""Letters of a word of the question that no entry has, and of the other, from which a common beginning counts."""
VOCABULARY = 30_000
"""Different words of a catalogue at most; later ones are not indexed."""

_ACRONYMS = re.compile(r"\b([A-Z]{2,})s\b")
_NEWS = re.compile(r"(?:(?<![A-Za-z])[Nn]|(?<=[A-Za-z])N)ews(?![a-z])")
_ANYBODYS = frozenset(terms("mcp server remote tool tools api service information data"))
"""What says nothing in the name of a server."""
_IDLE = frozenset(terms("please want need like let one thing everything something anything say use used using"))
"""What says nothing in a question."""


class Catalogue:
    """Entries, made ready to be searched. Never changed."""

    def __init__(self, entries: Iterable[CatalogueEntry]) -> None:
        self._places: dict[str, tuple[array[int], array[float]]] = {}
        """By term the entries that have it, and its weights there."""
        self._servers: dict[str, list[int]] = {}
        """By term the entries whose server it names."""
        self._count = 0
        for place, entry in enumerate(entries):
            self._add(place, entry)
            self._count += 1

    def best(self, question: str, most: int) -> list[int]:
        """The places of at most so many entries that have to do with the question, best first; ties in their order."""
        asked = [term for term in question_terms(_plain(question)) if term not in _IDLE]
        scores: dict[int, float] = {}
        covered: dict[int, float] = {}
        whole = 0.0
        for term in asked:
            variants = {word: share * self._rarity(word) for word, share in self._variants(term).items()}
            if not variants:
                continue
            full = max(variants.values())
            whole += full
            for place, score in self._scored(variants).items():
                scores[place] = scores.get(place, 0.0) + score
                covered[place] = covered.get(place, 0.0) + min(full, score)
        for place, share in covered.items():
            scores[place] *= 1 - COVERAGE + COVERAGE * share / whole
        for place in {place for term in asked for place in self._servers.get(term, ())} & scores.keys():
            scores[place] *= SERVER
        return sorted(scores, key=lambda place: (-scores[place], place))[:most]

    def _add(self, place: int, entry: CatalogueEntry) -> None:
        weights: dict[str, float] = {}
        for name, field in _FIELDS.items():
            words = Counter(terms(_plain(getattr(entry, name))))
            if name == "server":
                words = Counter(word for word in words if word not in _ANYBODYS)
                for word in words:
                    self._servers.setdefault(word, []).append(place)
            norm = 1 - field.b + field.b * words.total() / field.length
            for word, times in words.items():
                weights[word] = weights.get(word, 0.0) + field.weight * times / norm
        for word, weight in weights.items():
            known = self._places.get(word)
            if known is None:
                if len(self._places) == VOCABULARY:
                    continue
                known = self._places[word] = (array("I"), array("f"))
            known[0].append(place)
            known[1].append(weight)

    def _rarity(self, word: str) -> float:
        holders = len(self._places[word][0])
        return math.log1p((self._count - holders + 0.5) / (holders + 0.5))

    def _variants(self, term: str) -> dict[str, float]:
        """The words of the catalogue that a term of the question may mean, and their shares."""
        found = {word: SAME for word in SYNONYMS.get(term, ()) if word in self._places}
        if term in self._places:
            return {**found, term: 1.0}
        least, other = ALIKE
        if len(term) >= least:
            alike = (word for word in self._places if len(word) >= other and _begin_alike(word, term))
            found |= dict.fromkeys(alike, SAME)
        return found

    def _scored(self, variants: Mapping[str, float]) -> dict[int, float]:
        """By entry what the best of these words is worth."""
        best: dict[int, float] = {}
        for word, worth in variants.items():
            for place, weight in zip(*self._places[word], strict=True):
                score = worth * weight * (K1 + 1) / (weight + K1)
                if score > best.get(place, 0.0):
                    best[place] = score
        return best


def _begin_alike(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _plain(text: str) -> str:
    """The text with acronyms in the singular, as `PRs` is not a word of two humps, and news that are not merely new."""
    return _NEWS.sub("Newspaper", _ACRONYMS.sub(r"\1", text))
