"""When a compaction is due, to the token; and when it is not (W-1, W-2, K-8)."""

from __future__ import annotations

import pytest

from tests.agent.conftest import Bench
from tests.agent.talking import due, fine, notices, phases, small, talk, usage

CACHED = {"input_tokens": 500, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 159_600, "output_tokens": 0}


async def reported(bench: Bench, total: dict[str, int] | int, text: str, rounds: int = 2) -> list[str]:
    """The phases of the compaction that `text` sets off after an answer of that usage."""
    counted = usage(total) if isinstance(total, int) else total
    chat = await talk(bench, rounds, size=40, usage=counted)
    bench.events.clear()
    bench.vendor.play(bench.finish("on"))
    assert (await bench.turn(text, chat)).answer == "on"
    fine(bench)
    return phases(bench)


@pytest.mark.parametrize(
    ("total", "text", "fires"),
    [
        (159_998, "abc", False),
        (159_999, "ab", False),
        (159_999, "abc", True),
        (159_998, "abcde", False),
        (159_998, "abcdef", True),
        (160_000, "a", True),
        (CACHED, "a", True),
        (CACHED | {"cache_read_input_tokens": 159_499}, "a", False),
        ({"input_tokens": 1, "cache_creation_input_tokens": 150_000, "output_tokens": 9_999}, "a", True),
        ({"input_tokens": 160_000}, "a", True),
        ({"input_tokens": 0, "output_tokens": 159_999}, "a", False),
    ],
)
async def test_the_trigger_fires_at_the_threshold_and_not_a_token_before(bench: Bench, total, text: str, fires: bool):
    assert bool(await reported(bench, total, text)) is fires


async def test_usage_is_that_of_the_latest_answer_and_is_not_added_up(bench: Bench):
    chat = await talk(bench, 4, size=40, usage=usage(90_000))
    chat = await talk(bench, 1, size=40, chat=chat, start=4, usage=usage(90_000))
    bench.vendor.play(bench.act("LS", {}, usage=usage(170_000)), bench.finish("x", usage=usage(1_000)))
    await bench.turn("a heavy step and a light last one", chat)
    bench.events.clear()
    bench.vendor.play(bench.finish("x"))
    await bench.turn("abc", chat)
    assert phases(bench) == []


async def test_usage_that_was_billed_before_a_restart_still_counts(bench: Bench):
    summariser = await small(bench)
    chat = await due(bench)
    await bench.reopen(model={"contextWindow": 32_000}, context={"keepRounds": 4})
    bench.vendor.play(bench.finish("x"))
    await bench.turn("abc", chat)
    assert len(summariser.asked) == 1


async def test_below_sixteen_thousand_nothing_is_asked_and_nothing_is_stored(bench: Bench):
    chat = await talk(bench, 3, size=40, usage=usage(15_000))
    await bench.reopen(context={"maxWindow": 15_999})
    asked = len(bench.vendor.messages)
    before = await bench.session.read(chat)
    with pytest.raises(Exception, match="15999") as caught:
        await bench.session.send(chat, "go")
    assert getattr(caught.value, "code", "") == "window_too_small"
    assert len(bench.vendor.messages) == asked
    assert (await bench.session.read(chat)).messages == before.messages
    await bench.reopen(context={"maxWindow": 16_000})
    bench.vendor.play(bench.finish("x"))
    assert (await bench.turn("go", chat)).stop_reason == "finished"
    assert "window_small" in dict(notices(bench))
