"""What each strategy really sends, over the vendor's wire (B-1, B-2, B-3, L-7)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.agent.conftest import Bench
from tests.agent.talking import (
    ask,
    asked_in,
    fine,
    notices,
    phases,
    plain,
    said,
    small,
    system,
    talk,
)
from tests.loopback.script import VendorReply, fault

ROLLING = "You keep the running summary"
"""What stands in the system text of a call for a rolling summary."""


def rolling(text: str = "THREADCANARY of what was said.", **more: Any) -> VendorReply:
    """What the vendor answers to every call for a rolling summary."""
    return VendorReply(text=text, when_contains=ROLLING, times=0, chunk=4_000, **more)


def always(bench: Bench, reply: VendorReply) -> None:
    """Whatever else is played, this is there too."""
    play = type(bench.vendor).play
    bench.vendor.play = lambda *replies: play(bench.vendor, reply, *replies)  # type: ignore[method-assign]


def recents_in(request: dict[str, Any]) -> list[int]:
    """The rounds whose question stands in a request as it was said, not in what was found."""
    text = re.sub(r"<earlier-messages>.*?</earlier-messages>", "", said(request))
    return [number for number in range(100) if f"ASKCANARY{number}Z" in text]


def rolling_calls(bench: Bench) -> list[dict[str, Any]]:
    return [call.json for call in bench.vendor.messages if ROLLING in system(call.json)]


async def summarised(bench: Bench, chat: str) -> None:
    """Wait for the rolling summary, which nobody waits for."""
    await (await bench.session._chats.get(chat)).rolling.settled()


async def ask_once(bench: Bench, number: int, chat: str) -> dict[str, Any]:
    """One more turn of the chat; gives its request."""
    bench.vendor.play(bench.finish("x"))
    result = await bench.turn(ask(number), chat)
    assert result.stop_reason == "finished", result.error
    return next(call.json for call in reversed(bench.vendor.messages) if ROLLING not in system(call.json))


async def test_full_sends_every_round_whatever_a_compaction_archived(bench: Bench):
    await small(bench, context={"keepRounds": 2})
    chat = await talk(bench, 6, size=200)
    assert (await bench.session.compact(chat)).rounds_archived == 4
    assert asked_in(await ask_once(bench, 6, chat)) == [4, 5, 6]
    await bench.session.update(chat, strategy="full")
    request = await ask_once(bench, 7, chat)
    assert asked_in(request) == list(range(8))
    assert "SUMMARYCANARY" not in system(request)
    await bench.session.update(chat, strategy="layered")
    assert asked_in(await ask_once(bench, 8, chat)) == [4, 5, 6, 7, 8], "the archive is as it was"
    fine(bench)


async def test_a_strategy_is_chosen_per_chat_and_per_request(bench: Bench):
    chat = await talk(bench, 20, size=50)
    assert len(asked_in(await ask_once(bench, 20, chat))) == 21
    bench.vendor.play(bench.finish("x"))
    await bench.turn(ask(21), chat, strategy="last-n")
    assert len(asked_in(bench.sent())) == 16
    assert (await bench.session.read(chat)).chat.strategy == "last-n"


async def test_summary_and_recents_are_sent_and_the_summary_grows_in_the_background(bench: Bench):
    await bench.reopen(context={"strategy": "summary+recent", "recentMin": 2, "recentMax": 4, "summariseAbove": 300})
    always(bench, rolling())
    chat = await talk(bench, 3, size=1_500)
    await summarised(bench, chat)
    calls = rolling_calls(bench)
    assert len(calls) >= 1
    assert "ASKCANARY0Z" in said(calls[0])
    assert "ASKCANARY2Z" not in said(calls[0]), "the newest are not in it"
    request = await ask_once(bench, 3, chat)
    assert "THREADCANARY" in system(request)
    assert asked_in(request) == [1, 2, 3]
    await summarised(bench, chat)
    last = rolling_calls(bench)[-1]
    assert "THREADCANARY" in said(last), "the summary so far is in the next call"
    assert "ASKCANARY0Z" not in said(last), "and what it knows already is not told again"
    updates = [message for code, message in notices(bench) if code == "thread_summary_updated"]
    assert updates
    assert "tokens read" in updates[0]
    await bench.reopen(context={"strategy": "summary+recent", "recentMin": 2, "recentMax": 4})
    assert "THREADCANARY" in system(await ask_once(bench, 4, chat)), "it is stored"


async def test_a_turn_never_waits_for_a_rolling_summary_and_sees_no_change_of_it_in_between(bench: Bench):
    await bench.reopen(context={"strategy": "summary+recent", "recentMin": 2, "recentMax": 4, "summariseAbove": 300})
    (bench.root / "a.py").write_text("x = 1\n")
    always(bench, rolling(wait=0.6))
    chat = await talk(bench, 2, size=1_500)
    bench.vendor.play(bench.act("Read", {"path": "a.py"}), bench.finish("x", wait=1.0))
    result = await bench.turn(ask(2), chat)
    assert result.stop_reason == "finished"
    steps = [call.json for call in bench.vendor.messages if "ASKCANARY2Z" in said(call.json)][:2]
    assert [("THREADCANARY" in system(step)) for step in steps] == [False, False]
    assert plain(steps[0]["system"]) == plain(steps[1]["system"])
    await summarised(bench, chat)


@pytest.mark.parametrize(
    "reply",
    [rolling(""), fault("401", when_contains=ROLLING, times=0)],
    ids=["empty", "401"],
)
async def test_a_failed_rolling_summary_is_a_notice_and_the_next_turn_tries_again(bench: Bench, reply: VendorReply):
    await bench.reopen(context={"strategy": "summary+recent", "recentMin": 2, "recentMax": 4, "summariseAbove": 300})
    always(bench, reply)
    chat = await talk(bench, 3, size=1_500)
    await summarised(bench, chat)
    before = len(rolling_calls(bench))
    request = await ask_once(bench, 3, chat)
    assert asked_in(request) == [1, 2, 3]
    await summarised(bench, chat)
    assert len(rolling_calls(bench)) > before
    codes = [code for code, _ in notices(bench)]
    assert "thread_summary_failed" in codes
    assert "thread_summary_updated" not in codes


async def test_a_rolling_summary_can_be_switched_off_and_a_session_ends_while_one_is_written(bench: Bench):
    off = {"strategy": "summary+recent", "recentMin": 2, "summariseAbove": 300, "summary": False}
    await bench.reopen(context=off)
    always(bench, rolling())
    chat = await talk(bench, 3, size=1_500)
    await summarised(bench, chat)
    assert rolling_calls(bench) == []
    await bench.reopen(context=off | {"summary": True})
    always(bench, fault("hang", when_contains=ROLLING, times=0))
    await ask_once(bench, 3, chat)
    agent = await bench.session._chats.get(chat)
    assert agent.rolling.in_flight
    await bench.reopen()
    assert not agent.rolling.in_flight


async def test_what_a_rolling_summary_says_of_a_turn_is_gone_when_the_turn_is_withdrawn(bench: Bench):
    await bench.reopen(context={"strategy": "summary+recent", "recentMin": 2, "recentMax": 4, "summariseAbove": 300})
    always(bench, rolling())
    chat = await talk(bench, 4, size=1_500)
    await summarised(bench, chat)
    first = (await bench.session.read(chat)).messages[0].turn_id
    await bench.session.revert(chat, first, files=False, messages=True)
    always(bench, rolling("SECONDCANARY"))
    request = await ask_once(bench, 4, chat)
    assert "THREADCANARY" not in system(request)
    await summarised(bench, chat)
    assert "ASKCANARY0Z" not in said(rolling_calls(bench)[-1])
    assert "SECONDCANARY" in system(await ask_once(bench, 5, chat))


async def test_sliding_window_sends_the_newest_rounds_within_their_share_and_pins_the_goal(bench: Bench):
    await bench.reopen(context={"strategy": "sliding-window", "window": 5, "summary": False})
    chat = await talk(bench, 8, size=100)
    long = "GOALCANARY " + "word " * 60
    bench.vendor.play(bench.finish("x"))
    await bench.turn(long, chat)
    request = bench.sent()
    assert asked_in(request) == [3, 4, 5, 6, 7]
    tail = request["messages"][-1]["content"][-1]["text"]
    assert tail.startswith("<pin>")
    assert f'"{long[:200]}..."' in tail
    assert "Status: ACTIVE" in tail
    record = await bench.session.read(chat)
    assert not any("<pin>" in message.content for message in record.messages), "never stored"


async def test_a_budget_that_is_set_cuts_recents_to_the_newest_that_fit_but_never_the_last(bench: Bench):
    await bench.reopen(context={"strategy": "sliding-window", "totalBudget": 16_000, "summary": False, "pin": False})
    chat = await talk(bench, 12, size=6_000)
    request = await ask_once(bench, 12, chat)
    kept = asked_in(request)
    assert kept == list(range(kept[0], 13))
    assert 1 < len(kept) < 10
    assert "<pin>" not in said(request)
    report = await bench.session.inspect(chat, ask(13))
    recent = next(line for line in report.budget if line.part == "recent")
    assert recent.share == int(16_000 * 0.55)
    assert recent.tokens <= recent.share
    assert not recent.over
    assert "rounds over budget" in [entry.name for entry in report.dropped]
    await bench.reopen(context={"strategy": "sliding-window", "totalBudget": 1_000, "summary": False, "pin": False})
    assert asked_in(await ask_once(bench, 13, chat)) == [12, 13], "the newest round stays, and the law and L1 do"
    assert "You are codelaw" in system(bench.sent())


@pytest.mark.parametrize("strategy", ["span-retrieval", "sliding-window"])
async def test_a_strategy_that_does_not_fit_any_more_gives_up_rounds_not_the_turn(bench: Bench, strategy: str):
    await small(bench, context={"strategy": strategy, "summary": False, "economy": False, "pin": False})
    chat = await talk(bench, 9, size=9_000)
    bench.vendor.play(bench.finish("x"))
    result = await bench.turn(ask(9), chat)
    assert result.stop_reason == "finished", result.error
    kept = recents_in(bench.sent())
    assert kept == list(range(kept[0], 10))
    assert 2 <= len(kept) <= 9
    assert phases(bench) == [], "nothing is archived for it (W-2)"
    fine(bench)


async def test_full_that_does_not_fit_is_refused_and_another_strategy_advised(bench: Bench):
    await small(bench, context={"strategy": "last-n"})
    chat = await talk(bench, 12, size=9_000)
    bench.vendor.play(bench.finish("x"))
    result = await bench.turn(ask(12), chat, strategy="full")
    assert result.stop_reason == "failed"
    assert result.error.code == "context_overflow"
    assert "`full`" in result.error.hint
    assert "last-n" in result.error.hint
    bench.vendor.play(bench.finish("x"))
    assert (await bench.turn(ask(13), chat, strategy="last-n")).stop_reason == "finished"
