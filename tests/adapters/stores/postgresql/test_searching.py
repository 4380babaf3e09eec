"""Passages and memories in PostgreSQL (B-4, B-6)."""

from __future__ import annotations

import math
import struct

import pytest

from codelaw.adapters.stores import memories as memories_module
from tests.adapters.stores.memory_suite import MODEL, a_memory, found, vector


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
