"""Forty turns in windows of every size: how often a model is asked for a summary, and how many rounds stay (K-2, K-8)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from codelaw.agent.compaction.compaction_plan import SMALL, TURNS, Cause, plan
from codelaw.agent.compaction.watermark import CompactionEnd, waits
from codelaw.context.sections import message_tokens
from codelaw.transcript.transcript import due
from tests.agent.conftest import Bench
from tests.agent.planning import Running, checkpoint, inputs_of
from tests.agent.talking import filler, fine, notices, reports, small
from tests.context.spoken import read

PLAYED = 40
"""Turns."""


@dataclass
class Played:
    """What compactions did in a chat of so many turns, by the planner alone."""

    summaries: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """The turn before which rounds were archived, and how many stayed."""
    batches: int = 0
    """Compactions that asked no model."""


def played(window: int, answer: int, lines: int, *, keep: int = 10) -> Played:
    """Turns with two Reads of so many lines and an answer of so many tokens; the model counts as we do."""
    made, reported = Running(inputs_of(window, system=2_000, keep_rounds=keep)), Played()
    last: CompactionEnd | None = None
    for turn in range(PLAYED):
        size = made.now.tokens
        beside = message_tokens(made.question)
        state, inputs = made.now.archive, made.inputs
        in_danger = size > inputs.room
        is_due = due(size, 0, window=window, threshold=0.8, messages=9, min_messages=3)
        if in_danger or (is_due and not waits(state, inputs, last, view=size, beside=beside)):
            cause = Cause("threshold", (("question", beside),), inputs.room if in_danger else None)
            planned = plan(state, inputs, cause)
            if planned.changes:
                made.transcript = made.transcript.reshaped(checkpoint(planned, f"c{turn}", inputs), ())
            last = CompactionEnd("", made.now.tokens)
            if planned.archived:
                reported.summaries.append((turn, len(planned.kept)))
            else:
                reported.batches += 1
        made.round(answer, *(read(f"f{turn}_{number}.py", lines) for number in range(2)))
    return reported


SIZES = {"light": (100, 15), "usual": (200, 30), "heavy": (300, 60)}
"""Of turns: tokens of the answer, and lines of each of the two Reads; some 900, 1 700 and 3 200 tokens in all."""


@pytest.mark.parametrize(
    ("window", "size", "most", "least"),
    [
        (16_000, "light", 3, 5),
        (16_000, "heavy", 6, 1),
        (24_000, "usual", 1, 10),
        (32_000, "heavy", 1, 10),
        (48_000, "heavy", 0, 10),
    ],
)
def test_a_small_window_asks_for_a_summary_every_eighth_turn_at_most(window: int, size: str, most: int, least: int):
    """`most` summaries in forty turns; `least` rounds stay."""
    reported = played(window, *SIZES[size])
    assert len(reported.summaries) <= most, reported
    assert all(kept >= least for _, kept in reported.summaries), reported
    for (before, kept), (turn, _) in pairwise(reported.summaries):
        assert turn - before >= TURNS or kept == 1, "all has gone that could, but for the newest round"


def test_a_large_window_full_of_ten_rounds_keeps_them_and_a_small_one_does_not():
    """Ten rounds of texts that nothing thins: at least ten stay (S4), but where no turn would have room any more."""
    for window in (200_000, SMALL, SMALL - 1, 20_000):
        made = Running(inputs_of(window, system=1_000))
        for _ in range(12):
            made.round(window // 17)
        planned = plan(made.now.archive, made.inputs, Cause("threshold"))
        assert len(planned.kept) == 10 if window >= SMALL else 1 < len(planned.kept) < 5, window
        asked_for = plan(made.now.archive, made.inputs, Cause("manual"))
        assert len(asked_for.kept) == 10, "a person has asked for exactly so many"


async def test_a_user_is_told_that_fewer_rounds_stay_once_for_each_step_down(bench: Bench):
    summariser = await small(bench, model={"contextWindow": 20_000}, context={"keepRounds": 10})
    chat = None
    for number in range(34):
        size = 1_500 if number < 16 else 5_000
        bench.vendor.play(bench.finish(filler(size, number), chunk=4_000))
        chat = (await bench.turn(f"Question {number}", chat)).chat_id
    fine(bench)
    kept = [report.rounds_kept for report in reports(bench) if report.compacted]
    assert len(kept) == len(summariser.asked) >= 3
    steps = [stay for place, stay in enumerate(kept) if stay < min([10, *kept[:place]])]
    said = [message for code, message in notices(bench) if code == "fewer_rounds"]
    assert 0 < len(said) == len(steps) < len(kept)
    for message, stay in zip(said, steps, strict=True):
        assert "The window of 20000 tokens is small" in message
        assert f"{stay} rounds stay" in message or stay == 1
        assert "not 10 (context.keepRounds)" in message
