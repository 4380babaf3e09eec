"""From two texts to the parts that differ (F-4)."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from codelaw.adapters.workspace.overlay import splices
from codelaw.domain.edits import Splice, spliced

PIECES = ["a\n", "b\n", "c\r\n", "😀\n", "é", "\r", "\n", "\r\n", "", "x\u2028y\n", "long line of text\n"]


@pytest.mark.parametrize("seed", range(300))
def test_the_parts_make_the_new_text_and_do_not_touch(seed: int) -> None:
    chance = random.Random(seed)
    old = [chance.choice(PIECES) for _ in range(chance.randrange(12))]
    new = [piece for piece in old if chance.random() < 0.8]
    for _ in range(chance.randrange(4)):
        new.insert(chance.randrange(len(new) + 1), chance.choice(PIECES))
    before, after = "".join(old), "".join(new)
    parts = splices(before, after)
    assert spliced(before, parts) == after
    assert all(one.end < other.start for one, other in pairwise(parts))
    for part in parts:
        for place in (part.start, part.end):
            assert before[place - 1 : place + 1] != "\r\n" or place == 0, "no place between the two of one break"


def test_only_what_differs_is_replaced() -> None:
    before = "def f(x):\n    return x\n\nend\n"
    assert splices(before, before) == ()
    assert splices(before, before.replace("return x", "return x + 1")) == (Splice(22, 22, " + 1"),)
    two = splices(before, before.replace("f(x)", "g(x)").replace("end", "the end"))
    assert [(part.end - part.start, part.text) for part in two] == [(1, "g"), (0, "the ")]
