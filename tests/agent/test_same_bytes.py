"""A finished turn's results stand in the view as the turn showed them, until a batch shortens them (C-6, L-6)."""

from __future__ import annotations

import sqlite3

import pytest

from benchmarks.billing import Cache
from benchmarks.billing import blocks as written
from codelaw.domain.checkpoints import Demotion
from tests.agent.conftest import Bench
from tests.agent.talking import blocks, said

LAST = "LINE39"
"""Of what a Grep finds, far behind what the cut of it keeps."""


def searched(bench: Bench) -> None:
    """Two turns to come: one that searches a file of forty lines, and one that answers at once."""
    (bench.root / "a.txt").write_text("".join(f"found LINE{line}\n" for line in range(40)))
    bench.vendor.reset([bench.act("Grep", {"pattern": "found"}), bench.finish("one"), bench.finish("ok", times=0)])


async def test_the_next_turn_begins_with_the_bytes_of_the_last_one(bench: Bench):
    searched(bench)
    chat = (await bench.turn("look", None)).chat_id
    await bench.turn("and now", chat)
    first, second, third = [blocks(request.json) for request in bench.vendor.messages]
    assert second[: len(first)] == first
    assert third[: len(second)] == second
    assert LAST in said(bench.sent())
    record = await bench.session.read(chat)
    (result,) = [message for message in record.messages if message.role == "tool"]
    assert LAST not in result.content, "the record is cut when it is written"


async def test_a_restart_shows_the_same_bytes(bench: Bench):
    searched(bench)
    chat = (await bench.turn("look")).chat_id
    await bench.turn("and now", chat)
    before = blocks(bench.sent())
    await bench.reopen()
    await bench.turn("again", chat)
    assert blocks(bench.sent())[: len(before)] == before


async def test_a_result_that_the_store_has_lost_stands_as_the_history_has_it(bench: Bench):
    searched(bench)
    chat = (await bench.turn("look")).chat_id
    await bench.session.close()
    (database,) = bench.home.rglob("*.db")
    with sqlite3.connect(database) as connection:
        connection.execute("DELETE FROM results")
    connection.close()
    await bench.reopen()
    assert (await bench.turn("and now", chat)).stop_reason == "finished"
    assert LAST not in said(bench.sent())
    assert "LINE0" in said(bench.sent())
    before = blocks(bench.sent())
    await bench.turn("again", chat)
    assert blocks(bench.sent())[: len(before)] == before


async def test_a_fork_begins_with_the_same_bytes(bench: Bench):
    searched(bench)
    chat = (await bench.turn("look")).chat_id
    newest = (await bench.turn("and now", chat)).turn_id
    before = blocks(bench.sent())
    fork = (await bench.session.fork(chat, newest)).id
    await bench.turn("elsewhere", fork)
    assert blocks(bench.sent())[: len(before)] == before


@pytest.mark.parametrize("part", ["cut", "result"])
async def test_a_batch_is_kept_with_the_chat(bench: Bench, part: str):
    searched(bench)
    chat = (await bench.turn("look")).chat_id
    await bench.session.close()
    await bench.reopen()
    agent = await bench.session._chats.get(chat)
    ((_, message_id),) = agent.past.transcript.whole.items()
    await agent.past.reshape(None, [Demotion(message_id, part)])  # type: ignore[arg-type]
    assert not agent.past.transcript.reported
    await bench.turn("and now", chat)
    assert LAST not in said(bench.sent())
    assert ("characters; result:" in said(bench.sent())) is (part == "result")
    before = blocks(bench.sent())
    await bench.reopen()
    await bench.turn("again", chat)
    assert blocks(bench.sent())[: len(before)] == before


async def test_the_request_after_a_batch_reads_what_the_batch_has_left(bench: Bench):
    """Its breakpoints stand where the last turn's requests have left entries, in front of the first change (L-6)."""
    for number in range(20):
        text = "".join(f"FILE{number}LINE{line} of plain words\n" for line in range(90))
        (bench.root / f"f{number}.txt").write_text(text)
    bench.vendor.reset()
    await bench.reopen(model={"contextWindow": 40_000})
    chat, batches, last, cache = None, 0, 0, Cache(len)
    for number in range(20):
        bench.vendor.play(bench.act("Read", {"path": f"f{number}.txt"}), bench.finish("ok"))
        chat = (await bench.turn(f"what is in file {number}?", chat)).chat_id
    for request in bench.vendor.messages:
        sent, ideal, read = cache.take(list(written(request.json)))
        batches += sent < last
        last = sent
        assert read == ideal, (sent, ideal, read)
    assert batches >= 1, "something was shortened"
    assert cache.most_breakpoints <= 4
