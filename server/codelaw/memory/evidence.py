"""Whether a memory has anything in common with a question (B-6).

Evidence is a shared content word, name or identifier, or a similarity that stands out from what the embedder in use
gives to texts that have nothing in common with the question (`memory/background`). Words are compared by stems;
where no spaces are written, by pairs of letters; in Vietnamese, whose words are mostly two syllables, by pairs of
syllables and by the syllables that are words alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, pairwise
from math import sqrt

from codelaw.domain.memories import Candidate
from codelaw.memory import stop_words
from codelaw.ranking.words import stem

QUESTION_TERMS = 24
"""Of a question that count, from its beginning and its end: a pasted log must not drown what was asked."""
LONG_QUESTION = 12
"""From so many words on, a question shares one with many texts by chance: then two are evidence, or a name."""
_GRAM = 5
"""Letters of scripts like Thai that are compared at once: pairs of them are not words."""

_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
# Vowel signs and points of Hebrew, Arabic and the scripts of India are not letters to `\w`.
_LETTERS = r"(?:[^\W_]|[\u0591-\u05c7\u064b-\u065f\u0900-\u0dff])+"
_TOKEN = re.compile(rf"[A-Za-z](?:\+\+|#)(?!\w)|[{_UNSPACED}]+|{_LETTERS}(?:_+{_LETTERS})*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SCRIPTS = (
    ("han", re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")),
    ("hiragana", re.compile("[\u3040-\u309f]")),
    ("kana", re.compile("[\u30a0-\u30ff\u31f0-\u31ff]")),
    ("hangul", re.compile("[\uac00-\ud7af]")),
    ("unspaced", re.compile(f"[{_UNSPACED}]")),
)
_VIETNAMESE_LETTER = re.compile("[ăđơưĂĐƠƯ\u1ea0-\u1ef9]")
_PHRASES = "|".join(sorted((*stop_words.CHINESE, *stop_words.JAPANESE), key=lambda word: (-len(word), word)))
_EMPTY_HAN = re.compile(f"{_PHRASES}|[{stop_words.CHINESE_LETTERS}]")
_SENTENCE_END = re.compile(r"(?:\A|[.!?:;\n。！？：；*>-])[\s\"'“”‘’(`*_#>-]*\Z")
_BEFORE = 12
"""Characters before a word that show whether a sentence begins there."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a text is about, as terms to be compared."""

    words: frozenset[str] = frozenset()
    """Content words, in all the scripts."""
    names: frozenset[str] = frozenset()
    """Of them, names and identifiers."""
    work: frozenset[str] = frozenset()
    """Words of which every conversation about programs is full."""
    plain: frozenset[str] = frozenset()
    """Vietnamese pairs without accents, as somebody may have typed them; of a question in Latin letters all pairs."""


@lru_cache(maxsize=4096)
def content(text: str) -> Content:
    """The terms of a memory."""
    return _sorted_out(_terms(text))


@lru_cache(maxsize=64)
def asked_about(question: str) -> Content:
    """The terms of a question, at most `QUESTION_TERMS`."""
    found = list(dict.fromkeys(_terms(question)))
    half = QUESTION_TERMS // 2
    if len(found) > QUESTION_TERMS:
        found = [*found[:half], *found[-half:]]
    if not _VIETNAMESE_LETTER.search(question):
        plain = [word.lower() for word in _TOKEN.findall(question[:400])]
        found += [("plain", f"{one} {other}") for one, other in pairwise(plain)]
    return _sorted_out(found)


def evidence(question: Content, text: str) -> bool:
    """Whether the words of a text have to do with the question."""
    known = content(text)
    if question.plain & known.plain:
        return True
    shared = question.words & known.words
    length = sum(0.5 if _is_pair(word) else 1.0 for word in question.words)
    if shared:
        return length < LONG_QUESTION or len(shared) > 1 or bool(shared & question.names)
    return len(question.work & known.work) > 1 and length < LONG_QUESTION / 2


def evident(candidates: Iterable[Candidate], question: str, floor: float | None) -> list[Candidate]:
    """Those of `candidates` that have something in common with the question, in their order.

    `floor` is the cosine from which a similarity is evidence; None where none was shown to mean anything. The
    similarity of a candidate is at least what its shared words make it.
    """
    about = asked_about(question)
    found: list[Candidate] = []
    for one in candidates:
        near = floor is not None and one.cosine is not None and one.cosine >= floor
        if near or evidence(about, one.memory.text):
            found.append(replace(one, similarity=max(one.similarity, overlap(about, one.memory.text))))
    return found


