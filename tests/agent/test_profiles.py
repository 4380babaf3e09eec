"""Profiles that the endpoint tells: asked beside a turn, kept for the session (W-3, W-5, P-6)."""

from __future__ import annotations

import asyncio

import pytest

from codelaw.domain.errors import Refusal
from tests.adapters.models.test_described import ANSWER
from tests.agent.conftest import Bench

NAME = "claude-new-9"


async def reported(bench: Bench, name: str = NAME, **said: object) -> str:
    """A chat of a model, once its endpoint was asked what it is."""
    bench.vendor.models = [name]
    bench.vendor.described = {name: ANSWER | said}
    bench.vendor.reset([bench.finish("ok", times=0)])
    await bench.reopen(model={"name": name})
    chat = (await bench.turn("go")).chat_id
    await asyncio.gather(*bench.session._turns.profiles._asking.values())
    return chat


def asked(bench: Bench) -> list[str]:
    return [one.path for one in bench.vendor.requests if one.method == "GET"]


async def test_a_new_model_gets_its_window_and_is_asked_about_once(bench: Bench):
    bench.vendor.models = [NAME]
    chat = await reported(bench)
    await bench.turn("go", chat)
    await bench.turn("go")
    before, *after = [event.context_window for event in bench.kinds("usage")]
    assert (before, after) == (64_000, [200_000, 200_000])
    assert bench.sent()["max_tokens"] == 32_000
    assert asked(bench) == [f"/v1/models/{NAME}"]


async def test_the_row_of_a_model_says_what_it_is_and_who_says_so(bench: Bench):
    await reported(bench)
    row = next(one for one in bench.session.models() if one.name == NAME)
    assert (row.source, row.family, row.effort) == ("endpoint", "new", ("low", "medium", "high", "max"))
    assert (row.context_window, row.largest_window, row.prices) == (200_000, 1_000_000, None)
    ours = next(one for one in bench.session.models() if one.name == "claude-haiku-5-5")
    assert (ours.source, ours.family, ours.default_effort) == ("profile", "haiku", "medium")
    assert ours.prices is not None
    assert ours.prices.steps[0].above == 100_000


async def test_what_the_endpoint_says_of_effort_counts(bench: Bench):
    chat = await reported(bench)
    with pytest.raises(Refusal, match=f"{NAME} does not take the effort xhigh, only low, medium, high, max"):
        await bench.session.update(chat, effort="xhigh")


async def test_a_model_that_ends_is_told_once_in_a_chat(bench: Bench):
    chat = await reported(bench, lifecycle="deprecated", retires_at="2027-01-01T00:00:00Z")
    codes = [[notice.code for notice in (await bench.turn("go", chat)).notices] for _ in range(2)]
    assert codes == [["model_retired"], []]
