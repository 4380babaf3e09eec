"""What happens while a summary is being written: nothing is lost, doubled or held up (K-6, K-7)."""

from __future__ import annotations

import asyncio

import pytest

from codelaw.domain.errors import Refusal
from tests.agent.conftest import Bench
from tests.agent.talking import (
    SMALL,
    ask,
    asked_in,
    due,
    ends_with,
    fine,
    phases,
    said,
    small,
    user_texts,
    whole,
)
from tests.agent.test_control import until
from tests.agent.test_interrupts import check

SECONDS = 1.0


async def test_two_at_once_are_one(bench: Bench):
    summariser = await small(bench, "late", seconds=SECONDS)
    chat = await due(bench)
    bench.events.clear()
    one, other, third = await asyncio.gather(*(bench.session.compact(chat) for _ in range(3)))
    assert one == other == third
    assert len(summariser.asked) == 1
    assert phases(bench) == ["started", "summarising", "finished"]
    assert len((await bench.session.archive(chat)).checkpoints) == 1


async def test_a_message_sent_meanwhile_waits_for_the_settled_history(bench: Bench):
    summariser = await small(bench, "late", seconds=SECONDS)
    chat = await due(bench)
    bench.events.clear()
    bench.vendor.play(bench.finish("x"))
    work = asyncio.create_task(bench.session.compact(chat))
    await until(lambda: bench.vendor.summaries)
    result = await bench.turn(ask(18), chat)
    report = await work
    assert (result.stop_reason, report.compacted) == ("finished", True)
    assert len(summariser.asked) == 1
    request = bench.sent()
    assert ends_with(request, 18)
    assert "SUMMARYCANARY1Z" in whole(request), "the new view, not the old"
    kept = asked_in(request)
    assert kept == list(range(kept[0], 19))
    assert kept[0] == report.rounds_archived
    record = (await bench.session.read(chat)).messages
    assert sum("ASKCANARY18Z" in message.content for message in record) == 1
    check(tuple(message for message in record if message.role != "summary"))
    fine(bench)


async def test_a_steer_during_the_turns_own_summary_reaches_the_first_step_once(bench: Bench):
    await small(bench, "late", seconds=SECONDS)
    chat = await due(bench)
    bench.vendor.play(bench.act("LS", {}), bench.finish("x"))
    running = await bench.session.send(chat, ask(18))
    await until(lambda: bench.vendor.summaries)
    await bench.session.steer(chat, "STEERCANARY one")
    await bench.session.steer(chat, "STEERCANARY two")
    with pytest.raises(Refusal) as caught:
        await bench.session.send(chat, "a second turn")
    assert caught.value.code == "chat_busy"
    assert (await running.result()).stop_reason == "finished"
    for request in bench.vendor.steps[-2:]:
        texts = [text for text in user_texts(request.json) if "CANARY" in text]
        assert [text.split("CANARY", 1)[1][:4] for text in texts[-3:]] == ["18Z ", " one", " two"]
        assert said(request.json).count("STEERCANARY") == 2
    record = (await bench.session.read(chat)).messages
    assert sum("STEERCANARY" in message.content for message in record) == 2
    fine(bench)


async def test_a_restore_meanwhile_is_refused_and_a_delete_ends_it(bench: Bench):
    await small(bench, "late", seconds=SECONDS)
    chat = await due(bench)
    work = asyncio.create_task(bench.session.compact(chat))
    await until(lambda: bench.vendor.summaries)
    with pytest.raises(Refusal) as caught:
        await bench.session.restore(chat, None)
    assert caught.value.code == "chat_busy"
    await bench.session.delete(chat)
    assert (await work).reason == "cancelled"
    with pytest.raises(Refusal) as caught:
        await bench.session.compact(chat)
    assert caught.value.code == "chat_not_found"


async def test_what_another_server_did_meanwhile_makes_it_stale_and_nothing_is_lost(bench: Bench):
    from dataclasses import replace

    from tests.agent.conftest import open_session

    await small(bench, "late", "good", seconds=SECONDS)
    chat = await due(bench)
    other = replace(bench, events=[], session=None)  # type: ignore[arg-type]
    other.session = await open_session(other, SMALL)
    work = asyncio.create_task(bench.session.compact(chat))
    await until(lambda: bench.vendor.summaries)
    theirs = await other.session.compact(chat)
    assert theirs.compacted
    with pytest.raises(Refusal) as caught:
        await work
    assert caught.value.code == "chat_busy"
    bench.vendor.play(bench.finish("x", times=0))
    for one, number in ((bench, 18), (other, 19), (bench, 20)):
        await one.turn(ask(number), chat)
        kept = asked_in(bench.sent())
        assert kept == list(range(theirs.rounds_archived, number + 1))
        assert whole(bench.sent()).count("SUMMARYCANARY") == 1
    assert len((await bench.session.archive(chat)).checkpoints) == 1
    await other.session.close()
    fine(bench)
