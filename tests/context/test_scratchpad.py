"""What gives way in the running turn when its view nears the window (C-5, W-6)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.context.sections import message_tokens
from codelaw.context.shortening.demotion import demotable, demoted
from codelaw.context.shortening.scratchpad import given_way, shrink_scratchpad, truncate
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.results import ToolResult
from tests.context.spoken import Spoken, bash, edit, read


def total(messages) -> int:
    return sum(map(message_tokens, messages))


def running(*steps) -> Spoken:
    spoken = Spoken().turn("now", *steps, answer=None)
    del spoken.record[0], spoken.full[0]
    return spoken


def heavy(steps: int = 10) -> Spoken:
    return running(*(bash(f"step {number}", lines=900) for number in range(steps)))


def lines_of(spoken: Spoken):
    return demoted(spoken.record, {what for message in spoken.record if (what := demotable(message))})


def test_the_oldest_observations_fall_back_to_their_cut_until_enough_is_free():
    spoken = heavy()
    after = shrink_scratchpad(spoken.full, spoken.record, to_free=9_000)
    assert total(spoken.full) - total(after) >= 9_000
    cut = [
        place
        for place, message in enumerate(after)
        if message is spoken.record[place] and message is not spoken.full[place]
    ]
    assert cut == [1, 3], "the oldest two results were enough"
    assert all(after[place] is spoken.full[place] for place in range(len(after)) if place not in cut)


def test_under_more_pressure_they_become_one_line_and_the_newest_step_stays_whole():
    spoken = running(*(edit(f"{number}.py", size=9_000) for number in range(6)), bash("make", lines=900))
    after = shrink_scratchpad(
        spoken.full, spoken.record, to_free=total(spoken.full) - message_tokens(spoken.full[-1]) - 2_000
    )
    assert list(after[:4]) == list(lines_of(spoken)[:4])
    assert after[-1] is spoken.full[-1]


def test_the_newest_results_become_one_line_only_when_all_of_it_must_go():
    spoken = heavy(3)
    after = shrink_scratchpad(spoken.full, spoken.record, to_free=10**9)
    assert after[-1] is spoken.record[-1], "its cut, as the last to give way"
    more = shrink_scratchpad(after, spoken.record, to_free=10**9, all_of_it=True)
    assert "shortened" in json.loads(more[-1].content)


@pytest.mark.parametrize("bound", [300, 1_000, 4_000])
def test_an_oversized_result_keeps_head_and_tail_and_says_how_to_read_the_rest(bound):
    output = "".join(f"line {number}\n" for number in range(9_000))
    result = ToolResult("success", {"command": "make", "exit_code": 0, "stdout": output}, "Exit code 0.")
    spoken = running(bash("small", lines=5), ("Bash", {"command": "make"}, result))
    after = truncate(spoken.full, bound=bound)
    assert after[:3] == spoken.full[:3]
    assert bound / 3 < message_tokens(after[3]) <= bound
    body = json.loads(after[3].content)
    assert body["data"]["stdout"].startswith("line 0\nline 1\n")
    assert body["data"]["stdout"].endswith("line 8998\nline 8999\n")
    assert "Read result:r_now_2" in body["data"]["stdout"]
    assert body["data"]["exit_code"] == 0, "what is short stays"
    assert body["data"]["truncated"] is True
    assert body["data"]["whole"] == "result:r_now_2"
    assert body["text"] == "Exit code 0."
    assert truncate(after, bound=bound) is after


def test_a_result_of_many_small_parts_is_cut_too():
    matches = [{"file": f"src/{number}.py", "line": number, "text": "x = 1"} for number in range(900)]
    result = ToolResult("success", {"pattern": "x", "total": 900, "matches": matches}, "")
    spoken = running(("Grep", {"pattern": "x"}, result))
    after = truncate(spoken.full, bound=1_000)
    assert message_tokens(after[1]) <= 1_000
    assert json.loads(after[1].content)["data"]["whole"] == "result:r_now_1"


STEPS = st.lists(
    st.one_of(
        st.builds(read, st.sampled_from(["a.py", "b.py"]), st.integers(1, 900)),
        st.builds(edit, st.just("a.py"), st.integers(10, 3_000)),
        st.builds(bash, st.just("make"), st.integers(0, 300), st.booleans()),
    ),
    max_size=6,
)


@given(STEPS, st.integers(0, 20_000), st.booleans(), st.integers(50, 3_000))
def test_any_relief_shrinks_or_changes_nothing_and_parts_no_pair(steps, to_free, all_of_it, bound):
    spoken = running(*steps)
    after = shrink_scratchpad(spoken.full, spoken.record, to_free=to_free, all_of_it=all_of_it)
    again = shrink_scratchpad(spoken.full, spoken.record, to_free=to_free, all_of_it=all_of_it)
    assert list(after) == list(again)
    assert after is spoken.full or total(after) < total(spoken.full)
    cut = truncate(after, bound=bound)
    assert cut is after or total(cut) < total(after)
    assert [(m.id, m.role, m.metadata.call_id) for m in cut] == [
        (m.id, m.role, m.metadata.call_id) for m in spoken.full
    ]
    for before, now in zip(spoken.full, cut, strict=True):
        if before.role == "tool":
            was, is_ = json.loads(before.content), json.loads(now.content)
            assert (was["status"], was.get("error")) == (is_["status"], is_.get("error"))


def test_a_round_goes_on_as_its_turn_was_shown_last():
    spoken = Spoken().turn("t", edit("a.py"), *(read(f"f{number}.py", lines=700) for number in range(4)))
    reported = {message.metadata.ref: message.content for message in spoken.full if message.metadata.ref is not None}
    record = [
        replace(message, metadata=replace(message.metadata, whole=message.role == "tool")) for message in spoken.record
    ]
    assert given_way(spoken.full, record, reported) == ()
    everything = shrink_scratchpad(spoken.full, record, to_free=10**9, all_of_it=True)
    forms = given_way(everything, record, reported)
    assert Demotion("say_t_1", "arguments") in forms
    assert Demotion("result_t_3", "result") in forms
    shown = demoted(record, set(forms))
    assert [message.content for message in shown] == [message.content for message in everything]
    results = [message for message in spoken.full if message.role == "tool"]
    some = shrink_scratchpad(spoken.full, record, to_free=message_tokens(results[1]) - message_tokens(record[4]))
    assert given_way(some, record, reported)[-1] == Demotion("result_t_2", "cut")
    cut = truncate(spoken.full, bound=600)
    assert {what.part for what in given_way(cut, record, reported)} == {"cut"}
