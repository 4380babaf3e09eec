"""When the summary fails: nothing lost, nothing made up, said plainly, and not for ever (K-5 to K-7)."""

from __future__ import annotations

import asyncio

import pytest

from tests.agent.conftest import Bench
from tests.agent.talking import (
    SMALL,
    ask,
    asked_in,
    due,
    ends_with,
    fine,
    notices,
    phases,
    reports,
    said,
    small,
    talk,
    usage,
    whole,
)
from tests.agent.test_control import until
from tests.loopback.summaries import Summariser

TIMED_OUT = "Summary generation timed out, keeping recent history only."
ONCE = {"refusal", "401", "404", "huge"}
"""Not worth asking again."""
MODES = ("empty", "tool_call", "cut", "refusal", "401", "529_for_ever", "reset", "overflow")
"""One of each kind; every text that is none has a row in `tests/transcript/test_summary.py`."""
SLOW = {"529_for_ever", "500_for_ever", "reset", "413", "overflow"}


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real decision to ask again, without the waiting."""
    from codelaw.agent.model_calls import recovery

    real = recovery.delay

    def delay(*args) -> float | None:
        wait = real(*args)
        return None if wait is None else 0.001

    monkeypatch.setattr("codelaw.agent.model_calls.recovery.delay", delay)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(
    ("dialect", "mode"), [*(("react", mode) for mode in MODES), ("native", "empty"), ("native", "tool_call")]
)
async def test_what_is_no_summary_is_never_kept_as_one(bench: Bench, mode: str):
    summariser = await small(bench, mode)
    chat = await due(bench)
    bench.events.clear()
    bench.vendor.play(bench.finish("x"))
    result = await bench.turn(ask(18), chat)
    assert result.stop_reason == "finished", "a summary that fails stops no turn"
    assert phases(bench) == ["started", "summarising", "failed"]
    report = reports(bench)[0]
    assert (report.compacted, report.reason, report.summary) == (False, "summary_failed", "none")
    assert report.message
    assert report.message != TIMED_OUT
    assert (report.rounds_archived, report.tokens_after) == (0, report.tokens_before)
    assert asked_in(bench.sent()) == list(range(19)), "the history is uncut while it fits"
    text = whole(bench.sent())
    assert not any(word in text for word in ("SUMMARYCANARY", "PENDINGMARK", "HUGEMARK"))
    assert [code for code, _ in notices(bench)].count("summary_failed") == 1
    if mode in ONCE:
        assert len(summariser.asked) <= 2
    elif mode not in SLOW:
        assert len(summariser.asked) == 2, "asked again once"
    assert len(summariser.asked) <= 12
    assert all(message.role != "summary" for message in (await bench.session.read(chat)).messages)
    fine(bench)


@pytest.mark.parametrize("mode", ["headless"])
async def test_a_second_attempt_that_is_good_is_taken(bench: Bench, mode: str):
    summariser = await small(bench, mode, "good")
    chat = await due(bench)
    bench.vendor.play(bench.finish("x"))
    await bench.turn(ask(18), chat)
    assert len(summariser.asked) == 2
    report = reports(bench)[0]
    assert (report.compacted, report.summary) == (True, "model")
    assert "SUMMARYCANARY2Z" in whole(bench.sent())
    fine(bench)


@pytest.mark.parametrize("mode", ["hang", "slow"])
async def test_after_the_timeout_recent_history_is_kept_and_exactly_that_is_said(bench: Bench, mode: str):
    await small(bench, mode, seconds=5.0, context={"summaryTimeoutSeconds": 1})
    chat = await due(bench)
    before = (await bench.session.read(chat)).messages
    bench.vendor.play(bench.finish("x"))
    result = await bench.turn(ask(18), chat)
    assert result.stop_reason == "finished"
    assert TIMED_OUT in [message for _, message in notices(bench)]
    assert TIMED_OUT in [notice.message for notice in result.notices]
    report = reports(bench)[0]
    assert (report.compacted, report.reason, report.summary) == (True, "summary_timed_out", "none")
    assert report.message == TIMED_OUT
    kept = asked_in(bench.sent())
    assert kept == list(range(kept[0], 19))
    assert kept[0] > 0
    assert len(kept) - 1 >= 4
    assert ends_with(bench.sent(), 18)
    assert "SUMMARYCANARY" not in whole(bench.sent()), "a part of a summary is none"
    record = [message for message in (await bench.session.read(chat)).messages if message.role != "summary"]
    assert tuple(record[: len(before)]) == before, "the record is whole"
    await bench.session.restore(chat, None)
    bench.vendor.play(bench.finish("x"))
    await bench.turn(ask(19), chat)
    assert asked_in(bench.sent()) == list(range(20)), "the cut can be undone"
    await until(lambda: bench.vendor.summaries[0].closed_early)
    fine(bench)


async def test_a_history_that_no_longer_fits_is_cut_with_words_of_its_own(bench: Bench):
    """The window has shrunk since: what failed cannot be put off, so the oldest rounds go, honestly."""
    await small(bench, "headless", model={"contextWindow": 64_000})
    chat = await talk(bench, 24, size=5_000)
    bench.vendor.window = 32_000
    await bench.reopen(**SMALL)
    bench.vendor.play(bench.finish("x"))
    result = await bench.turn(ask(24), chat)
    assert result.stop_reason == "finished", result.error
    kept = asked_in(bench.sent())
    assert kept == list(range(kept[0], 25))
    assert kept[0] > 0
    report = next(report for report in reports(bench) if report.compacted)
    assert (report.reason, report.summary) == ("summary_failed", "none")
    assert report.message
    assert report.message != TIMED_OUT
    assert report.message in [message for _, message in notices(bench)]
    assert not any(request.overflowed for request in bench.vendor.steps)
    await bench.session.restore(chat, None)
    record = (await bench.session.read(chat)).messages
    assert sum("ASKCANARY" in message.content for message in record if message.role == "user") == 25
    fine(bench)


async def test_three_failures_in_a_row_pause_the_automatism_and_asking_starts_it_again(bench: Bench):
    summariser = await small(bench, "headless")
    chat = await due(bench)
    bench.vendor.play(bench.finish("x", usage=usage(26_000), times=0))
    for number in range(18, 21):
        await bench.turn(ask(number), chat)
    assert len(summariser.asked) == 6
    paused = [message for code, message in notices(bench) if code == "compaction_paused"]
    assert len(paused) == 1
    for number in range(21, 24):
        assert (await bench.turn(ask(number), chat)).stop_reason == "finished"
    assert len(summariser.asked) == 6, "paused is paused"
    assert len([code for code, _ in notices(bench) if code == "compaction_paused"]) == 1, "and said once"
    bench.vendor.summariser = summariser = Summariser("good")
    report = await bench.session.compact(chat)
    assert (report.compacted, report.reason) == (True, "manual")
    assert asked_in(bench.vendor.steps[-1].json) == list(range(24))
    await talk(bench, 14, size=3_000, chat=chat, start=24, usage=usage(26_000))
    bench.vendor.play(bench.finish("x"))
    await bench.turn(ask(38), chat)
    assert reports(bench)[-1].reason == "threshold"
    assert reports(bench)[-1].compacted
    assert len(summariser.asked) == 2
    fine(bench)


async def test_a_cancelled_compaction_is_no_failure_and_changes_nothing(bench: Bench):
    await small(bench, "hang")
    chat = await due(bench)
    before = (await bench.session.inspect(chat, "x")).text
    bench.events.clear()
    for _ in range(4):
        asked = len(bench.vendor.summaries)
        work = asyncio.create_task(bench.session.compact(chat))
        await until(lambda asked=asked: len(bench.vendor.summaries) > asked)
        assert await bench.session.cancel_compaction(chat) is True
        report = await work
        assert (report.compacted, report.reason, report.summary) == (False, "cancelled", "none")
    assert phases(bench) == ["started", "summarising", "cancelled"] * 4
    assert await bench.session.cancel_compaction(chat) is False
    assert (await bench.session.inspect(chat, "x")).text == before
    assert [code for code, _ in notices(bench)] == [], "nobody is told that anything went wrong"
    await until(lambda: all(request.closed_early for request in bench.vendor.summaries))
    bench.vendor.summariser = Summariser("good")
    bench.vendor.play(bench.finish("x"))
    await bench.turn(ask(18), chat)
    assert reports(bench)[-1].compacted, "cancels do not pause the automatism"


async def test_a_cancel_after_any_number_of_loop_turns_gives_a_report(bench: Bench):
    """Also in the moment before the compaction has taken its first step."""
    await small(bench, "hang")
    chat = await due(bench)
    agent = await bench.session._chats.get(chat)
    for ticks in range(8):
        work = asyncio.create_task(bench.session.compact(chat))
        while not agent.compacting.in_flight:
            await asyncio.sleep(0)
        for _ in range(ticks):
            await asyncio.sleep(0)
        await bench.session.cancel_compaction(chat)
        report = await work
        assert (report.compacted, report.reason) == (False, "cancelled"), ticks
    ends = [phase for phase in phases(bench) if phase in {"finished", "failed", "cancelled"}]
    assert phases(bench).count("started") == len(ends)


async def test_cancelling_a_turn_that_waits_for_its_summary_ends_both(bench: Bench):
    await small(bench, "hang")
    chat = await due(bench)
    before = asked_in(bench.sent())
    bench.events.clear()
    running = await bench.session.send(chat, ask(18))
    await until(lambda: bench.vendor.summaries)
    assert await bench.session.cancel(chat)
    result = await running.result()
    assert result.stop_reason == "cancelled"
    assert phases(bench)[-1] == "cancelled"
    assert [event.event.kind for event in bench.events][-1] == "turn_ended"
    await until(lambda: bench.vendor.summaries[0].closed_early)
    bench.vendor.summariser = Summariser("good")
    bench.vendor.play(bench.finish("x"))
    await bench.turn(ask(19), chat)
    request = bench.sent()
    assert ends_with(request, 19)
    assert set(asked_in(request)) <= {*before, 18, 19}
    assert 18 in asked_in(request), "what was sent and cancelled is in its round"
    fine(bench)


async def test_a_turn_that_times_out_during_a_compaction_leaves_the_old_view(bench: Bench):
    await small(bench, "hang")
    chat = await due(bench)
    before = (await bench.session.inspect(chat, "x")).text
    for seconds in (1, 30):  # on a busy machine the compaction has not begun
        turn = {"timeoutSeconds": seconds}
        await bench.reopen(model={"contextWindow": 32_000}, context={"keepRounds": 4}, turn=turn)
        bench.events.clear()
        result = await bench.turn(ask(18), chat)
        assert result.stop_reason == "failed"
        assert "turn.timeoutSeconds" in (result.error.message if result.error else "")
        if phases(bench):
            break
    assert phases(bench)[-1] in {"cancelled", "failed"}
    assert not any("ASKCANARY18Z" in said(request.json) for request in bench.vendor.steps)
    after = (await bench.session.inspect(chat, "x")).text
    cut = before.index("[user] x")
    assert after.startswith(before[:cut]), "all of the old view, and the round that was broken off"
    assert "ASKCANARY18Z" in after
    await bench.reopen(**SMALL)
    bench.vendor.summariser = Summariser("good")
    bench.vendor.play(bench.finish("x"))
    assert (await bench.turn(ask(19), chat)).stop_reason == "finished"
    fine(bench)


async def test_a_store_that_cannot_take_the_checkpoint_leaves_the_view_and_says_so(bench: Bench):
    from codelaw.domain.errors import Refusal
    from tests.agent.test_broken_store import Breaker

    await small(bench)
    chat = await due(bench)
    before = (await bench.session.inspect(chat, "x")).text
    agent = await bench.session._chats.get(chat)
    breaker = Breaker(agent.house.store, "reshape", 0)
    with pytest.raises(Refusal) as caught:
        await bench.session.compact(chat)
    assert caught.value.code == "store_unavailable"
    await until(lambda: phases(bench)[-1:] == ["failed"])
    assert (await bench.session.inspect(chat, "x")).text == before
    breaker.mend()
    assert (await bench.session.compact(chat)).compacted
    await bench.reopen(**SMALL)
    assert "SUMMARYCANARY2Z" in (await bench.session.inspect(chat, "x")).text


async def test_a_success_in_between_begins_the_count_anew(bench: Bench):
    summariser = await small(bench, *["headless"] * 4, "good", *["headless"] * 4, "good")
    chat = await due(bench)
    bench.vendor.play(bench.finish("x", usage=usage(26_000), times=0))
    for number in range(18, 21):
        await bench.turn(ask(number), chat)
    assert len(summariser.asked) == 5
    assert [report.compacted for report in reports(bench)] == [False, False, True]
    chat = await talk(bench, 9, size=3_000, chat=chat, start=21, usage=usage(26_000))
    bench.vendor.play(bench.finish("x", usage=usage(26_000), times=0))
    for number in range(30, 33):
        await bench.turn(ask(number), chat)
    codes = [code for code, _ in notices(bench)]
    assert codes.count("summary_failed") == 4, "two and two"
    assert "compaction_paused" not in codes


async def test_cancelling_only_the_compaction_of_a_turn_lets_the_turn_go_on(bench: Bench):
    await small(bench, "hang")
    chat = await due(bench)
    agent = await bench.session._chats.get(chat)
    bench.vendor.play(bench.finish("on", usage=usage(26_000)))
    running = await bench.session.send(chat, ask(18))
    while not agent.compacting.in_flight:
        await asyncio.sleep(0)
    await bench.session.cancel_compaction(chat)
    result = await running.result()
    assert (result.stop_reason, result.answer) == ("finished", "on")
    assert asked_in(bench.sent()) == list(range(19))
