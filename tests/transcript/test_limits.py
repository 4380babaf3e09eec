"""How many user turns a chat shows (H-5)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codelaw.domain.messages import Message
from codelaw.transcript.repair.hygiene import hygiene, limited, turn_limit
from codelaw.transcript.repair.repairs import Repairs
from tests.transcript.histories import acted, answered, asked, noted, observed, wellformed, whole_turn

LIMITS = [
    ("panel", {}, 0),
    ("panel", {"panel": 20}, 20),
    ("panel", {"panel": 20, "panel:c1": 5}, 5),
    ("panel", {"panel": 20, "panel:c1": 0}, 0),
    ("panel", {"panel": 20, "panel:c2": 5}, 20),
    ("panel", {"headless": 3}, 0),
    ("panel", {"panel": -1}, 0),
    ("inline:file:///a.py", {"inline": 4}, 4),
    ("inline:file:///a.py", {"inline": 4, "inline:file:///a.py": 2}, 2),
    ("inline:file:///a.py", {"inline": 4, "inline:c1": 3}, 3),
    ("inline:file:///a.py", {"inline:c1": 3, "inline:file:///a.py": 2}, 2),
    ("inline:file:///b.py", {"inline": 4, "inline:file:///a.py": 2}, 4),
    ("inline:", {"inline:": 1, "inline:c1": 3}, 3),
    ("shared:team/x", {"shared:c1": 3, "shared:team/x": 2}, 2),
]


@pytest.mark.parametrize(("kind", "limits", "expected"), LIMITS)
def test_what_is_set_for_a_chat_beats_what_is_set_for_its_kind(kind: str, limits: Mapping[str, int], expected: int):
    assert turn_limit(kind, "c1", limits) == expected


@pytest.mark.parametrize("turns", [0, -3, 3, 4])
def test_a_history_within_its_limit_is_the_same_object(turns: int):
    history = [*whole_turn("t1"), *whole_turn("t2"), *whole_turn("t3")]
    assert limited(history, turns) == (history, Repairs())
    assert limited(history, turns)[0] is history


def test_the_newest_turns_stay_whole():
    history = [message for number in range(5) for message in whole_turn(f"t{number}", ["a", "b"], ["c"])]
    after, repairs = limited(history, 2)
    assert list(after) == [*whole_turn("t3", ["a", "b"], ["c"]), *whole_turn("t4", ["a", "b"], ["c"])]
    assert repairs == Repairs(limited=3 * 7)


def test_a_steer_begins_no_turn():
    newest = [asked("t2"), acted("t2", 1, "a"), observed("t2", "a"), noted("t2", 1), noted("t2", 2), answered("t2")]
    after, _ = limited([*whole_turn("t1"), *newest], 1)
    assert list(after) == newest


def test_summaries_stay():
    summaries = [Message(f"s{number}", "", "summary", "## Archived") for number in range(2)]
    after, repairs = limited([summaries[0], *whole_turn("t1"), summaries[1], *whole_turn("t2")], 1)
    assert list(after) == [*summaries, *whole_turn("t2")]
    assert repairs == Repairs(limited=2)
    assert limited(after, 1)[0] is after


@settings(max_examples=100, deadline=None)
@given(wellformed(), st.integers(0, 7))
def test_a_limited_history_is_the_newest_end_of_the_whole_one(history: list[Message], turns: int):
    after, repairs = hygiene(history, turns)
    summaries = [message for message in history if message.role == "summary"]
    rest = [message for message in after if message.role != "summary"]
    assert [message for message in after if message.role == "summary"] == summaries
    assert rest == history[len(history) - len(rest) :]
    asked_for = [message.turn_id for message in history if message.id.startswith("ask_")]
    assert [message.turn_id for message in rest if message.id.startswith("ask_")] == asked_for[-turns:]
    assert repairs == Repairs(limited=len(history) - len(after))
    assert hygiene(after, turns)[0] is after
