"""A store that does what it is told and then says that it failed, as when a connection is lost in a commit (D-1, D-3)."""

from __future__ import annotations

import pytest

from codelaw.agent.chat import crash_recovery as crash
from codelaw.domain.errors import Refusal
from tests.agent.conftest import Bench
from tests.agent.test_broken_store import Breaker, agree, script
from tests.agent.test_control import until


@pytest.mark.parametrize(
    ("method", "after"),
    [
        *(("append", n) for n in range(6)),
        ("begin_turn", 0),
        ("end_turn", 0),
        ("save_todos", 0),
        ("append_events", 1),
        ("append_events", 3),
    ],
)
async def test_what_was_kept_though_it_was_said_to_have_failed_is_neither_doubled_nor_in_the_way(
    bench: Bench, method: str, after: int
):
    bench.vendor.reset([bench.finish("hello")])
    chat = (await bench.turn("first")).chat_id
    bench.vendor.reset(script(bench))
    Breaker(bench.session._chats._stores.chats, method, after, lost=True)
    if method == "begin_turn":
        with pytest.raises(Refusal, match="connection was lost"):
            await bench.session.send(chat, "go")
    else:
        await bench.turn("go", chat)
    assert (await bench.session.read(chat)).running is None
    await agree(bench, chat)
    bench.vendor.reset([bench.finish("fine again")])
    assert (await bench.turn("next", chat)).answer == "fine again"
    assert bench.vendor.messages[-1].status == 200
    await agree(bench, chat)
    seqs = [event.seq for event in bench.events]
    assert seqs == list(range(1, len(seqs) + 1)), "no hole and no number twice"
    stored = (await bench.session.read(chat, since_seq=0)).events
    reported = [(event.turn_id, event.event.kind) for event in bench.events if "delta" not in event.event.kind]
    assert [(event.turn_id, event.event.kind) for event in stored if "delta" not in event.event.kind] == reported


async def test_a_turn_that_another_server_took_for_dead_writes_nothing_into_its_closed_round(bench: Bench):
    bench.vendor.reset([bench.act("LS", {}, wait=0.4), bench.finish("ok")])
    running = await bench.session.send(None, "go")
    await until(lambda: bench.vendor.messages)
    store = bench.session._chats._stores.chats
    stored = await store.load(running.chat_id)
    await store.end_turn(crash.ended(stored.turns[0]), crash.last_words(stored.turns[0], stored.messages))
    closed = (await store.load(running.chat_id)).messages
    result = await running.result()
    assert result.error is not None
    assert (result.stop_reason, result.error.code) == ("failed", "turn_not_found")
    assert (await store.load(running.chat_id)).messages == closed
    await agree(bench, running.chat_id)
    bench.vendor.reset([bench.finish("fine again")])
    assert (await bench.turn("next", running.chat_id)).answer == "fine again"
    await agree(bench, running.chat_id)
