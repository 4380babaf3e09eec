"""The vendor's cache is filled anew for a chat that somebody looks at after a pause, by setting alone (L-6)."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from tests.agent.conftest import Bench
from tests.agent.talking import notices, talk

pytestmark = pytest.mark.parametrize("dialect", ["native"], indirect=True)
WARM: dict[str, Any] = {"name": "claude-sonnet-5-5", "warmCache": True}


async def paused(bench: Bench, rounds: int = 3, seconds: float = 7_200.0, **model: Any) -> str:
    """A chat of rounds of 10 000 tokens each that was left for so many seconds."""
    await bench.reopen(model=WARM | model)
    chat = await talk(bench, rounds, size=40_000)
    agent = bench.session._chats.at_hand(chat)
    assert agent is not None
    agent.past.last_active = time.time() - seconds
    return chat


async def looked_at(bench: Bench, chat: str) -> list[dict[str, Any]]:
    """What was sent for no output when the look at a chat has had its consequences."""
    await bench.session.read(chat, turns=10)
    async with asyncio.timeout(150):
        while bench.session._chats.ahead.busy:
            await asyncio.sleep(0.01)
        agent = bench.session._chats.at_hand(chat)
        assert agent is not None
        await agent.outbox.drain()
    return [request.json for request in bench.vendor.messages if request.json["max_tokens"] == 0]


async def test_a_look_fills_it_and_the_next_turn_reads_what_it_has_written(bench: Bench):
    chat = await paused(bench)
    (sent,) = await looked_at(bench, chat)
    assert "stream" not in sent, "the vendor takes none"
    assert sent["messages"][-1]["content"] == [{"type": "text", "text": "…"}]
    (reported,) = [words for code, words in notices(bench) if code == "cache_filled"]
    assert "tokens were written, for $" in reported
    bench.vendor.play(bench.finish("yes"))
    await bench.turn("And now?", chat)
    assert bench.sent()["messages"][: len(sent["messages"]) - 1] == sent["messages"][:-1]
    assert bench.vendor.messages[-1].usage["cache_read_input_tokens"] > 20_000
    assert len(await looked_at(bench, chat)) == 1, "it is warm"


@pytest.mark.parametrize("why", ["small", "warm", "unset"])
async def test_a_small_or_a_warm_chat_is_left_alone_and_so_is_any_without_the_setting(bench: Bench, why: str):
    known: dict[str, Any] = {"small": {"rounds": 1}, "warm": {"seconds": 60.0}, "unset": {"warmCache": False}}
    chat = await paused(bench, **known[why])
    assert await looked_at(bench, chat) == []


async def test_a_turn_that_begins_is_not_kept_waiting(bench: Bench):
    chat = await paused(bench)
    await bench.session.read(chat, turns=10)
    bench.vendor.play(bench.finish("at once"))
    assert (await bench.turn("Now!", chat)).answer == "at once"
    assert not bench.session._chats.ahead.busy
    assert bench.vendor.messages[-1].json["max_tokens"] > 0


async def test_a_vendor_that_refuses_is_a_notice(bench: Bench):
    chat = await paused(bench)
    bench.vendor.key = "another"
    await looked_at(bench, chat)
    assert [code for code, _ in notices(bench)] == ["cache_not_filled"]
