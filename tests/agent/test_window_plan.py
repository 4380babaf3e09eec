"""What a turn does to stay inside its window: every decision on values alone (W-2, W-6, C-5, C-6, K-8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from codelaw.agent.compaction.watermark import CompactionEnd
from codelaw.agent.turn.window_plan import (
    FULL_HINT,
    LADDER,
    NONSENSE_HINT,
    Action,
    Compact,
    Compactions,
    Demote,
    FitProgress,
    Lighten,
    Narrow,
    Refuse,
    Send,
    Shorten,
    Wait,
    before_first_step,
    heard,
    next_action,
    unkept,
)
from codelaw.domain.errors import ModelFailure
from codelaw.domain.messages import Fragment
from codelaw.domain.models import Usage
from tests.agent.planning import Running, inputs_of, prose
from tests.context.spoken import bash, read

WINDOW = 32_000
MARK = 25_600
ROOM = 28_800
LONG = 1_000_000.0
"""Seconds since the epoch at which every cache is cold."""


def chat(rounds: int = 0, size: int = 2_000, *, window: int = WINDOW, **settings: Any) -> Running:
    """A chat of so many rounds with answers of `size` tokens."""
    made = Running(inputs_of(window, **{"keep_rounds": 4, **settings}))
    for _ in range(rounds):
        made.round(size)
    return made


def names(actions: list[Action]) -> list[str]:
    return [type(action).__name__ for action in actions]


def overflow(limit: int | None = None, size: int | None = None) -> ModelFailure:
    return ModelFailure("overflow", "prompt is too long", limit=limit, size=size)


def refused(running: Running, failure: ModelFailure, progress: FitProgress) -> tuple[list[Action], FitProgress]:
    """What follows when the vendor has refused the view of `running`."""
    running.begin()
    learned = heard(running.inputs, progress, running.now.view, failure)
    assert learned.action is None
    running.inputs = learned.inputs
    return running.play(learned.progress)


# Before the first step.


def due_chat(used: int = MARK, rounds: int = 12) -> Running:
    made = chat(rounds, 1_000)
    made.last_usage = Usage(input_tokens=used)
    return made


def test_a_compaction_is_due_from_the_threshold_on():
    action = before_first_step(due_chat().now, "", 0.0)
    assert isinstance(action, Compact)
    assert (action.cause.reason, action.cause.goal, action.cause.turn_id) == ("threshold", None, "now")
    assert dict(action.cause.around)["question"] > 0
    assert before_first_step(due_chat(MARK - 1).now, "", 0.0) is None


def test_what_was_typed_counts_a_token_for_three_characters():
    assert before_first_step(due_chat(MARK - 10).now, "x" * 29, 0.0) is None
    assert isinstance(before_first_step(due_chat(MARK - 10).now, "x" * 30, 0.0), Compact)


def test_few_messages_are_never_compacted():
    assert before_first_step(due_chat(rounds=1).now, "", 0.0) is None


def test_in_danger_none_waits():
    made = due_chat(rounds=40)
    made.settled = made.transcript.newest_turn
    made.compactions = Compactions(newest=CompactionEnd("", made.now.tokens))
    assert not made.now.fits
    assert isinstance(before_first_step(made.now, "", 0.0), Compact)


def long_ago(made: Running) -> Running:
    """The chat, its first Read many steps ago."""
    made.round(500, read("a.py", 200))
    return made.round(9_000, *(bash("make", lines=1) for _ in range(24)))


def test_a_batch_goes_when_the_cache_is_cold_and_not_while_it_is_warm():
    made = long_ago(chat())
    made.last_active = LONG - 10
    assert before_first_step(made.now, "", LONG) is None, "it frees less than it costs to write the rest again"
    action = before_first_step(made.now, "", LONG + 1_000)
    assert isinstance(action, Demote)
    before = made.now.tokens
    made.do(action)
    assert made.now.tokens < before
    again = before_first_step(made.now, "", LONG + 1_000)
    assert not isinstance(again, Demote) or set(again.demotions).isdisjoint(action.demotions), "each goes once"


def test_a_vendor_without_a_cache_is_always_cold():
    made = long_ago(chat())
    made.last_active = LONG - 10
    made.inputs = replace(made.inputs, caches=False)
    assert isinstance(before_first_step(made.now, "", LONG), Demote)


def test_no_batch_goes_below_three_tenths_of_the_window():
    assert before_first_step(long_ago(chat(window=200_000)).now, "", LONG) is None
    assert isinstance(before_first_step(long_ago(chat()).now, "", LONG), Demote)


def test_where_economy_is_off_results_are_cut_at_once():
    made = chat().round(100, read("a.py"))
    whole = [
        replace(one, metadata=replace(one.metadata, whole=True)) if one.role == "tool" else one
        for one in made.transcript.messages
    ]
    made.transcript = replace(made.transcript, messages=tuple(whole))
    assert unkept(made.inputs, made.transcript) == ()
    assert unkept(replace(made.inputs, caches=False), made.transcript) == ()
    off = replace(made.inputs, settings=replace(made.inputs.settings, economy=False))
    (demotion,) = unkept(off, made.transcript)
    assert demotion.part == "cut"


# At a step.


def test_a_view_that_fits_is_sent_and_nothing_is_tried():
    made = chat(3).step(read("a.py"))
    action, progress = next_action(made.now, FitProgress())
    assert isinstance(action, Send)
    assert progress == FitProgress()


def test_finished_rounds_give_way_before_anything_of_the_turn():
    made = chat(10, 1_500).step(*(read(f"f{number}.py", 300) for number in range(2)))
    assert made.now.near
    pad = made.scratchpad
    actions, progress = made.play(FitProgress())
    assert names(actions) == ["Compact", "Send"]
    assert made.scratchpad is pad
    assert progress.ladder == LADDER, "the window was not in danger"


def test_a_turn_that_is_long_by_itself_is_shortened_in_one_step_to_the_low_water_mark():
    made = chat().step(*(read(f"f{number}.py", 300) for number in range(9)))
    assert not made.now.fits
    actions, progress = made.play(FitProgress())
    assert names(actions)[-2:] == ["Shorten", "Send"]
    assert made.now.tokens <= made.inputs.low_water
    assert made.scratchpad[-1].content == made.record[-1].content or "def " in made.scratchpad[-1].content
    assert "compact" not in progress.ladder, "it was tried once in this turn"


def test_one_result_larger_than_the_window_is_truncated():
    made = chat().step(bash("make", lines=20_000))
    made.record = made.scratchpad
    actions, _ = made.play(FitProgress())
    assert names(actions)[-2:] == ["Shorten", "Send"]
    assert '"truncated": true' in made.scratchpad[-1].content


def test_what_is_only_lent_to_the_question_goes_last():
    made = chat()
    made.beside = (Fragment("memories", prose(ROOM)),)
    made.inputs = replace(made.inputs, beside=made.beside)
    actions, _ = made.play(FitProgress())
    assert names(actions)[-2:] == ["Lighten", "Send"]
    assert made.beside == ()


def test_a_question_that_is_too_long_is_refused_with_the_sizes_of_all_there_is():
    made = chat(2)
    made.question = replace(made.question, content=prose(40_000))
    actions, _ = made.play(FitProgress())
    refusal = actions[-1]
    assert isinstance(refusal, Refuse)
    assert f"window of {WINDOW}" in refusal.message
    assert "question" in refusal.message
    assert "core" in refusal.message
    assert "history" in refusal.message


def test_a_compaction_in_flight_is_waited_for_and_nothing_counts_as_tried():
    made = chat(14).step(read("a.py"))
    made.compactions = Compactions(in_flight=True)
    action, progress = next_action(made.now, FitProgress())
    assert action == Wait()
    assert progress == FitProgress()
    made.compactions = Compactions()
    assert names(made.play(progress)[0])[0] == "Compact"


def test_paused_compactions_do_not_begin_at_the_mark_and_do_in_danger():
    made = chat(10, 1_500).step(*(read(f"f{number}.py", 300) for number in range(2)))
    made.compactions = Compactions(paused=True)
    assert made.now.fits
    assert names(made.play(FitProgress())[0]) == ["Send"]
    made.step(*(read(f"f{number}.py", 330) for number in range(5)))
    actions, _ = made.play(FitProgress())
    assert isinstance(actions[0], Compact)
    assert (actions[0].cause.reason, actions[0].cause.goal) == ("overflow", ROOM)


# Strategies that archive nothing.


def test_a_strategy_that_archives_nothing_shows_fewer_rounds_and_thins_those_that_stay():
    made = chat(strategy="last-n")
    made.chosen = replace(made.selection, room=None)
    for number in range(9):
        made.round(600, read(f"f{number}.py", 300))
    assert not made.now.fits
    actions, progress = made.play(FitProgress())
    assert names(actions)[0] == "Narrow"
    assert names(actions)[-1] == "Send"
    assert made.now.tokens <= ROOM
    assert "compact" not in progress.ladder


def test_one_round_that_is_left_is_thinned():
    made = chat(strategy="last-n")
    made.round(100, *(bash(f"make {number}", lines=3_000) for number in range(90)))
    assert not made.now.fits
    assert names(made.play(FitProgress())[0]) == ["Narrow", "Demote", "Send"]


def test_a_history_that_was_wanted_in_full_is_never_narrowed():
    made = chat(20, strategy="full")
    actions, _ = made.play(FitProgress())
    refusal = actions[-1]
    assert names(actions) == ["Refuse"]
    assert isinstance(refusal, Refuse)
    assert refusal.hint == FULL_HINT


# When the vendor says that it is too long.


def test_a_limit_that_the_vendor_told_becomes_the_window_and_is_given_back():
    made = chat(6)
    sent = made.now.tokens
    learned = heard(made.inputs, FitProgress(), made.now.view, overflow(limit=10_000))
    assert learned.limit == 10_000
    assert learned.inputs.limits.window == 10_000
    assert learned.inputs.limits.reserve == 1_000
    assert learned.inputs.summary_window == 10_000
    assert learned.progress.refused is not None
    assert (learned.progress.refused.sent, learned.progress.refused.goal) == (sent, 9_000)
    assert made.inputs.limits.window == WINDOW, "the value that was given is as it was"


def test_a_limit_is_read_in_our_measure_where_the_vendor_told_how_long_it_found_the_prompt():
    made = chat(6)
    sent = made.now.tokens
    learned = heard(made.inputs, FitProgress(), made.now.view, overflow(limit=20_000, size=2 * sent))
    assert learned.limit == 20_000
    assert learned.inputs.limits.window == 10_000


def test_without_a_number_the_view_comes_down_to_half():
    made = chat(6)
    sent = made.now.tokens
    learned = heard(made.inputs, FitProgress(), made.now.view, overflow())
    assert learned.limit is None
    assert learned.inputs.limits.window == int(sent * 0.9)
    assert learned.progress.refused is not None
    assert learned.progress.refused.goal == sent // 2


def test_numbers_that_cannot_be_are_not_believed_and_the_same_view_is_sent_once_more():
    made = chat(6)
    view, nonsense = made.now.view, overflow(size=made.now.tokens * 100, limit=WINDOW)
    first = heard(made.inputs, FitProgress(), view, nonsense)
    assert isinstance(first.action, Send)
    assert first.action.view is view
    assert first.limit is None
    assert first.inputs is made.inputs
    again = heard(made.inputs, first.progress, view, nonsense)
    assert isinstance(again.action, Refuse)
    assert again.action.hint == NONSENSE_HINT
    assert "prompt is too long" in again.action.message


def test_the_ladder_compacts_first_and_sends_what_is_smaller():
    made = chat(12, 1_000)
    before = made.now.tokens
    actions, progress = refused(made, overflow(limit=9_000), FitProgress())
    assert names(actions) == ["Compact", "Send"]
    assert isinstance(actions[0], Compact)
    assert (actions[0].cause.reason, actions[0].cause.goal) == ("overflow", 8_100)
    assert made.now.tokens < before
    assert progress.ladder == LADDER[1:]


def test_each_rung_is_climbed_once_in_a_turn_until_none_is_left():
    made = chat(12, 1_000).step(read("a.py", 300), read("b.py", 100), bash("make", lines=3_000))
    made.beside = (Fragment("memories", prose(500)),)
    made.inputs = replace(made.inputs, beside=made.beside)
    progress, reported = FitProgress(), list[str]()
    while True:
        before = made.now.tokens
        actions, progress = refused(made, overflow(), progress)
        reported += names(actions)
        if isinstance(actions[-1], Refuse):
            assert "The vendor says: prompt is too long" in actions[-1].message
            break
        assert made.now.tokens < before
    assert reported == ["Compact", "Send", "Shorten", "Send", "Lighten", "Send", "Refuse"]
    assert progress.ladder == ()


def test_a_rung_that_changes_nothing_is_passed_over():
    made = chat()
    made.question = replace(made.question, content=prose(9_000))
    actions, _ = refused(made, overflow(), FitProgress())
    assert names(actions) == ["Compact", "Refuse"]


# Whatever the chat.

STEPS = st.lists(st.integers(0, 1_500), max_size=8)


@given(
    st.lists(st.tuples(st.integers(10, 4_000), st.integers(0, 2)), max_size=14),
    STEPS,
    st.sampled_from(["layered", "full", "last-n", "summary+recent", "sliding-window", "auto"]),
    st.integers(5, 20_000),
    st.floats(0.5, 2.0),
)
def test_any_turn_ends_with_a_view_that_fits_or_a_refusal_and_the_question_stands_in_it_once(
    said: list[tuple[int, int]], steps: list[int], strategy: str, asked: int, ratio: float
):
    made = Running(inputs_of(16_000, ratio=ratio, keep_rounds=2, strategy=strategy))
    for tokens, results in said:
        made.round(tokens, *(bash(f"make {number}", lines=tokens // 10) for number in range(results)))
    made.step(*(read(f"f{number}.py", max(1, lines)) for number, lines in enumerate(steps)))
    made.question = replace(made.question, content=prose(asked))
    actions, progress = made.play(FitProgress())
    last = actions[-1]
    if isinstance(last, Send):
        assert made.now.fits
        texts = [message.content for section in last.view.sections for message in section.messages]
        assert texts.count(made.question.content) == 1
        actions, _ = refused(made, overflow(), replace(progress, refused=None))
        assert isinstance(actions[-1], Send | Refuse)
    else:
        assert isinstance(last, Refuse)
        assert not made.now.fits
        assert all(isinstance(one, Compact | Narrow | Demote | Shorten | Lighten) for one in actions[:-1])
