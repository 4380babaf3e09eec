"""Calls and their results: what is moved, dropped, made up and renamed, case by case (H-2)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from codelaw.domain.messages import Call, KeptItem, KeptItems, Message, Metadata
from codelaw.transcript.repair.hygiene import MISSING, hygiene, paired
from codelaw.transcript.repair.repairs import Repairs
from tests.transcript.histories import acted, answered, asked, noted, observed, whole_turn
from tests.transcript.wire import blocks, problem


def ids(messages: Sequence[Message]) -> list[str]:
    return [message.id for message in messages]


def results(messages: Sequence[Message]) -> dict[str, str]:
    """Whose result each call got, by the call's id; `missing` where it was made up."""
    found: dict[str, str] = {}
    for message in messages:
        if message.role == "tool":
            made_up = message.content == MISSING
            found[message.metadata.call_id or ""] = "missing" if made_up else json.loads(message.content)["data"]["of"]
    return found


def test_a_result_whose_call_was_archived_is_dropped():
    history = [*whole_turn("t1", ["a"]), *whole_turn("t2", ["b"])]
    after, repairs = hygiene(history[2:])
    assert repairs == Repairs(dropped_orphan=1, opened=1)
    assert ids(after)[1:] == ["end_t1", *ids(whole_turn("t2", ["b"]))]
    assert problem(after) is None


def test_a_made_up_result_is_dropped_once_its_call_was_archived():
    aborted = [asked("t1"), acted("t1", 1, "a"), answered("t1"), *whole_turn("t2")]
    closed, repairs = hygiene(aborted)
    assert repairs.added == 1
    place = next(place for place, message in enumerate(closed) if message.role == "tool")
    after, repairs = hygiene(closed[place:])
    assert repairs.dropped_orphan == 1
    assert all(message.role != "tool" for message in after)
    assert problem(after) is None


def test_no_orphan_survives_several_cuts_in_a_row():
    history: Sequence[Message] = [
        message for number in range(6) for message in whole_turn(f"t{number}", [f"c{number}"])
    ]
    while len(history) > 5:
        history, _ = hygiene(history[3:])
        assert problem(history) is None
    assert results(history).keys() <= {"c4", "c5"}


def test_a_result_folded_in_before_its_call_is_brought_back_behind_it():
    history = [asked("t1"), observed("t1", "a"), acted("t1", 1, "a"), answered("t1")]
    after, repairs = paired(history)
    assert ids(after) == ["ask_t1", "say_t1_1", "result_a", "end_t1"]
    assert repairs == Repairs(moved=1)


def test_a_result_that_came_late_is_brought_back_behind_its_call():
    history = [*whole_turn("t1"), acted("t1", 2, "a"), answered("t1"), asked("t2"), observed("t1", "a")]
    after, repairs = paired(history)
    assert results(after) == {"a": "t1/a"}
    assert repairs == Repairs(moved=1)


def test_a_result_without_the_id_of_its_call_is_an_orphan():
    nameless = replace(observed("t1", "a"), metadata=Metadata(tool_name="Read"))
    after, repairs = paired([asked("t1"), acted("t1", 1, "a"), nameless, answered("t1")])
    assert results(after) == {"a": "missing"}
    assert repairs == Repairs(dropped_orphan=1, added=1)


def test_a_missing_result_is_made_up_as_an_error_that_says_interrupted():
    after, repairs = paired([asked("t1"), acted("t1", 3, "a", "b"), observed("t1", "b"), answered("t1")])
    made_up = after[2]
    assert (made_up.id, made_up.turn_id, made_up.role) == ("result_a", "t1", "tool")
    assert made_up.metadata == Metadata(step=3, tool_name="Read", call_id="a")
    assert json.loads(made_up.content) == {
        "status": "error",
        "data": {},
        "error": {
            "code": "EXECUTION_ERROR",
            "message": "interrupted: the turn ended before this call's result was kept; it may or may not have taken effect",
        },
    }
    assert repairs == Repairs(added=1)
    assert [block["is_error"] for block in blocks(after) if "is_error" in block] == [True]


