"""The search by index in SQLite (D-2)."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys

import pytest

from codelaw.adapters.stores import search_keeper
from codelaw.adapters.stores.opening import SqliteStore, open_stores
from codelaw.adapters.stores.rows import search_rows
from tests.adapters.stores.search_suite import SearchSuite, answered, take_in
from tests.adapters.stores.suite import a_chat, said


class TestSqlite(SearchSuite):
    pass


async def unindexed(path, messages):
    """A file whose messages all wait."""
    store = await SqliteStore.open(path)
    await store.create(a_chat())
    await store.append("c1", [said(f"o{number}", f"message number {number} of old") for number in range(messages)])
    await store.close()


CHILD = """
import asyncio, os, signal, sys
from pathlib import Path
from codelaw.adapters.stores.rows import search_rows
from codelaw.adapters.stores.opening import SqliteStore
from codelaw.adapters.stores.sqlite.session import SqliteSession

search_rows.SLICE_MESSAGES = 20
execute, taken = SqliteSession.execute, iter(range(int(sys.argv[2])))

def deadly(session, sql, parameters=()):
    done = execute(session, sql, parameters)
    if sql.startswith("INSERT INTO message_grams") and next(taken, None) is None:
        os.kill(os.getpid(), signal.SIGKILL)
    return done

SqliteSession.execute = deadly

async def main():
    store = await SqliteStore.open(Path(sys.argv[1]))
    while await store.search.take_in():
        pass

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
async def test_a_kill_while_it_is_indexed_loses_nothing(path, open_store):
    await unindexed(path, 97)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", CHILD, str(path), "30", env=environment)
    assert await child.wait() == -signal.SIGKILL
    store = await open_store()
    for _ in range(2):
        for number in (0, 19, 20, 31, 96):
            assert await answered(store, f"number {number} of old") == ["c1"]
        assert await answered(store, "number 97 of old") == []
        await take_in(store)
    assert len((await store.load("c1")).messages) == 97


async def test_a_deletion_that_was_broken_off_leaves_a_chat_that_is_found(monkeypatch, path):
    monkeypatch.setattr(search_rows, "SLICE_MESSAGES", 3)
    store = await SqliteStore.open(path)
    await store.create(a_chat())
    await store.append("c1", [said(f"m{number}", f"walrus {number}") for number in range(20)])
    await take_in(store)
    assert await store.database.write(lambda session: search_rows.take_out(session, "c1")) is False
    assert await store.search.take_in() is False, "not while it is being deleted"
    assert await answered(store, "walrus 1") == ["c1"]
    await store.close()
    store = await SqliteStore.open(path)
    await store.database.write(search_rows.take_back)
    assert await store.search.take_in() is True
    for number in range(20):
        assert await answered(store, f"walrus {number}") == ["c1"]
    await store.delete("c1")
    assert await answered(store, "walrus") == []
    await store.close()


def waiting(session):
    return session.execute("SELECT count(*) FROM search_waiting").fetchone()[0]


async def test_it_is_indexed_behind_the_turns_and_nobody_asks_for_it(monkeypatch, path):
    monkeypatch.setattr(search_keeper, "START_SECONDS", 0.0)
    monkeypatch.setattr(search_keeper, "QUIET_SECONDS", 0.0)
    chats = (await open_stores(None, path)).chats
    assert isinstance(chats, SqliteStore)
    await chats.create(a_chat())
    for number in range(3):
        await chats.append("c1", [said(f"m{number}", "walrus")])
        while await chats.database.read(waiting):
            await asyncio.sleep(0.01)
    assert await answered(chats, "walrus") == ["c1"]
    await chats.close()


async def indexed(store, path):
    await store.create(a_chat())
    await store.append("c1", [said(f"m{number}", f"walrus {number}") for number in range(50)])
    await take_in(store)
    await store.close()
    return sqlite3.connect(path, isolation_level=None)


async def test_a_damaged_index_hides_nothing_and_is_made_anew_at_the_next_start(path):
    connection = await indexed(await SqliteStore.open(path), path)
    connection.execute("DELETE FROM message_grams_data WHERE id > 10")
    connection.close()
    store = await SqliteStore.open(path)
    assert await answered(store, "walrus 17") == ["c1"], "it is looked through"
    await store.append("c1", [said("new", "otter")])
    assert await answered(store, "otter") == ["c1"]
    await store.close()
    store = await SqliteStore.open(path)
    assert store.notices == (), "nothing that anybody wrote was lost"
    for _ in range(2):
        assert await answered(store, "walrus 17") == ["c1"]
        assert await answered(store, "OTTER") == ["c1"]
        await take_in(store)
    assert await store.database.read(waiting) == 0
    await store.close()


async def test_what_is_saved_of_a_damaged_file_is_searched_and_indexed_anew(path):
    connection = await indexed(await SqliteStore.open(path), path)
    connection.execute("DROP TABLE withdrawn")
    connection.close()
    store = await SqliteStore.open(path)
    assert "Everything was saved: 1 chat with 50 messages" in store.notices[0].message
    assert await store.database.read(waiting) == 50
    for _ in range(2):
        assert await answered(store, "walrus 17") == ["c1"]
        await take_in(store)
    await store.close()
