"""What a compaction plans in windows and chats of any size, and when one may begin again (K-2, K-8)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

from hypothesis import example, given
from hypothesis import strategies as st

from codelaw.agent.compaction.compaction_plan import SMALL, Cause, CompactionPlan, plan, report_of
from codelaw.agent.compaction.watermark import GROWTH, ended, held_up, waits
from codelaw.agent.inputs.surroundings import layered
from codelaw.agent.inputs.turn_context import TurnInputs
from codelaw.agent.recording.history import HistoryState, Past
from codelaw.context.sections import Section, message_tokens
from codelaw.context.shortening.economy import thin
from codelaw.domain.checkpoints import CompactionReport
from codelaw.transcript.summaries.summary import sizes
from codelaw.transcript.transcript import due
from tests.agent.planning import checkpoint, inputs_of, prose
from tests.context.spoken import Spoken, bash

ASKED = 40
"""Estimated tokens of the question."""


@dataclass
class Chat:
    """A chat without a store, a model or a clock: what a compaction does to its view, by the planner alone."""

    inputs: TurnInputs
    past: Past = field(default_factory=lambda: Past("c", cast("Any", None)))
    last: tuple[str, CompactionReport] | None = None
    turns: int = 0

    @property
    def state(self) -> HistoryState:
        return self.past.state(layered(self.inputs))

    @property
    def view(self) -> int:
        """Corrected tokens of what would be sent now."""
        history = self.past.state(layered(self.inputs)).view
        parts = [*self.inputs.system, *(part for part in (history.summaries, history.rounds) if part is not None)]
        return self.inputs.corrected(sum(part.tokens for part in parts) + ASKED)

    @property
    def waits(self) -> bool:
        known = ended(self.past.transcript, *self.last) if self.last is not None else None
        return waits(self.state, self.inputs, known, view=self.view, beside=ASKED)

    def round(self, tokens: int, results: int) -> None:
        turn = f"t{self.turns}"
        steps = [bash(f"make {number}", lines=tokens // 40) for number in range(results)]
        spoken = Spoken().turn(turn, *steps, answer=prose(tokens))
        self.past.transcript = self.past.transcript.ended(spoken.record, turn, float(self.turns))
        self.turns += 1

    def compact(self, reason: Literal["threshold", "overflow"]) -> tuple[CompactionPlan, CompactionReport]:
        goal = self.inputs.room if reason == "overflow" else None
        cause = Cause(reason, (("question", ASKED),), goal, f"t{self.turns}")
        planned = plan(self.state, self.inputs, cause)
        cut = None
        if planned.changes:
            cut = checkpoint(planned, f"c{len(self.past.transcript.checkpoints)}", self.inputs)
            self.past.transcript = self.past.transcript.reshaped(cut, ())
            self.past.settled = self.past.transcript.newest_turn
        reported = reason if planned.archived else planned.idle
        stored = cut.id if cut is not None else None
        report = report_of(planned, self.state, self.inputs, reported, seconds=0.0, message="", checkpoint=stored)
        self.last = f"t{self.turns}", report
        return planned, report


SIZES = st.lists(st.tuples(st.integers(10, 4_000), st.integers(0, 3)), min_size=1, max_size=24)
WINDOWS = st.sampled_from([16_000, 32_000, 64_000, 200_000])


@given(WINDOWS, st.integers(1, 12), st.integers(100, 4_000), st.floats(0.5, 2.0), SIZES)
@example(16_000, 1, 1_172, 2.0, [(14, 0), (145, 1), (856, 3)])
def test_any_compaction_comes_down_to_the_mark_or_says_what_keeps_it_from_there(
    window: int, keep: int, system: int, ratio: float, said: list[tuple[int, int]]
):
    chat = Chat(inputs_of(window, keep_rounds=keep, system=system, ratio=ratio))
    for tokens, results in said:
        chat.round(tokens, results)
    before = chat.view
    planned, report = chat.compact("threshold")
    assert report.tokens_before == before
    assert report.tokens_after == chat.view
    # The summary here has a length of its own, which may be more than the little it stands for.
    gone = sum(message_tokens(message) for round_ in planned.archived for message in round_.messages)
    room = sizes(chat.inputs.limits.window, chat.inputs.settings.index_tokens).total
    assert report.tokens_after <= before or gone < room
    kept = chat.past.transcript.kept
    assert kept, "the newest stays"
    large = window >= SMALL
    assert len(kept) >= min(keep, len(said)) or not large
    mark = chat.inputs.low_water
    around = (("question", ASKED),)
    why = held_up(chat.state, chat.inputs, around=around, tokens=report.tokens_after)
    assert bool(why) == (report.tokens_after > mark)
    if report.tokens_after > mark and report.tokens_before > mark:
        assert len(kept) == min(keep, len(said)) or not large, "all that may be archived is"
        shown = [message for round_ in kept for message in round_.messages]
        assert thin(shown, chat.past.transcript.demoted, to_free=10**9) == (), "and all is thinned"
        assert str(mark) in why
        assert "context.keepRounds" in why or "the newest round" in why


@given(WINDOWS, st.integers(1, 12), st.integers(100, 4_000), SIZES)
def test_in_danger_a_compaction_leaves_room_to_grow_or_a_single_round(
    window: int, keep: int, system: int, said: list[tuple[int, int]]
):
    chat = Chat(inputs_of(window, keep_rounds=keep, system=system))
    for tokens, results in said:
        chat.round(tokens, results)
    _, report = chat.compact("overflow")
    if len(chat.past.transcript.kept) > 1:
        assert report.tokens_after <= max(chat.inputs.low_water, chat.inputs.room - window // GROWTH)


@given(
    WINDOWS,
    st.integers(1, 12),
    st.integers(100, 4_000),
    st.lists(st.tuples(st.integers(10, 9_000), st.integers(0, 2)), min_size=20, max_size=60),
)
def test_none_begins_by_itself_before_the_view_has_grown_by_a_tenth(
    window: int, keep: int, system: int, said: list[tuple[int, int]]
):
    """Turn by turn as `W-2` asks; a restart changes nothing, since nothing but the stored state is asked."""
    chat = Chat(inputs_of(window, keep_rounds=keep, system=system))
    after: int | None = None
    for tokens, results in said:
        size = chat.view
        if size > chat.inputs.room:
            assert not chat.waits, "the danger waits for nothing"
            after = chat.compact("overflow")[1].tokens_after
        elif due(size, 0, window=window, threshold=0.8, messages=9, min_messages=3):
            grown = after is None or size - after >= window / GROWTH
            assert chat.waits != grown
            if grown:
                after = chat.compact("threshold")[1].tokens_after
        chat.round(tokens, results)


def test_a_checkpoint_that_was_undone_ends_nothing_and_its_restore_is_where_growth_begins():
    chat = Chat(inputs_of(32_000, keep_rounds=2, system=500))
    for _ in range(12):
        chat.round(2_000, 0)
    _, report = chat.compact("threshold")
    assert report.checkpoint_id is not None
    undone = chat.past.transcript.restored(report.checkpoint_id)
    assert undone is not None
    chat.past.transcript = undone
    assert ended(chat.past.transcript, "t12", report) is None
    assert chat.waits
    chat.round(3_300, 0)
    assert not chat.waits


def test_a_failure_or_a_cancel_ends_nothing():
    chat = Chat(inputs_of(32_000, keep_rounds=2, system=500))
    for reason in ("summary_failed", "cancelled"):
        assert ended(chat.past.transcript, "t1", CompactionReport(compacted=False, reason=reason)) is None  # type: ignore[arg-type]
    assert ended(chat.past.transcript, "", None) is None
    assert not chat.waits


def test_a_turn_that_has_become_a_shorter_round_has_not_grown():
    chat = Chat(inputs_of(32_000, keep_rounds=2, system=500))
    for _ in range(6):
        chat.round(2_000, 0)
    _, report = chat.compact("threshold")
    running = replace(report, tokens_after=report.tokens_after + 12_000)
    chat.last = f"t{chat.turns}", running
    chat.round(6_000, 0)
    assert chat.view < running.tokens_after
    assert chat.waits
    chat.round(3_300, 0)
    assert not chat.waits


def test_a_message_is_named_where_the_user_can_do_something_about_it():
    chat = Chat(inputs_of(32_000, keep_rounds=10, system=900))
    for _ in range(5):
        chat.round(4_000, 0)
    around = (("question", 2_000), ("scratchpad", 3_000), ("memories", 0))
    chat.inputs = replace(chat.inputs, law=(Section("L2", "law", 700),))
    why = held_up(chat.state, chat.inputs, around=around, tokens=26_000)
    assert why.index("newest 5 rounds (context.keepRounds") < why.index("the steps of this turn 3000")
    assert why.index("the steps of this turn 3000") < why.index("your message 2000") < why.index("the law 700")
    assert "memories" not in why
    assert "grown by 3200 tokens" in why
    lower = held_up(chat.state, chat.inputs, around=around, tokens=20_000)
    assert "grown by" not in lower, "the trigger is farther away than that"
    assert held_up(chat.state, chat.inputs, around=around, tokens=12_800) == ""