def test_a_made_up_result_takes_no_id_that_another_message_has():
    taken = replace(asked("t1"), id="result_a")
    after, _ = paired([taken, acted("t1", 1, "a"), answered("t1")])
    assert ids(after) == ["result_a", "say_t1_1", "result_a_2", "end_t1"]


def test_of_two_results_the_first_one_stays():
    second = replace(observed("t1", "a", data="again"), id="second")
    after, repairs = paired([asked("t1"), acted("t1", 1, "a"), observed("t1", "a"), second, answered("t1")])
    assert ids(after) == ["ask_t1", "say_t1_1", "result_a", "end_t1"]
    assert repairs == Repairs(dropped_duplicate=1)


def test_a_result_made_up_for_a_crash_gives_way_to_what_the_tool_said():
    crashed = replace(observed("t1", "a"), content=MISSING, id="crashed")
    real = observed("t1", "a", ref="r1")
    after, repairs = paired([asked("t1"), acted("t1", 1, "a"), crashed, real, answered("t1")])
    assert after[2] is real
    assert repairs == Repairs(dropped_duplicate=1)


@pytest.mark.parametrize("calls", ["", "nothing"])
def test_calls_of_an_interrupted_message_get_no_made_up_success(calls: str):
    half = acted("t1", 1, "a", interrupted=True)
    half = replace(half, content=f"{half.content}\n[interrupted: the stream broke]" if calls else half.content)
    after, repairs = paired([asked("t1"), half])
    assert [json.loads(message.content)["status"] for message in after if message.role == "tool"] == ["error"]
    assert repairs.added == 1
    assert "[interrupted: " not in after[1].content
    assert problem(after) is None


def test_what_an_interrupted_message_really_did_is_kept():
    half = acted("t1", 1, "a", "b", interrupted=True)
    after, _ = paired([asked("t1"), half, observed("t1", "b")])
    assert results(after) == {"a": "missing", "b": "t1/b"}
    assert problem(after) is None


def test_an_id_used_again_in_a_later_turn_does_not_steal_the_earlier_result():
    history = [*whole_turn("t1", ["call_1"]), asked("t2"), acted("t2", 1, "call_1"), answered("t2")]
    after, repairs = paired(history)
    first, second = (message.metadata.calls[0].id for message in after if message.metadata.calls)
    assert first == "call_1"
    assert second != first
    assert results(after) == {"call_1": "t1/call_1", second: "missing"}
    assert repairs == Repairs(added=1, renamed_calls=1)
    assert problem(after) is None


def test_a_lost_result_is_not_replaced_by_that_of_a_later_turns_call():
    history = [asked("t1"), acted("t1", 1, "call_1"), answered("t1"), *whole_turn("t2", ["call_1"])]
    after, _ = paired(history)
    assert list(results(after).values()) == ["missing", "t2/call_1"]


def test_an_orphan_of_an_archived_turn_is_not_given_to_a_later_call_with_its_id():
    history = [observed("t1", "call_1"), answered("t1"), asked("t2"), acted("t2", 1, "call_1"), answered("t2")]
    after, repairs = paired(history)
    assert results(after) == {"call_1": "missing"}
    assert repairs == Repairs(dropped_orphan=1, added=1)


def test_a_result_written_into_the_next_turn_finds_its_call():
    strayed = replace(observed("t1", "a"), turn_id="t2")
    after, repairs = paired([asked("t1"), acted("t1", 1, "a"), answered("t1"), asked("t2"), strayed, answered("t2")])
    assert results(after) == {"a": "t1/a"}
    assert repairs == Repairs(moved=1)


