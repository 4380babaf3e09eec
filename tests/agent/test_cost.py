"""What a turn costs is the sum of what each of its requests costs, by its own size."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codelaw.app import models
from codelaw.domain.chats import TurnResult
from codelaw.domain.models import Usage
from tests.agent.conftest import Bench

STEPPED = "claude-haiku-5-5"
BELOW = {"input_tokens": 30_000, "cache_creation_input_tokens": 10_000, "cache_read_input_tokens": 20_000}
ABOVE = {"input_tokens": 30_000, "cache_creation_input_tokens": 10_000, "cache_read_input_tokens": 70_000}


def billed(reported: dict[str, int]) -> Usage:
    sent = (reported["input_tokens"], reported["cache_read_input_tokens"], reported["cache_creation_input_tokens"])
    return Usage(*sent, output_tokens=1_000)


async def played(bench: Bench, *requests: dict[str, int]) -> TurnResult:
    """A turn of the model that costs more from a size of a request on."""
    await bench.reopen(model={"name": STEPPED})
    (bench.root / "a.txt").write_text("x")
    *first, last = ({**reported, "output_tokens": 1_000} for reported in requests)
    acts = (bench.act("Read", {"path": "a.txt"}, usage=reported) for reported in first)
    bench.vendor.play(*acts, bench.finish("Done.", usage=last))
    return await bench.turn("Go.")


async def test_two_small_requests_cost_what_small_ones_do(bench: Bench):
    result = await played(bench, BELOW, BELOW)
    prices = models.prices(STEPPED)
    assert prices is not None
    assert result.usage.total_tokens > prices.steps[0].above, "together they are above the step"
    assert result.cost_usd == pytest.approx(2 * prices.cost(billed(BELOW)))


async def test_a_large_request_costs_what_a_large_one_does(bench: Bench):
    result = await played(bench, BELOW, ABOVE)
    prices = models.prices(STEPPED)
    assert prices is not None
    flat = replace(prices, steps=())
    assert result.cost_usd == pytest.approx(flat.cost(billed(BELOW)) + prices.steps[0].input * flat.cost(billed(ABOVE)))
