"""What was found of texts, kept within bounds."""

from __future__ import annotations

from codelaw.context.memo import Memo


def test_a_text_is_looked_at_once() -> None:
    seen: list[str] = []

    def length(text: str) -> int:
        seen.append(text)
        return len(text)

    memo = Memo(length, limit=1000)
    assert [memo.of("one"), memo.of("one"), memo.of("other")] == [3, 3, 5]
    assert seen == ["one", "other"]


def test_it_forgets_before_it_holds_too_much() -> None:
    memo = Memo(len, limit=1000)
    for number in range(50):
        assert memo.of(f"{number:>100}") == 100
    assert sum(map(len, memo._known)) <= 1100


def test_several_texts_are_a_key_too_and_all_count() -> None:
    memo = Memo("".join, limit=1000)
    for number in range(50):
        assert memo.of(("a" * 60, f"{number:>40}")) == "a" * 60 + f"{number:>40}"
    assert sum(len(one) + len(other) for one, other in memo._known) <= 1100
