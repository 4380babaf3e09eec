"""Two servers on one store: each sees what the other said, and neither mends what the other still runs (D-4)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from codelaw.adapters.stores.chats import SqlChats
from codelaw.domain.errors import Refusal
from tests.agent.conftest import Bench, open_session
from tests.agent.test_broken_store import agree
from tests.agent.test_control import never, texts, until
from tests.agent.test_interrupts import check


@pytest.fixture
async def other(bench: Bench) -> AsyncIterator[Bench]:
    """The same home, workspace and vendor, as another server."""
    made = replace(bench, events=[], session=None)  # type: ignore[arg-type]
    made.session = await open_session(made, {})
    yield made
    await made.session.close()


async def test_a_round_of_the_other_server_is_in_the_view_and_refs_stay_apart(bench: Bench, other: Bench):
    (bench.root / "notes.txt").write_text("".join(f"needle-{number}\n" for number in range(60)))
    grep, ls = bench.act("Grep", {"pattern": "needle"}), bench.act("LS", {})
    bench.vendor.reset([grep, bench.finish("one"), ls, bench.finish("two"), ls, bench.finish("three")])
    chat = (await bench.turn("FIRSTMARK")).chat_id
    await other.turn("SECONDMARK", chat)
    await bench.turn("THIRDMARK", chat)
    assert [texts(bench.sent()).count(mark) for mark in ("FIRSTMARK", "SECONDMARK", "THIRDMARK")] == [1, 1, 1]
    for one in (bench, other):
        await agree(one, chat)
        bench.vendor.reset([bench.act("Read", {"path": "result:r1"}), bench.finish("ok")])
        await one.turn("show r1", chat)
        assert "needle-59" in texts(bench.sent()), "the second server's results have refs of their own"
    seqs = [event.seq for event in [*bench.events, *other.events]]
    assert len(set(seqs)) == len(seqs)
    assert {event.seq for event in (await bench.session.read(chat, since_seq=0)).events} <= set(seqs)
    assert all(request.status == 200 for request in bench.vendor.messages)


async def test_a_turn_of_a_living_server_is_left_alone(bench: Bench, other: Bench):
    bench.user.answer = None
    bench.vendor.reset([bench.act("LS", {}), bench.act("Bash", {"command": "true"}), bench.finish("x", times=0)])
    running = await bench.session.send(None, "go")
    await until(lambda: bench.user.asked)
    chat = running.chat_id
    record = await other.session.read(chat)
    assert record.running == running.turn_id
    assert [message.role for message in record.messages] == ["user", "assistant", "tool", "assistant"]
    for refused in (other.session.send(chat, "me too"), other.session.delete(chat)):
        with pytest.raises(Refusal) as caught:
            await refused
        assert caught.value.code == "chat_busy"
    assert await other.session.cancel(chat) is False
    with pytest.raises(Refusal) as caught:
        await other.session.steer(chat, "hurry")
    assert caught.value.code == "turn_not_found"
    assert other.events == []
    await bench.session.cancel(chat)
    assert (await running.result()).stop_reason == "cancelled"
    bench.vendor.reset([bench.finish("now")])
    assert (await other.turn("and now?", chat)).answer == "now"
    assert "interrupted" in texts(bench.sent())
    await agree(bench, chat)


async def die(bench: Bench) -> None:
    """The server's process is gone: its lock on the store goes, nothing else is done."""
    store, made = bench.session._chats._stores.chats, bench.session.resources.chats.models
    assert store is not None
    store.append = store.end_turn = store.append_events = never  # type: ignore[method-assign]
    for agent in bench.session._chats:
        while agent.running is not None and not agent.running.conduct.done():  # type: ignore[union-attr]
            agent.running.work.cancel()  # type: ignore[union-attr]
            agent.running.conduct.cancel()  # type: ignore[union-attr]
            await asyncio.sleep(0)
    await store.close()
    await made.close()
    bench.session = await open_session(bench, {})


async def test_no_number_comes_back_with_another_event(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    """A client has seen what a full disk did not take; the server is killed, and the next one goes on."""
    chat = (await bench.turn("go", replies=[bench.finish("x", times=0)])).chat_id
    await bench.reopen()

    async def full(*_arguments: object) -> list[int]:
        raise Refusal("store_unavailable", "The disk is full.", "Free some space.")

    with monkeypatch.context() as broken:
        broken.setattr(SqlChats, "append_events", full)
        await bench.turn("seen by a client alone", chat)
    await die(bench)
    seen = {event.seq: event.event for event in bench.events}
    newest = max(seen)
    await bench.turn("and on", chat)
    await bench.reopen()
    await bench.turn("and on again", chat)
    assert [event.seq for event in bench.events] == sorted({event.seq for event in bench.events})
    stored = (await bench.session.read(chat, since_seq=newest)).events
    assert [event.seq for event in stored if event.event.kind == "turn_started"] == [
        event.seq for event in bench.events if event.event.kind == "turn_started" and event.seq > newest
    ]
    assert len(stored) > 2
    known = (await bench.session.read(chat, since_seq=0)).events
    assert all(seen[event.seq] == event.event for event in known if event.seq in seen and event.event.kind == "notice")


async def test_two_servers_mend_a_dead_ones_turn_once(bench: Bench, other: Bench):
    third = replace(other, events=[], session=await open_session(other, {}))
    bench.user.answer = None
    bench.vendor.reset([bench.finish("known"), bench.act("Bash", {"command": "true"}), bench.finish("x", times=0)])
    chat = (await bench.turn("first")).chat_id
    await other.session.read(chat)  # has it in memory before the crash
    running = await bench.session.send(chat, "go")
    await until(lambda: bench.user.asked)
    await die(bench)
    records = await asyncio.gather(*(one.session.read(chat) for one in (other, third, bench)))
    assert {record.running for record in records} == {None}
    ended = [event for one in (bench, other, third) for event in one.events if event.turn_id == running.turn_id]
    assert [event.event.kind for event in ended].count("turn_ended") == 1
    assert (await other.turn("on", chat)).stop_reason == "finished"
    for one in (bench, other, third):
        await agree(one, chat)
    check((await bench.session.read(chat)).messages)
    assert all(request.status == 200 for request in bench.vendor.messages)
    await third.session.close()
