"""Whatever a record holds, what is sent of it is well-formed; properties of random histories (H-1 to H-3)."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from codelaw.domain.messages import Message
from codelaw.transcript.repair.hygiene import MISSING, hygiene, paired
from codelaw.transcript.repair.repairs import Repairs, sanitised
from tests.transcript.histories import (
    MARK,
    acted,
    answered,
    anything,
    asked,
    misplaced,
    noted,
    observed,
    wellformed,
    whole_turn,
)
from tests.transcript.wire import DIALECTS, problem, wire

ROOT = Path(__file__).parents[2]
THOROUGH = settings(max_examples=150, deadline=None)
QUICK = settings(max_examples=60, deadline=None)
LIMITS = st.sampled_from([0, 0, 1, 2, 3])


def check_pairs(messages: Sequence[Message]) -> None:
    """Every call has exactly one result, right behind its message and in the order of its calls."""
    expected: list[str] = []
    used: set[str] = set()
    for message in messages:
        if message.role == "tool":
            assert expected
            assert message.metadata.call_id == expected.pop(0)
            continue
        assert not expected
        if message.role == "assistant":
            expected = [call.id for call in message.metadata.calls]
            assert used.isdisjoint(expected)
            assert len(set(expected)) == len(expected)
            used.update(expected)
    assert not expected


def user_words(messages: Sequence[Message]) -> list[str]:
    """What users said, marked as such, wherever in the content of their messages it stands."""
    found: list[str] = []
    for message in messages:
        if message.role == "user":
            found += message.content.split(MARK)[1::2]
    return found


@THOROUGH
@given(anything, LIMITS)
def test_after_hygiene_every_call_has_exactly_one_result_right_behind_it(history: list[Message], limit: int):
    check_pairs(hygiene(history, limit)[0])


@THOROUGH
@given(anything, LIMITS)
def test_after_hygiene_both_dialects_spell_what_a_strict_vendor_takes(history: list[Message], limit: int):
    assert problem(hygiene(history, limit)[0]) is None


@THOROUGH
@given(anything, LIMITS)
def test_what_was_repaired_needs_no_repair_again(history: list[Message], limit: int):
    once, _ = hygiene(history, limit)
    twice, repairs = hygiene(once, limit)
    assert twice is once
    assert not repairs


@THOROUGH
@given(wellformed())
def test_a_healthy_history_comes_back_as_the_same_object(history: list[Message]):
    kept = tuple(history)
    after, repairs = hygiene(kept)
    assert after is kept
    assert not repairs


@THOROUGH
@given(anything)
def test_nothing_a_user_said_is_lost(history: list[Message]):
    after = hygiene(history)[0]
    assert set(user_words(history)) <= set(user_words(after))
    for dialect in DIALECTS:
        spelt = json.dumps(wire(after, dialect), ensure_ascii=False)
        assert all(words in spelt for words in user_words(history))


@THOROUGH
@given(misplaced)
def test_the_counts_add_up(history: list[Message]):
    clean, _ = sanitised(history)
    after, done = paired(clean)
    results = [message for message in clean if message.role == "tool"]
    kept = [message for message in after if message.role == "tool"]
    assert len(results) - done["dropped_duplicate"] - done["dropped_orphan"] + done["added"] == len(kept)
    assert sum(message.content == MISSING for message in kept) == done["added"]
    assert (after is clean) == (not done)
    calls = sum(len(message.metadata.calls) for message in clean)
    assert sum(len(message.metadata.calls) for message in after) == calls - done["removed_calls"] == len(kept)


@QUICK
@given(misplaced, st.booleans())
def test_a_new_turn_changes_nothing_of_what_was_repaired_before(history: list[Message], reuse: bool):
    later = whole_turn("later", ["a", "call_1"] if reuse else ["l1", "l2"])
    before = [(message.role, message.content, message.metadata) for message in hygiene(history)[0]]
    after = [(message.role, message.content, message.metadata) for message in hygiene([*history, *later])[0]]
    assert after[: len(before)] == before or not history
    assert len(after) == len(before) + len(later)


PROGRAM = """
import pickle, sys
from codelaw.transcript.repair.hygiene import hygiene
print(ascii(hygiene(pickle.load(sys.stdin.buffer))))
"""


def broken_example() -> list[Message]:
    """A history with something of everything that can be wrong."""
    return [
        observed("t0", "gone"),
        acted("t1", 1, "a", "call:1", "x" * 300),
        noted("t1", 1),
        observed("t1", "call:1"),
        Message("", "t1", "user", " "),
        *whole_turn("t2", ["a", "b"], ["a"]),
        *whole_turn("t3", ["call:1", "a"]),
    ]


def test_another_process_repairs_to_the_same_bytes():
    history = broken_example()
    for seed in ("1", "2"):
        environ = {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "server")}
        command = [sys.executable, "-c", PROGRAM]
        run = subprocess.run(command, env=environ, input=pickle.dumps(history), capture_output=True, check=True)
        assert run.stdout.decode().strip() == ascii(hygiene(history))


def test_a_history_that_begins_with_the_models_words_gets_an_opening():
    history = [acted("t1", 1, "a"), observed("t1", "a"), answered("t1"), *whole_turn("t2")]
    after, repairs = hygiene(history)
    assert repairs == Repairs(opened=1)
    assert (after[0].role, after[0].content, after[0].turn_id) == ("user", "…", "t1")
    assert list(after[1:]) == history
    assert wire(after, "native")[0]["content"][0]["text"] == "…"


def test_after_a_limit_no_result_is_left_whose_call_was_cut():
    late = observed("t1", "a")
    history = [asked("t1"), acted("t1", 1, "a"), answered("t1"), asked("t2"), late, answered("t2")]
    after, repairs = hygiene(history, 1)
    assert [message.id for message in after] == ["ask_t2", "end_t2"]
    assert repairs == Repairs(moved=1, limited=4)


def test_steers_between_a_call_and_its_results_stand_behind_them():
    history = [
        asked("t1"),
        acted("t1", 1, "a", "b"),
        noted("t1", 1),
        observed("t1", "a"),
        noted("t1", 2),
        observed("t1", "b"),
        answered("t1"),
    ]
    after, repairs = hygiene(history)
    assert [message.id for message in after] == [
        "ask_t1",
        "say_t1_1",
        "result_a",
        "result_b",
        "steer_t1_1",
        "steer_t1_2",
        "end_t1",
    ]
    assert repairs == Repairs(moved=2)
    kinds = [block["type"] for block in wire(after, "native")[2]["content"]]
    assert kinds == ["tool_result", "tool_result", "text", "text"]
