"""From which cosine on a similarity is evidence, for embedders of many kinds (B-6)."""

from __future__ import annotations

import random
import struct

import pytest

from codelaw.adapters.embedders.hashing import embed
from codelaw.memory.background import QUESTIONS, SENTENCES, measured, texts

LANGUAGES = len(SENTENCES)


def unit(values):
    length = sum(value * value for value in values) ** 0.5
    return struct.pack(f"<{len(values)}f", *(value / length for value in values))


def model(*, shared=0.0, tongue=0.0, knows=frozenset(range(LANGUAGES)), size=256):
    """Vectors of an embedder that finds out what questions in some languages are about.

    `shared` is what all its vectors have in common, with 3 unrelated texts have a cosine of about 0.9; `tongue` what
    those of one language have in common besides.
    """
    chance = random.Random(3)

    def noise():
        return [shared * size**0.5, *(chance.gauss(0, 1) for _ in range(size))]

    sentences = [[noise() for _ in group] for group in SENTENCES]
    for language, group in enumerate(sentences):
        for one in group:
            one[1 + language] += tongue
    asked = [
        [
            [sum(pair) for pair in zip(sentences[language][place], noise(), strict=True)]
            if language in knows
            else noise()
            for _, place in group
        ]
        for language, group in enumerate(QUESTIONS)
    ]
    return sentences, [unit(one) for group in (*sentences, *asked) for one in group]


@pytest.mark.parametrize("shared", [0.0, 1.0, 3.0])
def test_what_stands_out_is_evidence_whatever_the_model_gives_to_unrelated_texts(shared):
    sentences, vectors = model(shared=shared)
    chance = measured(vectors)
    assert chance.means == (True,) * LANGUAGES
    numbers = random.Random(4)
    about = sentences[0][3]
    asked = [value + numbers.gauss(0, 0.5) for value in about]
    asked[0] = about[0]
    floor = chance.floor(unit(asked))
    assert floor is not None
    assert dot(unit(asked), unit(about)) > floor
    others = [one for group in sentences for one in group if one is not about]
    assert not any(dot(unit(asked), unit(one)) >= floor for one in others)


def test_a_language_in_which_nothing_is_found_out_has_no_evidence():
    sentences, vectors = model(tongue=10.0, knows=frozenset({0}))
    chance = measured(vectors)
    assert chance.means == (True, False, False, False)
    assert chance.floor(unit(sentences[2][1])) is None
    assert chance.floor(unit(sentences[0][1])) is not None


def test_the_built_in_embedder_compares_words_and_finds_out_nothing():
    assert measured([embed(text, 512) for text in texts()]).means == (False,) * LANGUAGES


def dot(one, other):
    count = len(one) // 4
    pairs = zip(struct.unpack(f"<{count}f", one), struct.unpack(f"<{count}f", other), strict=True)
    return sum(left * right for left, right in pairs)