def overlap(question: Content, text: str) -> float:
    """How alike a question and a text are by their terms, from 0 to 1: shared terms over the mean of both counts."""
    known = content(text)
    mine = question.words | question.work | (question.plain & known.plain)
    theirs = known.words | known.work
    both = len(mine & theirs) + len(question.plain & known.plain)
    return min(1.0, both / sqrt(len(mine) * len(theirs))) if mine and theirs else 0.0


def _sorted_out(terms: Iterable[tuple[str, str]]) -> Content:
    kinds: dict[str, set[str]] = {"word": set(), "name": set(), "work": set(), "plain": set()}
    for kind, term in terms:
        kinds[kind].add(term)
    names = frozenset(kinds["name"])
    return Content(frozenset(kinds["word"]) | names, names, frozenset(kinds["work"]), frozenset(kinds["plain"]))


def _is_pair(term: str) -> bool:
    return len(term) == 2 and not term.isascii()


def _terms(text: str) -> Iterator[tuple[str, str]]:
    """Kind and term, in order: `word`, `name`, `work` or `plain`. Hiragana, the script of Japanese grammar, is none."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    if _VIETNAMESE_LETTER.search(text):
        yield from _vietnamese(text)
        return
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token.isascii():
            yield from _latin(token, text[max(0, match.start() - _BEFORE) : match.start()])
            continue
        for script, letters in groupby(token, _script):
            yield from _of_script(script, "".join(letters))


def _script(letter: str) -> str:
    """Which of `_SCRIPTS` it is of; empty for those that write spaces between words."""
    return "" if letter.isascii() else next((name for name, letters in _SCRIPTS if letters.match(letter)), "")


def _of_script(script: str, run: str) -> Iterator[tuple[str, str]]:
    if script == "han":
        for piece in _EMPTY_HAN.split(run):
            for one, other in pairwise(piece):
                yield ("work" if one + other in stop_words.CHINESE_WORK else "word"), one + other
    elif script == "kana" and len(run) > 1:
        yield "word", run
    elif script == "hangul" and len(run) > 1 and run[:2] not in stop_words.KOREAN:
        yield "word", run[:2]
    elif script == "unspaced":
        yield from (("word", run[start : start + _GRAM]) for start in range(len(run) - _GRAM + 1))
    elif not script:
        yield from _latin(run, "a ")


def _latin(token: str, before: str) -> Iterator[tuple[str, str]]:
    """A word or an identifier of a script that writes spaces."""
    lower = token.casefold()
    if token[-1] in "+#":
        yield "name", lower
    elif len(token) == 1:
        if token.isupper() and lower not in {"i", "a"}:
            yield "name", f"={token}"
    elif token.isdigit():
        if len(token) > 2:
            yield "name", token
    elif lower in stop_words.STOP:
        if token.istitle() and not _SENTENCE_END.search(before):
            yield "name", f"={token}"
    else:
        parts = [part for piece in token.split("_") for part in _HUMP.split(piece) if part]
        whole = len(parts) > 1 or any(map(str.isdigit, token))
        for part in parts:
            yield from _word(part, before if len(parts) == 1 else "")
        if whole:
            yield "name", "".join(parts).casefold()


def _word(word: str, before: str) -> Iterator[tuple[str, str]]:
    lower = word.casefold()
    if len(lower) < 2 or lower.isdigit() or lower in stop_words.STOP:
        return
    root = stem(_plain(lower))
    if lower in stop_words.WORK or root in _WORK_STEMS:
        yield "work", root
    elif word[0].isupper() and before and not _SENTENCE_END.search(before):
        yield "name", root
    else:
        yield "word", root


_WORK_STEMS = frozenset(map(stem, stop_words.WORK))


def _vietnamese(text: str) -> Iterator[tuple[str, str]]:
    """Pairs of syllables that stand together, with and without accents, and those that are words alone."""
    before = ""
    end = -1
    for match in _TOKEN.finditer(unicodedata.normalize("NFC", text)):
        token = match.group()
        syllable = token.casefold()
        empty = syllable in stop_words.VIETNAMESE
        together = before and match.string[end : match.start()].isspace()
        if together and not (empty and before in stop_words.VIETNAMESE):
            pair = f"{before} {syllable}"
            if pair not in stop_words.VIETNAMESE_PAIRS and not empty and before not in stop_words.VIETNAMESE:
                kind = "work" if pair in stop_words.VIETNAMESE_WORK else "word"
                yield kind, pair
                if kind == "word":
                    yield "plain", _plain(pair)
        if token.isascii() and not empty and syllable not in stop_words.VIETNAMESE_PARTS:
            yield from _latin(token, "a ")
        elif not empty and syllable not in stop_words.VIETNAMESE_PARTS:
            yield "word", syllable
        before, end = syllable, match.end()


def _plain(word: str) -> str:
    """Without accents."""
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    bare = "".join(letter for letter in apart if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", bare).replace("đ", "d")
