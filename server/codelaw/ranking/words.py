"""Words that are searched for: of texts and of questions, in prose, code and scripts without spaces (B-5).

A text becomes a sequence of terms: stems of English words, the parts of identifiers and their whole (`snake_case`,
`camelCase`), and for scripts that put no spaces between words each letter and each pair of neighbours (bigrams, as
Lucene's CJKAnalyzer does). An index keeps terms as numbers of 32 bits: with some ten thousand different terms in a chat
two of them share a number about once in a hundred chats, which costs a little order and no correctness.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from array import array
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

MAX_QUESTION_CHARS = 4_000
"""Of a longer question only the beginning and the end are searched for."""
MAX_QUESTION_TERMS = 64

# Words that say how something is asked, not what about.
_STOP = frozenset(
    """
    a an and are as at be but by did do does for from had has have how i if in is it its of on or s t that the their
    them they this to was were what when where which who why will with would you your said shared me my we our us
    so than then there these those am been being can could should may might must shall about into over any some
    he she his her him also just whom whose ll re ve d m don didn doesn isn wasn
    """.split()  # noqa: SIM905 - a list of eighty quoted words is nothing to read
)
_WORD = re.compile(r"[^\W_]+(?:_+[^\W_]+)*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Han, Hiragana, Katakana, Hangul, Thai, Lao, Khmer, Burmese: written without spaces between words, or with few.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)


def terms(text: str) -> list[str]:
    """The terms of a text, in order, without those that only ask."""
    return [term for word in _words(text) if word.lower() not in _STOP for term in _of_word(word)]


def question_terms(question: str) -> list[str]:
    """The different terms of a question, at most `MAX_QUESTION_TERMS`; when all only ask, those."""
    if len(question) > MAX_QUESTION_CHARS:
        half = MAX_QUESTION_CHARS // 2
        question = f"{question[:half]} {question[-half:]}"
    words = [(term, word) for word in _words(question) for term in _of_word(word)]
    kept = [term for term, word in words if word.lower() not in _STOP and not _letter_of_run(term, word)]
    return list(dict.fromkeys(kept or [term for term, _ in words]))[:MAX_QUESTION_TERMS]


def number(term: str) -> int:
    """The term as 32 bits."""
    return zlib.crc32(term.encode("utf-8", "surrogatepass"))


def packed(text: str) -> bytes:
    """The terms of a text as numbers, little-endian, in order."""
    numbers = array("I", map(number, terms(text)))
    if numbers.itemsize != 4:  # pragma: no cover - a C compiler with another idea of int
        numbers = array("L", numbers)
    if _BIG_ENDIAN:  # pragma: no cover - no such machine here
        numbers.byteswap()
    return numbers.tobytes()


_BIG_ENDIAN = array("H", [1]).tobytes()[0] == 0


def _words(text: str) -> Iterator[str]:
    normal = unicodedata.normalize("NFKC", text) if not text.isascii() else text
    for match in _WORD.finditer(normal):
        word = match.group()
        if word.isascii():
            yield word
            continue
        end = 0
        for run in _UNSPACED.finditer(word):
            yield from filter(None, (word[end : run.start()], run.group()))
            end = run.end()
        if end < len(word):
            yield word[end:]


def _of_word(word: str) -> Iterator[str]:
    if not word.isascii() and _UNSPACED.match(word):
        yield from word
        yield from map("".join, pairwise(word))
        return
    if word.islower() and word.isalnum():
        yield stem(_plain(word))
        return
    parts = [part for piece in word.split("_") for part in _HUMP.split(piece) if part]
    for part in parts:
        yield stem(_plain(part))
    if len(parts) > 1:
        yield "".join(parts).lower()


def _plain(word: str) -> str:
    """Lower case, without accents."""
    if word.isascii():
        return word.lower()
    apart = unicodedata.normalize("NFD", word.casefold())
    return unicodedata.normalize("NFC", "".join(letter for letter in apart if not unicodedata.combining(letter)))


def _letter_of_run(term: str, word: str) -> bool:
    """A single letter of a longer run: its pairs tell more."""
    return len(term) == 1 < len(word) and _UNSPACED.match(word) is not None


_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip
_LONGEST = 40


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The stem of a lower-case word; what is not English letters, or very short or long, stays as it is."""
    if not 3 <= len(word) <= _LONGEST or not (word.isascii() and word.isalpha()):
        return word
    return _step_5(_suffix_4(_replaced(_replaced(_step_1(word), _STEP_2), _STEP_3)))


def _consonants(word: str) -> str:
    """Each letter as `c` or `v`; a y after a consonant is a vowel."""
    kinds = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and kinds.endswith("c"))
        kinds += "v" if vowel else "c"
    return kinds


def _measure(stem_: str) -> int:
    """How often vowels are followed by consonants."""
    return _consonants(stem_).count("vc")


def _has_vowel(stem_: str) -> bool:
    return "v" in _consonants(stem_)


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeiou"


def _short_end(word: str) -> bool:
    """Consonant, vowel, consonant that is not w, x or y."""
    return _consonants(word).endswith("cvc") and word[-1] not in "wxy"


def _step_1(word: str) -> str:
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        if _measure(word[:-3]) > 0:
            word = word[:-1]
    else:
        for suffix in ("ed", "ing"):
            if word.endswith(suffix):
                if _has_vowel(word[: -len(suffix)]):
                    word = _mended(word[: -len(suffix)])
                break
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    return word


def _mended(word: str) -> str:
    """What is left when -ed or -ing is gone, made a word again."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _doubled(word) and word[-1] not in "lsz":
        return word[:-1]
    return word + "e" if _measure(word) == 1 and _short_end(word) else word


def _replaced(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    for suffix, other in rules:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + other if _measure(rest) > 0 else word
    return word


def _suffix_4(word: str) -> str:
    for suffix in sorted(_STEP_4, key=len, reverse=True):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if _measure(rest) > 1 and (suffix != "ion" or rest.endswith(("s", "t"))):
                return rest
            return word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        if _measure(rest) > 1 or (_measure(rest) == 1 and not _short_end(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
