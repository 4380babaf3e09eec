"""Messages of a damaged record, one fault at a time: what is sent of them (H-1)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from codelaw.domain.messages import Call, Fragment, Message, Metadata, Role
from codelaw.transcript.repair.hygiene import hygiene
from codelaw.transcript.repair.repairs import Repairs, sanitised
from tests.transcript.histories import acted, answered, asked, whole_turn
from tests.transcript.wire import problem

CALLS = (Call("a", "Read", {}),)
ATTACHED = (Fragment("attachment", "<a>"),)
EMPTY: list[tuple[Role, str, dict[str, Any], str | None]] = [
    ("user", " \n\t", {}, "…"),
    ("user", "  \n", {"fragments": ATTACHED}, ""),
    ("assistant", " \n", {}, None),
    ("assistant", "", {"answer": "It is 42."}, "It is 42."),
    ("summary", "", {}, None),
]


@pytest.mark.parametrize(("role", "content", "facts", "expected"), EMPTY)
def test_a_message_without_words_gets_what_can_be_said_or_goes(
    role: Role, content: str, facts: dict[str, Any], expected: str | None
):
    after, repairs = sanitised([Message("m", "t1", role, content, Metadata(**facts))])
    assert [message.content for message in after] == ([] if expected is None else [expected])
    assert repairs == (Repairs(dropped_empty=1) if expected is None else Repairs(mended=1))
    assert sanitised(after)[0] is after
    assert problem([asked("t1"), *after] if role == "assistant" else after) is None


@pytest.mark.parametrize(
    ("role", "facts"),
    [("user", {"fragments": ATTACHED}), ("assistant", {"interrupted": True}), ("assistant", {"calls": CALLS})],
)
def test_a_message_without_words_that_says_something_else_stays(role: Role, facts: dict[str, Any]):
    history = [asked("t1"), Message("m", "t1", role, "", Metadata(**facts))]
    assert sanitised(history)[0] is history
    assert problem(hygiene(history)[0]) is None


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a\u2028b\x85c\x0bd\ne", {"status": "success", "data": "a\u2028b\x85c\x0bd\ne"}),
        ('{\n  "status": "error",\n  "data": {}\n}', {"status": "error", "data": {}}),
        ('{"rows": 3}', {"status": "success", "data": {"rows": 3}}),
        ('{"status": "done"}', {"status": "success", "data": {"status": "done"}}),
        ("", {"status": "success", "data": ""}),
        ('{"status": "success", torn', {"status": "success", "data": '{"status": "success", torn'}),
        ("<system-reminder>", {"status": "success", "data": "<system-reminder>"}),
    ],
)
def test_a_result_becomes_one_line_of_json(content: str, expected: Any):
    (after,), repairs = sanitised([Message("m", "t1", "tool", content, Metadata(call_id="a"))])
    assert repairs == Repairs(mended=1)
    assert json.loads(after.content) == expected
    assert len(after.content.splitlines()) == 1
    assert "<" not in after.content
    assert problem([asked("t1"), acted("t1", 1, "a"), after]) is None


@pytest.mark.parametrize(
    "content", ['{"status": "success"}', '{"status":"error","data":{}}', '{"data": "é", "status": "partial"}']
)
def test_a_result_in_one_line_stays_as_it_was_written(content: str):
    history = [Message("m", "t1", "tool", content, Metadata(call_id="a"))]
    assert sanitised(history)[0] is history


def test_ids_used_twice_are_told_apart_and_nothing_is_lost():
    first, second = replace(asked("t1", "one"), id="x"), replace(asked("t2", "two"), id="x")
    after, repairs = sanitised([first, second, replace(asked("t3"), id="x_2")])
    assert [message.id for message in after] == ["x", "x_2", "x_2_2"]
    assert [message.content for message in after[:2]] == ["one", "two"]
    assert repairs == Repairs(mended=2)


def test_a_message_written_twice_is_said_once():
    history = whole_turn("t1", ["a"])
    doubled = [message for message in history for _ in range(2)]
    after, repairs = hygiene(doubled)
    assert list(after) == history
    assert (repairs["dropped_empty"], repairs["dropped_duplicate"]) == (3, 1)


def test_equal_words_in_two_messages_are_two_messages():
    history = [asked("t1", "go on"), answered("t1"), asked("t2", "go on"), answered("t2")]
    assert hygiene(history)[0] is history