def test_a_stray_result_of_another_tool_is_no_result_of_that_call():
    strayed = replace(observed("t1", "a", tool="Bash"), turn_id="t2")
    after, repairs = paired([asked("t1"), acted("t1", 1, "a"), answered("t1"), asked("t2"), strayed, answered("t2")])
    assert results(after) == {"a": "missing"}
    assert repairs == Repairs(dropped_orphan=1, added=1)


def test_an_id_used_twice_in_one_turn_pairs_in_order():
    first, second = observed("t1", "a", data="1"), replace(observed("t1", "a", data="2"), id="second")
    history = [asked("t1"), acted("t1", 1, "a"), first, acted("t1", 2, "a"), second, answered("t1")]
    after, repairs = paired(history)
    assert ids(after) == ids(history)
    assert [message.content for message in after if message.role == "tool"] == [first.content, second.content]
    assert repairs == Repairs(renamed_calls=1)
    assert problem(after) is None


def test_an_id_used_twice_in_one_message_gives_each_call_a_result():
    first, second = observed("t1", "a", data="1"), replace(observed("t1", "a", data="2"), id="second")
    after, repairs = paired([asked("t1"), acted("t1", 1, "a", "a", "a"), first, second, answered("t1")])
    assert [message.content for message in after if message.role == "tool"] == [first.content, second.content, MISSING]
    assert repairs == Repairs(added=1, renamed_calls=2)
    assert problem(after) is None


def test_ids_that_no_vendor_takes_are_replaced_in_call_and_result_alike():
    odd = ["call:1", "toolu_ü", "x" * 129, "a b", "a\n"]
    after, repairs = paired(whole_turn("t1", odd))
    asked_for = [block for block in blocks(after) if block["type"] == "tool_use"]
    given = [block for block in blocks(after) if block["type"] == "tool_result"]
    assert [block["id"] for block in asked_for] == [block["tool_use_id"] for block in given]
    assert list(results(after).values()) == [f"t1/{call_id}" for call_id in odd]
    assert repairs == Repairs(renamed_calls=5)
    assert problem(after) is None


def test_ids_that_become_alike_stay_apart():
    after, _ = paired([*whole_turn("t1", ["a.b", "a:b", "a_b"]), *whole_turn("t2", ["a/b"])])
    given = [call.id for message in after for call in message.metadata.calls]
    assert len(set(given)) == 4
    assert given[2] == "a_b"


def test_an_id_that_a_replaced_one_took_is_replaced_itself():
    alone, _ = paired(whole_turn("t1", ["a:b"]))
    taken = alone[1].metadata.calls[0].id
    after, repairs = paired([*whole_turn("t1", ["a:b"]), *whole_turn("t2", [taken])])
    given = [call.id for message in after for call in message.metadata.calls]
    assert given[0] == taken
    assert given[1] != taken
    assert repairs == Repairs(renamed_calls=2)
    assert list(results(after).values()) == ["t1/a:b", f"t2/{taken}"]


@pytest.mark.parametrize(
    "call", [Call("", "Read", {}), Call("b", "", {}), Call("b", "no name", {}), Call("b", "a[", {})]
)
def test_a_malformed_call_goes_with_its_result(call: Call):
    good = Call("a", "Read", {"path": "x"})
    thought = '{"type": "thinking", "thinking": "", "signature": "s"}'
    items = KeptItem(thought), KeptItem(thought, 4, 1)
    facts = Metadata(calls=(call, good), kept=KeptItems("anthropic", items))
    caller = Message("m", "t1", "assistant", "look", facts)
    history = [asked("t1"), caller, observed("t1", "b"), observed("t1", "a"), answered("t1")]
    after, repairs = paired(history)
    assert after[1].metadata.kept == KeptItems("anthropic", items[:1])
    assert after[1].metadata.calls == (good,)
    assert results(after) == {"a": "t1/a"}
    assert (repairs.removed_calls, repairs.dropped_orphan, repairs.added) == (1, 1, 0)
    assert problem(after) is None


