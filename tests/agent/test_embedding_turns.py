"""Turns and the queue behind them: what was said gets its vectors, and nothing of it is in a turn's way (B-5, B-8)."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from typing import Any

import pytest

from codelaw.domain.errors import Refusal
from tests.agent.conftest import Bench
from tests.agent.test_control import until
from tests.loopback.embeddings import LoopbackEmbeddings


@pytest.fixture
def dialect() -> str:
    return "native"


@pytest.fixture
async def vendor() -> AsyncIterator[LoopbackEmbeddings]:
    async with LoopbackEmbeddings() as made:
        yield made


def endpoint(vendor: LoopbackEmbeddings, **more: Any) -> dict[str, Any]:
    return {"provider": "openai", "baseUrl": vendor.url, "apiKey": vendor.key, **more}


def rows(bench: Bench, query: str) -> list[Any]:
    connection = sqlite3.connect(bench.home / "codelaw.db")
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def waiting(bench: Bench, embedder: str) -> int:
    messages = rows(bench, "SELECT count(*) FROM messages WHERE indexed = 0")[0][0]
    missing = (
        f"SELECT count(*) FROM passages WHERE id NOT IN (SELECT passage_id FROM vectors WHERE embedder = '{embedder}')"
    )
    return messages + rows(bench, missing)[0][0]


@pytest.mark.blocking
async def test_after_a_turn_its_messages_have_vectors_without_any_setting(bench: Bench):
    bench.vendor.reset([bench.finish("The parser lives in parse.py.")])
    chat = (await bench.turn("Where is the parser?")).chat_id
    await until(lambda: rows(bench, "SELECT 1 FROM vectors") and not waiting(bench, "hashing-2/512"))
    found = rows(bench, "SELECT body, length(vector) FROM passages JOIN vectors ON passage_id = passages.id")
    assert {("Where is the parser?", 2048), ("The parser lives in parse.py.", 2048)} <= set(found)
    index = (await bench.session._chats.stores()).index
    (vector,) = await bench.session.recall._embedder.now.embed(["which file has the parser"])
    hits = await index.search(chat, "which file has the parser", embedder="hashing-2/512", vector=vector)
    assert len(hits) == 2
    assert all(hit.similarity is not None and hit.similarity > 0.2 for hit in hits)


@pytest.mark.blocking
async def test_an_endpoint_that_refuses_is_told_once_and_stops_nothing(bench: Bench, vendor: LoopbackEmbeddings):
    vendor.key = "another"
    await bench.reopen(embedding=endpoint(vendor, apiKey="sk-embedding-SECRET"))
    bench.vendor.reset([bench.finish("x", times=0)])
    first = await bench.turn("hello")
    assert first.stop_reason == "finished"
    await until(lambda: bench.kinds("notice"))
    for _ in range(3):
        assert (await bench.turn("again", first.chat_id)).stop_reason == "finished"
    (reported,) = [notice for notice in bench.kinds("notice") if notice.code == "embedding_failed"]
    assert "Check embedding.apiKey" in reported.message
    assert "SECRET" not in str(bench.events)
    assert len(vendor.requests) == 1, "it is not asked again"
    with pytest.raises(Refusal, match=r"Check embedding\.apiKey") as caught:
        await bench.session.memories.backfill(None)
    assert (caught.value.code, "SECRET" in caught.value.message) == ("model_unavailable", False)


@pytest.mark.blocking
async def test_a_backfill_counts_what_it_embeds_and_knows_its_chats(bench: Bench, vendor: LoopbackEmbeddings):
    bench.vendor.reset([bench.finish("x", times=0)])
    one, other = [(await bench.turn(f"hello {number}")).chat_id for number in range(2)]
    await bench.reopen(embedding=endpoint(vendor))
    count = await bench.session.memories.backfill(one)
    assert count == 2
    assert await bench.session.memories.backfill(None) == 2
    assert await bench.session.memories.backfill(other) == 0
    assert sorted(set(vendor.embedded)) == ["hello 0", "hello 1", "x"]
    with pytest.raises(Refusal) as caught:
        await bench.session.memories.backfill("nowhere")
    assert caught.value.code == "chat_not_found"
