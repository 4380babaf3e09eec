"""What a turn shows of the past, from its settings and the room that is left: values in, a selection out (B-1, B-2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from codelaw.agent.inputs.surroundings import available, layered, select, span_budget
from codelaw.agent.inputs.turn_context import TurnInputs
from codelaw.context.sections import text_section
from codelaw.transcript.transcript import Transcript
from tests.agent.planning import Running, inputs_of, prose

WINDOW = 32_000
ROOM = 28_800


def said(rounds: int) -> Transcript:
    """A chat of so many rounds of two messages."""
    made = Running(inputs_of(WINDOW))
    for _ in range(rounds):
        made.round(100)
    return made.transcript


def selected(rounds: int, inputs: TurnInputs | None = None, **settings: Any):
    return select(inputs or inputs_of(WINDOW, **settings), said(rounds), asked=50)


def test_layered_shows_all_that_is_not_archived_with_a_fifth_of_the_window_for_summaries():
    inputs = inputs_of(WINDOW, history_limit=7)
    chosen = select(inputs, said(3), asked=50)
    assert chosen == layered(inputs)
    assert (chosen.strategy, chosen.limit, chosen.summary_room, chosen.room) == ("layered", 7, WINDOW // 5, None)


@pytest.mark.parametrize(
    ("rounds", "strategy"), [(9, "full"), (10, "last-n"), (25, "summary+recent"), (51, "span-retrieval")]
)
def test_auto_chooses_by_the_messages_that_there_are_and_may_be_narrowed(rounds: int, strategy: str):
    chosen = selected(rounds, strategy="auto")
    assert (chosen.strategy, chosen.by_auto, chosen.narrows) == (strategy, True, True)


def test_a_full_history_that_was_asked_for_has_no_bound_and_other_strategies_have_what_is_available():
    assert selected(3, strategy="full").room is None
    inputs = inputs_of(WINDOW, strategy="last-n")
    assert selected(3, inputs).room == available(inputs, asked=50)


def test_available_is_what_prompt_law_and_input_leave_with_room_for_the_work_of_the_turn():
    inputs = inputs_of(WINDOW, system=1_000)
    free = available(inputs, asked=50)
    assert free == ROOM * 7 // 8 - inputs.fixed - 50
    law = text_section("L2", "law", prose(400))
    assert available(replace(inputs, law=(law,)), asked=50) == free - law.tokens
    assert available(inputs, asked=WINDOW) == 0


def test_retrieval_takes_its_share_and_recent_rounds_have_the_rest():
    inputs = inputs_of(WINDOW, strategy="span-retrieval", retrieval_share=0.25)
    free = available(inputs, asked=50)
    assert span_budget(inputs, asked=50) == int(free * 0.25)
    assert selected(3, inputs).room == int(free * 0.75)
