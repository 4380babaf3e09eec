"""What a profile says of the cache, of prices and of thinking decides when the past is shown shorter (C-6, P-6)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codelaw.adapters.models.catalog import profile
from codelaw.agent.dialects.base import Binding
from codelaw.agent.dialects.native import Native
from codelaw.agent.dialects.react import React
from codelaw.agent.turn.window_plan import before_first_step
from codelaw.context.shortening.economy import Terms
from codelaw.context.tokens import resolve_window
from tests.agent.planning import inputs_of
from tests.agent.test_window_plan import LONG, WINDOW, chat, long_ago


@pytest.mark.parametrize(
    ("name", "pays"),
    [
        ("claude-sonnet-4-6", [False, True, True]),
        ("gpt-6.2-sol", [False, False, True]),
        ("command-r-08-2024", [True, True, True]),
    ],
)
def test_a_batch_pays_by_what_the_profile_says_of_the_cache(name: str, pays: list[bool]):
    """A cache of five minutes, one of half an hour, and none: where nothing is kept, nothing stale is."""
    made, known = long_ago(chat()), profile(name)
    assert known is not None
    made.inputs = replace(made.inputs, prices=known.prices, caches=known.caching, profile=known)
    made.last_active = LONG
    shortened = [before_first_step(made.now, "", LONG + at) is not None for at in (10, 400, 2_000)]
    assert shortened == pays


def test_what_a_model_thought_counts_where_an_edit_would_lose_it():
    for name, dialect, effort in (
        ("gpt-6.2-sol", Native(binding=Binding("openai")), "medium"),
        ("gpt-6.2-sol", React(), None),
        ("gpt-6.1-sol", Native(binding=Binding("openai")), None),
    ):
        assert replace(inputs_of(WINDOW), dialect=dialect, profile=profile(name)).bound_effort == effort


@pytest.mark.parametrize("name", ["gpt-6.2-sol", "gpt-6.2-astra", "gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-luna"])
def test_a_gpt_model_stays_below_its_step_of_price(name: str):
    known = profile(name)
    assert known is not None
    assert known.prices is not None
    (step,) = known.prices.steps
    assert resolve_window(profile=known).tokens < step.above == 272_000
    assert Terms(known.largest_window or 0, known.prices).floor < step.above, "and is shortened below it in a larger"
