"""A store that fails ends the turn with `store_unavailable`, and the chat goes on when it is back (D-1)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from codelaw.domain.errors import Refusal
from tests.agent.conftest import Bench
from tests.agent.test_control import until
from tests.agent.test_interrupts import check
from tests.loopback.script import VendorReply

TODOS = {"todos": [{"content": "look", "status": "in_progress"}]}


class Breaker:
    """Lets the real store fail from its n-th call of one method on; with `lost` once, after it was done all the same."""

    def __init__(self, store: Any, method: str, after: int, *, lost: bool = False) -> None:
        self._store, self._method, self._real = store, method, getattr(store, method)
        self._left, self._lost = after, lost
        setattr(store, method, self._call)

    async def _call(self, *args: Any, **more: Any) -> Any:
        self._left -= 1
        done = await self._real(*args, **more) if self._lost or self._left >= 0 else None
        if self._left < 0 and not (self._lost and self._left < -1):
            raise Refusal("store_unavailable", "The connection was lost.", "Try again.")
        return done

    def mend(self) -> None:
        setattr(self._store, self._method, self._real)


def script(bench: Bench) -> list[VendorReply]:
    (bench.root / "a.py").write_text("x = 1\n")
    read = {"path": "a.py"}
    many = bench.act("Read", read)
    if bench.dialect == "native":
        many = VendorReply(text="look", calls=tuple({"name": "Read", "input": read} for _ in range(3)))
    return [many, bench.act("TodoWrite", TODOS), bench.finish("all of it")]


async def agree(bench: Bench, chat_id: str) -> None:
    """Memory says what the store says."""
    session = bench.session
    agent = await session._chats.get(chat_id)
    assert session._chats._stores is not None
    stored = await session._chats._stores.chats.load(chat_id)
    assert agent.past.transcript.messages == stored.messages
    assert agent.todos.now == stored.todos
    assert agent.chat == stored.chat
    check(stored.messages)


@pytest.mark.parametrize(
    ("method", "after"),
    [
        *(("append", n) for n in range(6)),
        ("end_turn", 0),
        ("save_todos", 0),
        ("append_events", 0),
        ("append_events", 3),
    ],
)
async def test_a_store_that_fails_in_mid_turn(bench: Bench, method: str, after: int):
    bench.vendor.reset([bench.finish("hello")])
    chat = (await bench.turn("first")).chat_id
    bench.vendor.reset(script(bench))
    breaker = Breaker(bench.session._chats._stores.chats, method, after)
    result = await bench.turn("go", chat)
    if method != "append_events" and (result.stop_reason, result.answer) != ("finished", "all of it"):
        assert result.error is not None
        assert (result.stop_reason, result.error.code) == ("failed", "store_unavailable")
    assert bench.events[-1].event.kind == "turn_ended"
    record = await bench.session.read(chat)
    assert record.running is None
    if method == "end_turn":
        with pytest.raises(Refusal) as caught:
            await bench.session.send(chat, "too early")
        assert caught.value.code == "store_unavailable"
    breaker.mend()
    bench.vendor.reset([bench.finish("fine again")])
    assert (await bench.turn("next", chat)).answer == "fine again"
    assert bench.vendor.messages[-1].status == 200
    await agree(bench, chat)
    seqs = [event.seq for event in bench.events]
    assert seqs == list(range(1, len(seqs) + 1)), "no hole and no number twice"
    await bench.reopen()
    await agree(bench, chat)
    bench.vendor.reset([bench.finish("after a restart")])
    assert (await bench.turn("next", chat)).stop_reason == "finished"
    assert bench.vendor.messages[-1].status == 200


@pytest.mark.parametrize("method", ["begin_turn", "create", "mark_noticed", "update", "chat"])
async def test_a_store_that_fails_before_a_turn_refuses_it_and_leaves_the_chat_free(bench: Bench, method: str):
    await bench.reopen(context={"maxWindow": 31_999})
    chat = (await bench.session.create(title="t")).id
    breaker = Breaker(bench.session._chats._stores.chats, method, 0)
    with pytest.raises(Refusal) as caught:
        await bench.session.send(None if method == "create" else chat, "go", mode="ask")
    assert caught.value.code == "store_unavailable"
    breaker.mend()
    bench.vendor.reset([bench.finish("ok")])
    assert (await bench.turn("go", chat)).stop_reason == "finished"
    await agree(bench, chat)


async def test_a_grant_that_cannot_be_stored_ends_the_turn_and_runs_nothing(bench: Bench):
    bench.user.answer = "allow_always"
    bench.vendor.reset([bench.act("Write", {"path": "a", "content": "1"}), bench.finish("ok")])
    await bench.session.list(None, 1, None)
    breaker = Breaker(bench.session._chats._stores.chats, "add_grant", 0)
    result = await bench.turn("go")
    assert result.error is not None
    assert result.error.code == "store_unavailable"
    assert not (bench.root / "a").exists()
    breaker.mend()
    await agree(bench, result.chat_id)


async def test_a_turn_whose_chat_another_server_deletes_ends_in_words(bench: Bench):
    bench.vendor.reset([bench.act("LS", {}, delay=0.03), bench.finish("ok", times=0)])
    running = await bench.session.send(None, "go")
    await until(lambda: bench.vendor.messages)
    assert bench.session._chats._stores is not None
    await bench.session._chats._stores.chats.delete(running.chat_id)
    async with asyncio.timeout(150):
        result = await running.result()
    assert (result.stop_reason, result.error.code if result.error else "") == ("failed", "chat_not_found")
    assert (await bench.turn("another")).stop_reason == "finished"


async def test_a_message_that_cannot_be_sent_leaves_no_chat(bench: Bench):
    await bench.session.list(None, 1, None)
    breaker = Breaker(bench.session._chats._stores.chats, "begin_turn", 0)
    with pytest.raises(Refusal):
        await bench.session.send(None, "go")
    breaker.mend()
    assert await bench.session.list(None, 10, None) == ([], None)


async def test_a_chat_deleted_under_its_turn_ends_it(bench: Bench):
    bench.vendor.reset([bench.act("LS", {}, delay=0.03), bench.finish("ok", times=0)])
    running = await bench.session.send(None, "go")
    await until(lambda: bench.vendor.messages)
    await bench.session.delete(running.chat_id)
    assert (await running.result()).stop_reason == "cancelled"
    with pytest.raises(Refusal) as caught:
        await bench.session.send(running.chat_id, "again")
    assert caught.value.code == "chat_not_found"
    assert (await bench.turn("another")).stop_reason == "finished"
