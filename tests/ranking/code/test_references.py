"""Who uses whom (X-5)."""

from __future__ import annotations

import numpy as np
import pytest

from codelaw.ranking.code.digest import Digest, digested
from codelaw.ranking.code.frame import MOST_DEFINERS, references


def digests(*texts: str) -> list[Digest]:
    return [digested(f"file_{at}.py", text) for at, text in enumerate(texts)]


def test_a_file_is_worth_what_its_users_are() -> None:
    known = references(
        digests("def frobnicate(): pass\n", "from file_0 import frobnicate\n", "frobnicate()\n", "nothing = 1\n")
    )
    assert known.standing.tolist() == pytest.approx([np.log(3), 0, 0, 0])
    assert known.mean(np.array([9.0, 2.0, 4.0, 7.0])).tolist() == pytest.approx([3.0, 0, 0, 0])


def test_a_name_that_many_define_says_nothing() -> None:
    known = references(digests(*["def main(): pass\n"] * (MOST_DEFINERS + 1), "main()\n"))
    assert not known.standing.any()
    assert not len(known.users)
