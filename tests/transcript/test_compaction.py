import pytest

from codelaw.domain.messages import Message
from codelaw.transcript.transcript import Round, cut, due


@pytest.mark.parametrize(
    ("used", "asked", "messages", "fires"),
    [
        (159_999, 0, 10, False),
        (160_000, 0, 10, True),
        (159_990, 9, 10, False),
        (159_990, 10, 10, True),
        (200_000, 0, 2, False),
        (200_000, 0, 3, True),
        (0, 160_000, 3, True),
    ],
)
def test_the_trigger_is_exact(used: int, asked: int, messages: int, fires: bool):
    assert due(used, asked, window=200_000, threshold=0.8, messages=messages, min_messages=3) is fires


def test_a_threshold_that_binary_fractions_miss_is_still_exact():
    assert due(55_000, 0, window=100_000, threshold=0.55, messages=3, min_messages=3)
    assert not due(54_999, 0, window=100_000, threshold=0.55, messages=3, min_messages=3)


def rounds_of(*sizes: int) -> list[Round]:
    return [Round(str(size), (Message("m", str(size), "user", "x" * size),)) for size in sizes]


def size(round_: Round) -> int:
    return len(round_.messages[0].content)


@pytest.mark.parametrize(
    ("sizes", "keep", "room", "kept"),
    [
        ((10, 20, 30, 40), 2, 0, 2),
        ((10, 20, 30, 40), 2, 89, 2),
        ((10, 20, 30, 40), 2, 90, 3),
        ((10, 20, 30, 40), 2, 100, 4),
        ((10, 20, 30, 40), 9, 0, 4),
        ((10, 20, 30, 40), 1, 5, 1),
        ((50, 1, 1, 1), 1, 10, 3),
    ],
)
def test_the_newest_rounds_stay_and_more_while_they_fit(sizes: tuple[int, ...], keep: int, room: int, kept: int):
    rounds = rounds_of(*sizes)
    parted = cut(rounds, keep=keep, room=room, sizes={round_.turn_id: size(round_) for round_ in rounds})
    assert parted.kept == tuple(rounds[-kept:])
    assert parted.archived + parted.kept == tuple(rounds)
