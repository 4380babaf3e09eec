"""Which entries of a catalogue answer a question, by the words of their fields (X-11).

BM25 over weighted fields (Robertson, Zaragoza & Taylor, "Simple BM25 Extension to Multiple Weighted Fields", 2004).
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from codelaw.ranking.words import question_terms, terms


@dataclass(frozen=True, slots=True)
class Entry:
    """What can be found, by fields."""

    name: str
    server: str = ""
    description: str = ""
    arguments: str = ""
    """Their names."""
    remarks: str = ""
    """What is said of them."""


FIELDS = {
    "name": (3.0, 0.3),
    "server": (2.0, 0.0),
    "description": (1.0, 0.6),
    "arguments": (0.6, 0.6),
    "remarks": (0.3, 0.7),
}
"""By field what a word in it counts, and how much long ones are marked down."""
K1 = 1.2


class Catalogue:
    """Entries, made ready to be searched. Never changed."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        documents = [{field: Counter(terms(getattr(entry, field))) for field in FIELDS} for entry in entries]
        self._count = len(documents)
        lengths = {
            field: max(1.0, sum(one[field].total() for one in documents) / max(1, self._count)) for field in FIELDS
        }
        self._places: dict[str, tuple[array[int], array[float]]] = {}
        for place, fields in enumerate(documents):
            weights: dict[str, float] = {}
            for field, (weight, b) in FIELDS.items():
                norm = 1 - b + b * fields[field].total() / lengths[field]
                for term, times in fields[field].items():
                    weights[term] = weights.get(term, 0.0) + weight * times / norm
            for term, weight in weights.items():
                known = self._places.get(term) or self._places.setdefault(term, (array("I"), array("f")))
                known[0].append(place)
                known[1].append(weight)

    def best(self, question: str, most: int) -> list[int]:
        """The places of the entries that share a word with the question, best first; ties as they were given."""
        scores = array("d", bytes(8 * self._count))
        for term in question_terms(question):
            if term in self._places:
                places, weights = self._places[term]
                rarity = math.log1p((self._count - len(places) + 0.5) / (len(places) + 0.5))
                for place, weight in zip(places, weights, strict=True):
                    scores[place] += rarity * weight * (K1 + 1) / (weight + K1)
        found = [place for place, score in enumerate(scores) if score > 0]
        return sorted(found, key=lambda place: -scores[place])[:most]
