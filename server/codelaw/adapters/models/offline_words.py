"""The words of a question worth looking for, and the searches made of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

_MOST_WORDS = 6
_QUOTED = re.compile(r"`([^`\n]{2,80})`|\"([^\"\n]{2,80})\"|'([^'\n]{2,80})'(?!\w)|“([^”\n]{2,80})”")
_WORD = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|/|-)[A-Za-z_]\w*)*(?:\(\))?|[^\W\d_]{2,}|\d{3,}")
_IDENTIFIER = re.compile(r".*(?:_|\.|::|->|/|\(\)|[a-z][A-Z]|\$|[A-Z]{2,}\d|\d).*|[A-Z]{3,}")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PARTICLES = re.compile("[的了是在哪里什么怎么吗呢和与有请如何为个这那里们我你它の はがをにでとも]+")
_ENDING = re.compile(r"(?:ations?|ings?|ed|es|s|e|ly)\Z")
_QUALIFIED = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]{2,})+")
_FILE_ENDING = re.compile(r"\.(?:[a-z]{1,3}|[jt]sx|json5?|toml|yaml|html|lock|conf|java|scss|vue|text)\Z")
_STOP_WORDS = """
    a about after again all also am an and any anybody are around as ask at be because been before being below
    between both but by can cannot class code codebase come comes could did do does doing done down each else ever
    every explain file files find folder for found from function get gets give given go goes going had happen
    happens has have having here hers how i if in into is it its itself just know let like line list look made make
    makes many may me mean means method might more most much must my need needs no not now of off on once one only
    or other our out over own place please project question repo repository said say see set should show so some
    source start still such take tell than that the their them then there these they thing this those through to
    together too under until up us use used uses using very want was way we well were what when where whether which
    while who whole why will with within without work works would you your
"""
_STOP = frozenset(_STOP_WORDS.split())
_DEFINES = "def|class|function|func|fn|const|type|interface|struct|enum|trait|module|let|var|#+"


@dataclass(frozen=True, slots=True)
class Term:
    """Something to look for; `stem` is what a line must contain, in lower case."""

    text: str
    stem: str
    exact: bool
    """An identifier or a quotation, not a plain word."""

    @property
    def weight(self) -> int:
        """How much a line that holds it is worth."""
        return 4 if self.exact else 2


def terms(question: str) -> list[Term]:
    """Quotations and identifiers first, then the rarer words, longest first; at most six of each."""
    exact = [quoted[quoted.lastindex or 0].strip() for quoted in _QUOTED.finditer(question)]
    words: list[str] = []
    for found in _WORD.findall(_QUOTED.sub(" ", question)):
        if _WIDE.search(found):
            # A text without spaces: pairs of characters, particles left out.
            parts = [part for part in _PARTICLES.split(found) if len(part) > 1]
            words += [part[at : at + 2] for part in parts for at in range(0, len(part) - 1, 2)]
        elif _IDENTIFIER.fullmatch(found):
            exact.append(found.removesuffix("()"))
        elif len(found) >= 3 and found.lower() not in _STOP:
            words.append(found)
    names: dict[str, Term] = {}
    for text in exact:
        name = _own_name(text).lower()
        if name:
            names.setdefault(name, Term(text, name, exact=True))
    rare: dict[str, Term] = {}
    for word in sorted(words, key=len, reverse=True):
        if (root := stem(word)) not in names:
            rare.setdefault(root, Term(word, root, exact=False))
    return [*list(names.values())[:_MOST_WORDS], *list(rare.values())[:_MOST_WORDS]]


def searches(wanted: Sequence[Term]) -> list[tuple[str, str]]:
    """Patterns to grep for, most telling first, each with what it looks for; case does not count."""
    names = "|".join(re.escape(term.stem) for term in wanted if term.exact)
    stems = [re.escape(term.stem) for term in wanted if not term.exact]
    any_stem = "|".join(stems)
    pairs = "|".join(f"{one}.*{two}|{two}.*{one}" for one, two in combinations(stems[:4], 2))
    found = [
        (names and rf"({_DEFINES})\s+({names})\b", "where the names in the question are defined"),
        (names, "the names in the question"),
        (pairs, "lines with two of the question's words"),
        (any_stem and rf"({_DEFINES})\s+\S*({any_stem})", "definitions and headings named after its words"),
        *((root, "a rarer word on its own") for root in stems[:3]),
    ]
    return [(pattern, purpose) for pattern, purpose in found if pattern]


def stem(word: str) -> str:
    """A plain word without its ending, so that `decided` finds `decide` and `deciding`."""
    lowered = word.lower()
    shorter = _ENDING.sub("", lowered)
    return shorter if len(shorter) >= 4 else lowered


def _own_name(text: str) -> str:
    """What a qualified name is called where it is defined: `shield` of `asyncio.shield`; file names stay whole."""
    if not _QUALIFIED.fullmatch(text) or _FILE_ENDING.search(text):
        return text
    return re.split(r"\.|::|->", text)[-1]
