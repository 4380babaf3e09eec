"""What was found of texts, kept within bounds."""

from __future__ import annotations

from typing import Any

import pytest

from codelaw.context.tokens import Memo


@pytest.mark.parametrize("several", [False, True])
def test_what_was_found_is_known_and_forgotten_before_too_much_is_held(several: bool) -> None:
    memo: Memo[Any, int] = Memo(limit=1000)
    keys = [("a" * 60, f"{number:>40}") if several else f"{number:>100}" for number in range(50)]
    made: list[Any] = []

    def make(key: Any) -> int:
        made.append(key)
        return keys.index(key)

    assert [memo.get(key, make) for key in (*keys, keys[-1], *keys)] == [*range(50), 49, *range(50)]
    assert made[:51] == [*keys, keys[0]], "the newest was known, the oldest forgotten"
    assert len(made) >= 90
