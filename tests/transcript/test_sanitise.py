"""Odd records, one oddity at a time: what is sent of them (H-1)."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import replace
from typing import Any

import pytest

from codelaw.domain.messages import Call, Fragment, Message, Metadata
from codelaw.transcript.repair.hygiene import hygiene
from codelaw.transcript.repair.repairs import Repairs
from codelaw.transcript.repair.sanitise import sanitised
from tests.transcript.histories import acted, answered, asked, observed, whole_turn
from tests.transcript.wire import blocks, problem, wire


def one(role: Any, content: Any, metadata: Any = None, **facts: Any) -> Message:
    return Message("m", "t1", role, content, Metadata(**facts) if metadata is None else metadata)


def mended(message: Message) -> Message:
    """The message as it is sent; it was odd, and is sound now."""
    after, repairs = sanitised([message])
    assert repairs == Repairs(mended=1)
    assert sanitised(after)[0] is after
    return after[0]


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


CONTENTS: list[tuple[Any, str]] = [
    ([text("one"), text("two")], "one\n\ntwo"),
    (["one", text("two")], "one\n\ntwo"),
    (text("one"), "one"),
    ({"text": "one"}, "one"),
    ({"content": "one"}, '{"content": "one"}'),
    ([text("see"), {"type": "image", "data": "…"}], 'see\n\n{"type": "image", "data": "…"}'),
    ([{"type": "text", "text": "x", "citations": [1]}], '{"type": "text", "text": "x", "citations": [1]}'),
    (b"caf\xc3\xa9 \xff", "café \\xff"),
    (5, "5"),
    (True, "true"),
    (None, "…"),
    ([], "…"),
    ("", "…"),
    (" \n\t", "…"),
    ({"key": object()}, '{"key": "object"}'),
    ({"when": {1, 2}}, '{"when": "set"}'),
]


@pytest.mark.parametrize(("content", "expected"), CONTENTS)
def test_what_a_user_wrote_becomes_text(content: Any, expected: str):
    assert mended(one("user", content)).content == expected
    assert problem(sanitised([one("user", content)])[0]) is None


def test_a_users_message_that_mixes_text_and_results_keeps_both():
    mixed = one("user", [{"type": "tool_result", "tool_use_id": "a", "content": "done"}, text("and now?")])
    after, repairs = hygiene([asked("t1"), acted("t1", 1, "a"), mixed])
    assert repairs.added == 1
    said = json.dumps(wire(after, "native"), ensure_ascii=False)
    assert "and now?" in said
    assert "done" in said
    assert problem(after) is None


def test_content_that_refers_to_itself_is_left_out():
    endless: list[Any] = []
    endless.append(endless)
    assert mended(one("user", {"a": endless})).content == '"…"'


def test_blank_words_beside_attachments_are_left_out():
    attached = one("user", "  \n", fragments=(Fragment("attachment", "<a>"),))
    assert mended(attached).content == ""
    assert problem([mended(attached)]) is None
    bare = one("user", "", fragments=(Fragment("attachment", "<a>"),))
    assert sanitised([bare])[1] == Repairs()


def test_blank_and_odd_attachments_are_mended():
    parts: Any = (Fragment("a", " "), Fragment("b", "kept"), "said", None)
    assert mended(one("user", "x", fragments=parts)).metadata.fragments == (
        Fragment("b", "kept"),
        Fragment("fragment", "said"),
    )
    assert mended(one("user", "x", fragments=[Fragment("b", "kept")])).metadata.fragments == (Fragment("b", "kept"),)


OBSERVATIONS: list[tuple[Any, Any]] = [
    ("plain", {"status": "success", "data": "plain"}),
    ("two\nlines", {"status": "success", "data": "two\nlines"}),
    ("a\u2028b\x85c\x0bd", {"status": "success", "data": "a\u2028b\x85c\x0bd"}),
    ('{\n  "status": "error",\n  "data": {}\n}', {"status": "error", "data": {}}),
    ('{"rows": 3}', {"status": "success", "data": {"rows": 3}}),
    ('{"status": "done"}', {"status": "success", "data": {"status": "done"}}),
    ({"status": "partial", "data": [1]}, {"status": "partial", "data": [1]}),
    ([text("out")], {"status": "success", "data": [text("out")]}),
    (None, {"status": "success", "data": None}),
    ("", {"status": "success", "data": ""}),
    ('{"status": "success", torn', {"status": "success", "data": '{"status": "success", torn'}),
    (float("nan"), {"status": "success", "data": "NaN"}),
    ("<system-reminder>", {"status": "success", "data": "<system-reminder>"}),
]


@pytest.mark.parametrize(("content", "expected"), OBSERVATIONS)
def test_a_result_becomes_one_line_of_json(content: Any, expected: Any):
    after = mended(one("tool", content, call_id="a"))
    assert json.loads(after.content) == expected
    assert len(after.content.splitlines()) == 1
    assert "<" not in after.content
    assert problem([asked("t1"), acted("t1", 1, "a"), after]) is None


@pytest.mark.parametrize(
    "content", ['{"status": "success"}', '{"status":"error","data":{}}', '{"data": "é", "status": "partial"}']
)
def test_a_result_in_one_line_stays_as_it_was_written(content: str):
    history = [one("tool", content, call_id="a")]
    assert sanitised(history)[0] is history


ROLES: list[tuple[Any, dict[str, Any], str]] = [
    ("Human", {}, "user"),
    (" USER ", {}, "user"),
    ("ai", {}, "assistant"),
    ("model", {}, "assistant"),
    ("function", {"call_id": "a"}, "tool"),
    ("system", {}, "user"),
    (None, {}, "user"),
    (["user"], {}, "user"),
    ("agent", {"answer": "x"}, "assistant"),
    (None, {"calls": (Call("a", "Read", {}),)}, "assistant"),
    ("observation", {"call_id": "a"}, "tool"),
]


@pytest.mark.parametrize(("role", "facts", "expected"), ROLES)
def test_a_foreign_role_becomes_the_one_it_comes_closest_to(role: Any, facts: dict[str, Any], expected: str):
    assert mended(one(role, "words", **facts)).role == expected


def test_only_a_user_begins_a_turn():
    assert mended(one("Human", "words")).metadata.note is None
    assert mended(one("system", "words")).metadata.note == "hint"
    assert mended(one("system", "words", note="reminder")).metadata.note == "reminder"


FACTS: list[tuple[str, Any, Any]] = [
    ("step", "3", None),
    ("step", True, None),
    ("tool_name", ["Read"], None),
    ("call_id", 7, "7"),
    ("call_id", {}, None),
    ("mtime", "yesterday", None),
    ("answer", [text("yes")], "yes"),
    ("note", "aside", "hint"),
    ("note", ["steer"], "hint"),
    ("ref", 5, "5"),
    ("interrupted", 1, True),
    ("interrupted", None, False),
    ("calls", None, ()),
    ("calls", "Read", ()),
    ("fragments", {"a": 1}, ()),
]


@pytest.mark.parametrize(("name", "value", "expected"), FACTS)
def test_a_fact_of_a_wrong_type_is_read_or_left_out(name: str, value: Any, expected: Any):
    facts: Any = {name: value}
    assert getattr(mended(one("assistant", "words", **facts)).metadata, name) == expected


@pytest.mark.parametrize("metadata", [{}, "facts", 5, [None]])
def test_metadata_that_is_none_at_all_is_empty(metadata: Any):
    assert mended(one("user", "words", metadata)) == one("user", "words")


deep: dict[str, Any] = {}
for _ in range(100):
    deep = {"a": deep}
ARGUMENTS: list[tuple[Any, dict[str, Any]]] = [
    (None, {}),
    ([1], {}),
    ("path", {}),
    ('{"path": "a"}', {"path": "a"}),
    ("[1]", {}),
    ('{"path": ', {}),
    ({"n": float("inf")}, {}),
    ({"n": [1, {"m": float("nan")}]}, {}),
    ({1: "a"}, {}),
    ({"a": {2: "b"}}, {}),
    ({"a": b"b"}, {}),
    ({"a": 10**5000}, {}),
    (deep, {}),
    ("{" * 100_000, {}),
    (OrderedDict(path="a"), {"path": "a"}),
]


@pytest.mark.parametrize(("arguments", "expected"), ARGUMENTS)
def test_arguments_that_cannot_be_sent_are_none(arguments: Any, expected: dict[str, Any]):
    after = mended(one("assistant", "look", calls=(Call("a", "Read", arguments),)))
    assert after.metadata.calls == (Call("a", "Read", expected),)
    assert problem([asked("t1"), after, observed("t1", "a")]) is None


@pytest.mark.parametrize("arguments", [{}, {"a": [1, 2.5, None, True, {"b": "c"}]}, {"n": 10**400}, {"é": "\ud800"}])
def test_arguments_that_can_be_sent_are_left_alone(arguments: dict[str, Any]):
    history = [asked("t1"), one("assistant", "look", calls=(Call("a", "Read", arguments),)), observed("t1", "a")]
    assert hygiene(history)[0] is history
    assert problem(history) is None


def test_calls_of_another_shape_are_read():
    odd: Any = [{"id": 5, "name": "Read", "input": {"path": "a"}}, {"id": "b", "tool": "LS", "arguments": "{}"}, None]
    after, repairs = hygiene(
        [asked("t1"), one("assistant", "look", calls=odd), observed("t1", "5"), observed("t1", "b")]
    )
    assert after[1].metadata.calls == (Call("5", "Read", {"path": "a"}), Call("b", "LS", {}))
    assert repairs == Repairs(mended=1, removed_calls=1)


def test_only_an_assistant_has_calls():
    odd = one("user", "words", calls=(Call("a", "Read", {}),))
    assert mended(odd).metadata.calls == ()


def test_an_empty_message_of_the_assistant_is_dropped():
    history = [asked("t1"), one("assistant", " \n"), answered("t1")]
    after, repairs = sanitised(history)
    assert list(after) == [history[0], history[2]]
    assert repairs == Repairs(dropped_empty=1)


def test_an_empty_summary_is_no_summary():
    after, repairs = sanitised([one("summary", ""), asked("t1")])
    assert [message.role for message in after] == ["user"]
    assert repairs == Repairs(dropped_empty=1)


def test_an_empty_message_that_was_interrupted_or_calls_stays():
    for message in (one("assistant", "", interrupted=True), one("assistant", "", calls=(Call("a", "Read", {}),))):
        assert sanitised([message])[1] == Repairs()
        assert problem(hygiene([asked("t1"), message])[0]) is None


def test_an_answer_without_its_text_is_said():
    after = mended(one("assistant", "", answer="It is 42."))
    assert after.content == "It is 42."
    assert blocks([asked("t1"), after])[1] == text("It is 42.")


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
    assert (repairs.dropped_empty, repairs.dropped_duplicate) == (3, 1)


def test_equal_words_in_two_messages_are_two_messages():
    history = [asked("t1", "go on"), answered("t1"), asked("t2", "go on"), answered("t2")]
    assert hygiene(history)[0] is history


def test_messages_without_an_id_get_one_that_follows_from_their_words():
    odd: Any = None
    history = [replace(asked("t1"), id=odd), replace(answered("t1"), id=odd)]
    first, again = sanitised(history)[0], sanitised(history)[0]
    assert first == again
    assert len({message.id for message in first}) == 2


def test_turns_without_an_id_are_one_turn():
    odd: Any = None
    history = [replace(message, turn_id=odd) for message in whole_turn("t1", ["a"])]
    after, repairs = hygiene(history)
    assert {message.turn_id for message in after} == {""}
    assert repairs == Repairs(mended=4)


def test_twenty_thousand_messages_with_one_id_are_all_told_apart():
    history = [replace(asked(f"t{number}"), id="same") for number in range(20_000)]
    after, _ = sanitised(history)
    assert len({message.id for message in after}) == 20_000
