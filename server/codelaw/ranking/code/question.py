"""A question about code as weighted terms (X-5).

People and models ask with a sentence, a list of names, or the text of a whole issue. The first line says what it is
about, names written as code say it most exactly, and words for what shall be done to the code say nothing of where.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from codelaw.ranking.code.digest import numbered, words
from codelaw.ranking.code.symbols import defines
from codelaw.ranking.words import number, stem

MAX_CHARS = 4_000
MAX_TERMS = 200
REST = 0.5
"""Weight of what stands below the first line."""
DONE = 0.3
"""Weight of a word that says what is done and not where."""
SPELLED = 1.5
"""Weight of a name that is written as code."""
LEAD = 2.0
"""How much more the words before a colon weigh that begin a line, as in `parser: keep comments`."""
FORMED = 0.6
"""Weight of another form of a word in a question."""
JOINED = 0.5
"""Weight of two neighbouring words as one name."""
_LEAD_CHARS = 30

_DONE = """
add added adds allow allows bug change changed changes doc docs document documented ensure feature fix fixed fixes
handle handling implement implemented improve issue make makes new now refactor remove removed removes see support
supports test tests update updated updates use used uses using first more all not only one no also because since while
find show code where function class method defined definition implementation logic place work works
"""
_NOISE = re.compile(r"https?://\S+|#\d+|\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b|<[^>\s]+@[^>\s]+>")
_SPELLED = re.compile(
    r"`+([^`\n]+)`+|\b\w+(?:(?:[._]|::|->)\w+)+\b|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*|\b[A-Z]{2,}\w*|\b\w+(?=\(\))"
)
_ASKS = re.compile(r"\s*(?:(?:in |at )?(?:where|which|what|who)|how|why|when|should|can|does)\b", re.IGNORECASE)
_EXPLAINED = re.compile(r"\s*(?:how|why|what (?:happens|is|are|does)|when|should|can|does)\b", re.IGNORECASE)
_ASKING = re.compile(
    r"\s*(?:what happens|(?:in |at )?(?:which|what) (?:file|function|method|class|module|type|part|place)s?)\b",
    re.IGNORECASE,
)
"""How something is asked, and not what about."""
_VERBS = {
    formed: verb
    for verb, forms in {
        "begin": "began begun", "bind": "bound", "break": "broke broken", "build": "built", "buy": "bought",
        "catch": "caught", "choose": "chose chosen", "draw": "drew drawn", "find": "found", "forget": "forgotten",
        "freeze": "frozen", "give": "given", "hide": "hidden", "hold": "held", "keep": "kept", "know": "known",
        "leave": "left", "lose": "lost", "overwrite": "overwritten", "rewrite": "rewritten", "run": "ran",
        "send": "sent", "show": "shown", "speak": "spoken", "spend": "spent", "take": "taken", "teach": "taught",
        "tell": "told", "think": "thought", "throw": "thrown", "undo": "undone", "wind": "wound",
        "write": "wrote written",
    }.items()
    for formed in forms.split()
}  # fmt: skip
"""The forms of verbs that do not end in -ed."""
_JOINS = re.compile(r"[A-Za-z]{2,}")


@dataclass(frozen=True)
class CodeQuestion:
    """The terms that are looked for, with their weights."""

    weights: dict[int, float]
    words: dict[int, str] = field(default_factory=dict[int, str])
    """How each was written."""
    names: frozenset[str] = frozenset()
    """Names written as code, in lower case, as a symbol would be called."""
    formed: frozenset[int] = frozenset()
    """The terms that do not stand in it, but are other forms of what does."""
    asks: bool = False
    """It is a question, and no list of names or text of a change."""
    explained: bool = False
    """An explanation is asked for, which documents give as well as code does."""

    def says(self, terms: frozenset[int]) -> bool:
        """Whether one of these stands in it."""
        return not self.weights.keys().isdisjoint(terms - self.formed)


def asked(text: str) -> CodeQuestion:
    """The terms of a question; none for one that holds no word."""
    asks = _ASKS.match(text) is not None
    explained = _EXPLAINED.match(text) is not None
    about = _ASKING.match(text)
    text = _NOISE.sub(" ", text[about.end() if about else 0 :][:MAX_CHARS])
    head, _, rest = text.strip().partition("\n")
    lead, colon, _ = head.partition(": ")
    leading = _terms(lead) if colon and len(lead) <= _LEAD_CHARS else set[int]()
    weights: dict[int, float] = {}
    written: dict[int, str] = {}
    formed: set[int] = set()
    for part, share in ((head, 1.0), (rest, REST)):
        counted: dict[int, int] = {}
        for word in words(part):
            for term in numbered(word):
                counted[term] = counted.get(term, 0) + 1
                written.setdefault(term, word)
        for term, count in counted.items():
            weight = share * float(count) ** 0.5 * (DONE if term in done_terms() else 1.0)
            if term in leading and share == 1.0:
                weight *= LEAD
            weights[term] = max(weights.get(term, 0.0), weight)
        for word in words(part) if asks else ():
            for term in _forms(word):
                if term not in weights:
                    weights[term] = FORMED * share
                    written[term] = word
                    formed.add(term)
        for one, two in pairwise(words(part)):
            if _JOINS.fullmatch(one) and _JOINS.fullmatch(two) and numbered(one) and numbered(two):
                term = number((one + two).lower())
                weights[term] = max(weights.get(term, 0.0), JOINED * share)
                written.setdefault(term, f"{one} {two}")
    spelled = [match.group(1) or match.group() for match in _SPELLED.finditer(text)]
    for term in {term for name in spelled for term in _terms(name)}:
        if term in weights:
            weights[term] = max(weights[term], min(SPELLED * weights[term], SPELLED))
    kept = dict(list(weights.items())[:MAX_TERMS])
    return CodeQuestion(
        kept,
        written,
        frozenset(_called(spelled, text)),
        formed=frozenset(formed),
        asks=asks,
        explained=explained,
    )


def _called(spelled: list[str], text: str) -> list[str]:
    """Names that symbols may have: those written as code, and the one word of a question that is one."""
    alone = [text.strip()] if len(text.split()) == 1 else []
    parts = [part for name in (*spelled, *alone) for part in re.split(r"[^\w]+", name)]
    return [part.lower() for part in parts if len(part) > 2]


def _terms(text: str) -> set[int]:
    return {term for word in words(text) for term in numbered(word)}


def _forms(word: str) -> Iterator[int]:
    """Terms that code has for what was done: `undone` asks for undo, `compressed` for a compressor."""
    verb = _VERBS.get(word)
    if verb is None and not (len(word) > 4 and word.endswith("ed") and word.isascii() and word.isalpha()):
        return
    root = stem(verb or word.lower())
    for form in (root, root + "er", root + "or", root + root[-1] + "er"):
        yield number(stem(form))


@cache
def done_terms() -> frozenset[int]:
    """The terms of words that say what is done."""
    return frozenset(_terms(_DONE))


DEFINING = 0.5
"""What a definition or a heading is worth more, as a share of a word of the question."""
_SAYS = re.compile(r"[^\W\d_]{2}")


def telling(lines: Sequence[str], question: CodeQuestion) -> int:
    """The number of the line among these; the first one of equals, and 0 where none says anything."""
    return max(range(len(lines)), key=lambda at: _worth(lines[at], question), default=0)


def _worth(line: str, question: CodeQuestion) -> float:
    if _SAYS.search(line) is None:
        return -1.0
    held = {term for word in words(line) for term in numbered(word)}
    return sum(question.weights.get(term, 0.0) for term in held) + DEFINING * defines(line)


@dataclass(frozen=True)
class Hints:
    """By path."""

    said: Mapping[str, float] = field(default_factory=dict[str, float])
    """What commits say of files (`hints.reported`)."""
    near: Mapping[str, npt.NDArray[np.float32]] = field(default_factory=dict[str, npt.NDArray[np.float32]])
    """What each of their chunks is worth by its vector, 0 to 1 (`nearness.nearest`)."""


NONE = Hints()