def test_the_result_of_a_malformed_call_is_not_given_to_an_earlier_call_with_its_id():
    bad = Message("m", "t1", "assistant", "look", Metadata(calls=(Call("a", "no name", {}),)))
    history = [asked("t1"), acted("t1", 1, "a"), bad, observed("t1", "a"), answered("t1")]
    after, repairs = paired(history)
    assert results(after) == {"a": "missing"}
    assert repairs == Repairs(dropped_orphan=1, added=1, removed_calls=1)


def test_a_message_that_was_nothing_but_malformed_calls_is_dropped():
    bad = Message("m", "t1", "assistant", "", Metadata(calls=(Call("", "", {}),)))
    after, repairs = paired([asked("t1"), bad, answered("t1")])
    assert ids(after) == ["ask_t1", "end_t1"]
    assert repairs == Repairs(dropped_empty=1, removed_calls=1)


def test_an_action_whose_call_was_removed_is_cut_off_the_text():
    bad = acted("t1", 1, "")
    after, repairs = paired([asked("t1"), bad, answered("t1")])
    assert after[1].content == "Thought: step 1"
    assert repairs == Repairs(mended=1, removed_calls=1)
    assert problem(after) is None


@pytest.mark.parametrize("interrupted", [False, True])
def test_an_action_whose_call_was_lost_is_cut_off_the_text(interrupted: bool):
    lost = replace(acted("t1", 1, "a"), metadata=Metadata(step=1, interrupted=interrupted))
    after, repairs = paired([asked("t1"), lost, observed("t1", "a"), answered("t1")])
    assert after[1].content == "Thought: step 1"
    assert repairs == Repairs(mended=1, dropped_orphan=1)
    assert problem(after) is None


@pytest.mark.parametrize(
    "text",
    ["Thought: x\nAction: Finish[so\nAction: LS[{}]]", "**Action:** Finish[x]", "Action:\n```\nFinish[x]", "Read[x]"],
)
def test_an_answer_that_was_taken_back_is_no_action_without_its_call(text: str):
    history = [asked("t1"), Message("m", "t1", "assistant", text), noted("t1", 1), answered("t1")]
    assert paired(history)[0] is history


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Action: Finish[yes]", "Action: Finish[yes]"), ("Thought: x\nAction: Read[{}]", "yes"), ("yes", "yes")],
)
def test_calls_beside_an_answer_are_removed(text: str, expected: str):
    both = replace(acted("t1", 1, "a", answer="yes"), content=text)
    after, repairs = paired([asked("t1"), both, observed("t1", "a")])
    assert after[1].metadata.calls == ()
    assert after[1].content == expected
    assert (repairs.dropped_orphan, repairs.removed_calls) == (1, 1)
    assert problem(after) is None


def test_a_message_marked_as_interrupted_that_has_all_its_results_was_whole():
    after, repairs = paired([asked("t1"), acted("t1", 1, "a", interrupted=True), observed("t1", "a"), answered("t1")])
    assert list(after) == whole_turn("t1", ["a"])
    assert repairs == Repairs(mended=1)


def test_the_half_action_of_a_reply_marked_as_cut_stays():
    half = 'Thought: x\nAction: Write[{"path": "a", "con\n[interrupted: cancelled by the user]'
    history = [asked("t1"), Message("end_t1", "t1", "assistant", half, Metadata(interrupted=True))]
    assert paired(history)[0] is history
    assert problem(history) is None


def test_names_that_only_the_text_dialect_takes_are_no_fault():
    history = [asked("t1"), acted("t1", 1, "a", tool="Fly.äway"), observed("t1", "a", tool="Fly.äway"), answered("t1")]
    assert paired(history)[0] is history
    assert problem(history) is None


def test_a_message_that_needs_no_repair_is_the_same_object_in_a_history_that_does():
    history = [*whole_turn("t1", ["a"]), asked("t2"), acted("t2", 1, "b"), answered("t2")]
    after, _ = paired(history)
    assert all(
        message in history and any(message is old for old in history) for message in after if message.content != MISSING
    )
