"""Whether all that was written of a chat is still there, and in its order (D-1).

Rows that damage has swallowed are not read at all: what is missing is known by the number of each message in its turn,
and by how many a turn and a chat have had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

from codelaw.adapters.stores.rows.codec import legible

Row = tuple[Any, ...]

_TURN, _NUMBER = 1, 6
"""Of a message's row, as `Reading.message` takes it."""
_TURN_NUMBER = 7
"""Of a turn's row."""


def in_order(messages: Sequence[Row]) -> list[Row]:
    """Messages by turns, each turn's in the order in which they were said."""
    ordered: list[Row] = []
    for _, some in groupby(messages, lambda row: row[_TURN]):
        together = list(some)
        numbers = [row[_NUMBER] for row in together]
        if all(type(number) is int for number in numbers) and any(one > other for one, other in pairwise(numbers)):
            together.sort(key=lambda row: row[_NUMBER])
        ordered += together
    return ordered


def missing(said: Mapping[Any, Any], messages: Sequence[Row]) -> Iterator[str]:
    """What is missing of turns, in words for a person; `said` are the messages of each turn by its id."""
    there = Counter(row[_TURN] for row in messages)
    for turn_id, count in said.items():
        lost = count - there[turn_id] if type(count) is int else 0
        if lost > 0:
            yield f"{_many(lost, 'message')} of turn {legible(turn_id)}, missing"


def missing_turns(begun: Any, turns: Sequence[Row]) -> Iterator[str]:
    """What is missing of a chat that has had so many turns."""
    lost = begun - len(turns) if type(begun) is int else 0
    if lost > 0:
        yield f"{_many(lost, 'turn')}, missing"
    numbers = [row[_TURN_NUMBER] for row in turns if type(row[_TURN_NUMBER]) is int]
    if any(one > other for one, other in pairwise(numbers)):
        yield "the order of the turns"


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
