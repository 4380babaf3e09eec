"""Calls and their results: what is moved, dropped, made up and renamed, case by case (H-2)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from codelaw.domain.messages import Call, KeptItem, KeptItems, Message, Metadata
from codelaw.transcript.repair.hygiene import MISSING, hygiene, paired
from codelaw.transcript.repair.repairs import Repairs
from tests.transcript.histories import acted, answered, asked, noted, observed, whole_turn
from tests.transcript.wire import blocks, problem

ASKED, ENDED = asked("t1"), answered("t1")
BAD = Message("m", "t1", "assistant", "look", Metadata(calls=(Call("a", "no name", {}),)))
SECOND = replace(observed("t1", "a", data="2"), id="second")
STRAYED = replace(observed("t1", "a"), turn_id="t2")
LOST = [asked("t1"), acted("t1", 1, "a"), answered("t1"), asked("t2")]


def results(messages: Sequence[Message]) -> list[str]:
    """Whose result each call got, in order; `missing` where it was made up."""
    return [
        "missing" if message.content == MISSING else json.loads(message.content)["data"]["of"]
        for message in messages
        if message.role == "tool"
    ]


@dataclass(frozen=True)
class Case:
    name: str
    history: list[Message]
    results: list[str]
    repairs: Repairs


CASES = [
    Case("before its call", [ASKED, observed("t1", "a"), acted("t1", 1, "a"), ENDED], ["t1/a"], Repairs(moved=1)),
    Case(
        "behind a later question",
        [ASKED, acted("t1", 2, "a"), ENDED, asked("t2"), observed("t1", "a")],
        ["t1/a"],
        Repairs(moved=1),
    ),
    Case("in the next turn by mistake", [*LOST, STRAYED, answered("t2")], ["t1/a"], Repairs(moved=1)),
    Case(
        "in the next turn, of another tool",
        [*LOST, replace(STRAYED, metadata=Metadata(tool_name="Bash", call_id="a")), answered("t2")],
        ["missing"],
        Repairs(dropped_orphan=1, added=1),
    ),
    Case(
        "without the id of its call",
        [ASKED, acted("t1", 1, "a"), replace(observed("t1", "a"), metadata=Metadata(tool_name="Read")), ENDED],
        ["missing"],
        Repairs(dropped_orphan=1, added=1),
    ),
    Case(
        "there twice",
        [ASKED, acted("t1", 1, "a"), observed("t1", "a"), SECOND, ENDED],
        ["t1/a"],
        Repairs(dropped_duplicate=1),
    ),
    Case(
        "made up for a crash, and then given",
        [
            ASKED,
            acted("t1", 1, "a"),
            replace(observed("t1", "a"), content=MISSING, id="x"),
            observed("t1", "a", ref="r"),
            ENDED,
        ],
        ["t1/a"],
        Repairs(dropped_duplicate=1),
    ),
    Case(
        "missing, of an id that a later turn uses",
        [ASKED, acted("t1", 1, "call_1"), ENDED, *whole_turn("t2", ["call_1"])],
        ["missing", "t2/call_1"],
        Repairs(added=1, renamed_calls=1),
    ),
    Case(
        "missing, of an id that an earlier turn used",
        [*whole_turn("t1", ["call_1"]), asked("t2"), acted("t2", 1, "call_1"), answered("t2")],
        ["t1/call_1", "missing"],
        Repairs(added=1, renamed_calls=1),
    ),
    Case(
        "missing, with an orphan of an archived turn of its id",
        [observed("t1", "call_1"), ENDED, asked("t2"), acted("t2", 1, "call_1"), answered("t2")],
        ["missing"],
        Repairs(dropped_orphan=1, added=1),
    ),
    Case(
        "of an id used twice in one turn",
        [ASKED, acted("t1", 1, "a"), observed("t1", "a"), acted("t1", 2, "a"), SECOND, ENDED],
        ["t1/a", "t1/a"],
        Repairs(renamed_calls=1),
    ),
    Case(
        "of an id used three times in one message",
        [ASKED, acted("t1", 1, "a", "a", "a"), observed("t1", "a"), SECOND, ENDED],
        ["t1/a", "t1/a", "missing"],
        Repairs(added=1, renamed_calls=2),
    ),
    Case(
        "of ids that no vendor takes",
        whole_turn("t1", ["call:1", "toolu_ü", "x" * 129, "a b", "a\n"]),
        ["t1/call:1", "t1/toolu_ü", f"t1/{'x' * 129}", "t1/a b", "t1/a\n"],
        Repairs(renamed_calls=5),
    ),
    Case(
        "of a malformed call, not of an earlier one with its id",
        [ASKED, acted("t1", 1, "a"), BAD, observed("t1", "a"), ENDED],
        ["missing"],
        Repairs(dropped_orphan=1, added=1, removed_calls=1),
    ),
    Case(
        "of nothing but a malformed call",
        [ASKED, replace(BAD, content=""), ENDED],
        [],
        Repairs(dropped_empty=1, removed_calls=1),
    ),
    Case(
        "of an interrupted message, in part",
        [ASKED, acted("t1", 1, "a", "b", interrupted=True), observed("t1", "b")],
        ["missing", "t1/b"],
        Repairs(mended=1, added=1),
    ),
    Case(
        "of an interrupted message, whole",
        [ASKED, acted("t1", 1, "a", interrupted=True), observed("t1", "a"), ENDED],
        ["t1/a"],
        Repairs(mended=1),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_result(case: Case):
    after, repairs = paired(case.history)
    assert results(after) == case.results
    assert repairs == case.repairs
    assert problem(hygiene(case.history)[0]) is None
    used = [block["id"] for block in blocks(after) if block["type"] == "tool_use"]
    assert used == [block["tool_use_id"] for block in blocks(after) if block["type"] == "tool_result"]
    assert paired(after)[0] is after


def test_no_orphan_survives_several_cuts_in_a_row():
    history: Sequence[Message] = [
        message for number in range(6) for message in whole_turn(f"t{number}", [f"c{number}"])
    ]
    while len(history) > 5:
        history, _ = hygiene(history[3:])
        assert problem(history) is None
    assert set(results(history)) <= {"t4/c4", "t5/c5"}


def test_a_missing_result_is_made_up_as_an_error_that_says_interrupted():
    after, _ = paired([asked("t1"), acted("t1", 3, "a", "b"), observed("t1", "b"), answered("t1")])
    made_up = after[2]
    assert (made_up.id, made_up.turn_id, made_up.role) == ("result_a", "t1", "tool")
    assert made_up.metadata == Metadata(step=3, tool_name="Read", call_id="a")
    said = json.loads(made_up.content)
    assert (said["status"], said["error"]["code"]) == ("error", "EXECUTION_ERROR")
    assert said["error"]["message"].startswith("interrupted: the turn ended before")
    assert [block["is_error"] for block in blocks(after) if "is_error" in block] == [True]
    rest, repairs = hygiene(after[2:])
    assert repairs["dropped_orphan"] == 2, "once its call was archived"
    assert all(message.role != "tool" for message in rest)


def test_made_up_ids_are_free_ones():
    taken = replace(asked("t1"), id="result_a")
    after, _ = paired([taken, acted("t1", 1, "a"), answered("t1")])
    assert [message.id for message in after] == ["result_a", "say_t1_1", "result_a_2", "end_t1"]
    alone, _ = paired(whole_turn("t1", ["a:b", "a.b"]))
    first, second = (call.id for call in alone[1].metadata.calls)
    after, repairs = paired([*whole_turn("t1", ["a:b", "a.b"]), *whole_turn("t2", [first])])
    given = [call.id for message in after for call in message.metadata.calls]
    assert given[:2] == [first, second]
    assert len(set(given)) == 3
    assert repairs == Repairs(renamed_calls=3)


@pytest.mark.parametrize(
    "call", [Call("", "Read", {}), Call("b", "", {}), Call("b", "no name", {}), Call("b", "a[", {})]
)
def test_a_malformed_call_goes_with_its_result(call: Call):
    good = Call("a", "Read", {"path": "x"})
    thought = '{"type": "thinking", "thinking": "", "signature": "s"}'
    items = KeptItem(thought), KeptItem(thought, 4, 1)
    facts = Metadata(calls=(call, good), kept=KeptItems("anthropic", items))
    caller = Message("m", "t1", "assistant", "look", facts)
    after, repairs = paired([asked("t1"), caller, observed("t1", "b"), observed("t1", "a"), answered("t1")])
    assert after[1].metadata.kept == KeptItems("anthropic", items[:1])
    assert after[1].metadata.calls == (good,)
    assert repairs == Repairs(removed_calls=1, dropped_orphan=1)
    assert problem(after) is None


CALLLESS = [
    (acted("t1", 1, ""), "Thought: step 1"),
    (replace(acted("t1", 1, "a"), metadata=Metadata(step=1)), "Thought: step 1"),
    (replace(acted("t1", 1, "a"), metadata=Metadata(step=1, interrupted=True)), "Thought: step 1"),
    (replace(acted("t1", 1, "a", answer="yes"), content="Action: Finish[yes]"), "Action: Finish[yes]"),
    (replace(acted("t1", 1, "a", answer="yes"), content="Thought: x\nAction: Read[{}]"), "yes"),
    (replace(acted("t1", 1, "a", answer="yes"), content="yes"), "yes"),
]


@pytest.mark.parametrize(("message", "expected"), CALLLESS)
def test_an_action_whose_call_is_removed_or_lost_is_cut_off_the_text(message: Message, expected: str):
    after, _ = paired([asked("t1"), message, observed("t1", "a"), noted("t1", 1)])
    assert (after[1].content, after[1].metadata.calls) == (expected, ())
    assert results(after) == []
    assert problem(after) is None


HALF = 'Thought: x\nAction: Write[{"path": "a", "con\n[interrupted: cancelled by the user]'


@pytest.mark.parametrize(
    "message",
    [
        Message("m", "t1", "assistant", "Thought: x\nAction: Finish[so\nAction: LS[{}]]"),
        Message("m", "t1", "assistant", "**Action:** Finish[x]"),
        Message("m", "t1", "assistant", "Action:\n```\nFinish[x]"),
        Message("m", "t1", "assistant", "Read[x]"),
        Message("m", "t1", "assistant", HALF, Metadata(interrupted=True)),
    ],
)
def test_an_answer_that_was_taken_back_and_a_cut_reply_stay(message: Message):
    history = [asked("t1"), message, noted("t1", 1)]
    assert paired(history)[0] is history
    assert problem(history) is None


def test_names_that_only_the_text_dialect_takes_are_no_fault():
    history = [asked("t1"), acted("t1", 1, "a", tool="Fly.äway"), observed("t1", "a", tool="Fly.äway"), answered("t1")]
    assert paired(history)[0] is history
    assert problem(history) is None
