"""Passages and memories in PostgreSQL (B-4, B-6)."""

from __future__ import annotations

import asyncio
import math
import struct

import pytest

from codelaw.adapters.stores import memories as memories_module
from tests.adapters.stores.memory_suite import MODEL, a_memory, found, vector
from tests.adapters.stores.suite import NASTY, a_chat, a_turn, said


async def spoken(stores, count=40):
    await stores.chats.create(a_chat())
    await stores.chats.begin_turn(a_turn(stores.chats), said("m0", f"the walrus question {NASTY}"))
    await stores.chats.append(
        "c1", [said(f"m{n}", f"answer {n} about topic {n % 7}", role="assistant") for n in range(1, count)]
    )


async def test_servers_that_claim_at_once_get_every_passage_once(open_stores):
    stores = [await open_stores() for _ in range(4)]
    await spoken(stores[0])
    await asyncio.gather(*(each.index.index() for each in stores))
    assert await stores[0].index.waiting("e") == 40
    claims = await asyncio.gather(*(each.index.claim("e", limit=7) for each in stores for _ in range(2)))
    ids = [passage.id for passages in claims for passage in passages]
    assert len(ids) == len(set(ids)) == 40
    await stores[1].index.store("e", [(number, vector(1, number)) for number in ids])
    assert await stores[2].index.waiting("e") == 0
    assert (await stores[3].index.search("c1", "walrus question"))[0].message_id == "m0"
    hits = await stores[3].index.search("c1", "zzz", embedder="e", vector=vector(1, ids[0]))
    assert hits[0].similarity == pytest.approx(1.0, abs=0.01)


async def test_memories_among_very_many_are_found_by_the_index(monkeypatch, open_stores, behind):
    monkeypatch.setattr(memories_module, "EXACT", 5)
    monkeypatch.setattr(memories_module, "SCORED", 20)
    store = (await open_stores()).memories
    for number in range(60):
        thing = a_memory(f"m{number:02}", f"common thing {number}", created_at=float(number))
        await store.save(thing, embedder=MODEL, vector=vector(1, number))
        await store.save(
            a_memory(f"x{number:02}", "walrus", belongs_to="bob"), embedder=MODEL, vector=vector(1, number)
        )
    behind("ANALYZE codelaw.memories")
    assert behind("SELECT count(*) FROM pg_indexes WHERE indexname = 'memory_vectors_8'") == [(1,)]
    assert await found(store, "zzz", embedder=MODEL, vector=vector(1, 7), limit=3) == ["m07", "m08", "m06"]
    assert await found(store, "common 41") == ["m41"], "the rare word tells more"
    assert await found(store, "common things", limit=2) == ["m59", "m58"], "the newest, where all words are frequent"


@pytest.mark.parametrize("size", [1, 2000, 2001, 4000, 4001])
async def test_vectors_of_any_size_are_kept_and_found(monkeypatch, open_stores, size):
    monkeypatch.setattr(memories_module, "EXACT", 1)
    store = (await open_stores()).memories
    for number in range(3):
        numbers = [1.0] + [float(number)] * (size - 1)
        length = math.sqrt(sum(each * each for each in numbers))
        packed = struct.pack(f"<{size}f", *(each / length for each in numbers))
        await store.save(a_memory(f"m{number}", f"entry {number}"), embedder=MODEL, vector=packed)
    answers = await found(store, "zzz", embedder=MODEL, vector=packed)
    assert answers[:1] == (["m2"] if size > 1 else answers[:1])
    assert sorted(answers) == ["m0", "m1", "m2"]
