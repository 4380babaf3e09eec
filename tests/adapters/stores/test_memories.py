"""Memories in SQLite (B-6)."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from codelaw.adapters.stores import memories as memories_module
from codelaw.adapters.stores.memories import SqlMemories
from codelaw.adapters.stores.opening import open_stores as open_any
from codelaw.adapters.stores.sqlite import vectors as vectors_module
from tests.adapters.stores.memory_suite import HERE, MODEL, MemorySuite, a_memory, found, vector
from tests.adapters.stores.suite import a_chat


@pytest.fixture
async def open_stores(path):
    opened = []

    async def open_one():
        opened.append(await open_any(None, path))
        return opened[-1]

    yield open_one
    for stores in opened:
        await stores.chats.close()


class TestSqlite(MemorySuite):
    pass


async def test_nothing_of_what_is_forgotten_stays_on_the_disk(open_stores, path):
    stores = await open_stores()
    await stores.chats.create(a_chat("c1"))
    for number in range(300):
        await stores.memories.save(a_memory(f"m{number}", f"filler {number} about nothing"))
    said = {
        "one": ("user", "ann", "quixotical"),
        "two": ("user", "ann", "zymurgical"),
        "three": ("session", "c1", "xylophonic"),
    }
    for id_, (scope, owner, word) in said.items():
        await stores.memories.save(a_memory(id_, f"The {word} project", scope=scope, belongs_to=owner))
    await stores.memories.forget("one")
    await stores.memories.save(a_memory("two", "Something else"))
    await stores.chats.delete("c1")
    await stores.memories.forget("m7")  # whatever is deleted next writes the log back
    everything = b"".join(file.read_bytes() for file in path.parent.glob("chats.db*"))
    for word in (b"quixotic", b"zymurgic", b"xylophon"):
        assert word not in everything


async def test_a_damaged_row_hides_no_other(open_stores, path):
    stores = await open_stores()
    for id_ in ("a", "b", "c", "d"):
        await stores.memories.save(a_memory(id_))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE memories SET category = 'nonsense' WHERE id = 'a'")
        connection.execute("UPDATE memories SET text = CAST(x'ff61' AS TEXT) WHERE id = 'b'")
        connection.execute("UPDATE memories SET confidence = 'high' WHERE id = 'c'")
        connection.commit()
    assert [one.id for one in (await stores.memories.list(HERE, None, None, 9, None))[0]] == ["d"]
    assert await found(stores.memories, "tabs") == ["d"]


async def test_frequent_words_are_left_to_the_rare_ones(open_stores, monkeypatch):
    stores = await open_stores()
    for number in range(30):
        await stores.memories.save(a_memory(f"m{number:02}", f"common thing {number}"))
    await stores.memories.save(a_memory("rare", "common walrus"))
    monkeypatch.setattr(memories_module, "SCORED", 5)
    assert (await found(stores.memories, "the common walrus"))[0] == "rare"
    assert len(await found(stores.memories, "common things", limit=99)) == 5, "the newest, as many as may be looked at"


async def _fill(stores, vectors):
    rows = [a_memory(id_, f"entry {id_}") for id_, _ in vectors]

    def work(session):
        for entry, (_, one) in zip(rows, vectors, strict=True):
            SqlMemories.put.__wrapped__(stores.memories, session, entry, (MODEL, one))

    await stores.chats.database.write(work)


async def test_only_the_newest_vectors_are_kept_in_memory(open_stores, monkeypatch):
    monkeypatch.setattr(vectors_module, "MAX_BYTES", 10 * len(vector(1, 0)))
    stores = await open_stores()
    await _fill(stores, [(f"m{number:02}", vector(1, number)) for number in range(25)])
    answers = await found(stores.memories, "zzz", embedder=MODEL, vector=vector(1, 0))
    assert sorted(answers) == [f"m{number:02}" for number in range(15, 25)]
    assert await found(stores.memories, "m03", embedder=MODEL, vector=vector(1, 0), limit=1) == ["m03"]
