"""What was found of texts, kept within bounds."""

from __future__ import annotations

from codelaw.context.tokens import Memo


def test_it_forgets_before_it_holds_too_much() -> None:
    memo = Memo[str, int](limit=1000)
    for number in range(50):
        assert memo.keep(f"{number:>100}", number) == number
    known = [number for number in range(50) if memo.find(f"{number:>100}") is not None]
    assert known[-1] == 49
    assert len(known) <= 11


def test_several_texts_are_a_key_too_and_all_count() -> None:
    memo = Memo[tuple[str, ...], int](limit=1000)
    for number in range(50):
        memo.keep(("a" * 60, f"{number:>40}"), number)
    known = [number for number in range(50) if memo.find(("a" * 60, f"{number:>40}")) is not None]
    assert known[-1] == 49
    assert len(known) <= 11
