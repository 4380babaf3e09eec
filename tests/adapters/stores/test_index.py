"""The index of messages in SQLite (B-4, B-5)."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys

from codelaw.adapters.stores.migrations import APPLICATION_ID, migrations, statements
from tests.adapters.stores.index_suite import IndexSuite, an_index, found, with_messages


class TestSqliteIndex(IndexSuite):
    pass


async def test_damaged_messages_do_not_keep_others_from_being_found(open_store, path):
    store = await open_store()
    await with_messages(store, "alpha", "beta", "gamma", "delta")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE messages SET metadata = '{', content = CAST(? AS TEXT) WHERE id = 'm0'", (b"\xff torn",))
    connection.execute("UPDATE messages SET role = 'nobody' WHERE id = 'm1'")
    connection.commit()
    connection.close()
    index = an_index(store)
    assert await index.index() == 4
    assert await index.index() == 0
    assert sorted(await found(index, "torn gamma")) == ["m0", "m2"]
    assert await found(index, "beta") == []


def older(path):
    """A file of a codelaw that had no index, with a chat of two messages."""
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, at REAL NOT NULL)")
    for version, name, script in migrations()[:3]:
        for statement in statements(script):
            connection.execute(statement)
        connection.execute("INSERT INTO migrations VALUES (?, ?, 0)", (version, name))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 3")
    connection.execute(
        "INSERT INTO chats (id, title, kind, mode, model, strategy, created_at, updated_at)"
        " VALUES ('c1', '', 'panel', 'agent', 'm', 'layered', 1.0, 1.0)"
    )
    for turn, text in (("t0", "alpha"), ("t1", "beta")):
        connection.execute(
            "INSERT INTO turns (chat_id, id, status, owner, started_at) VALUES ('c1', ?, 'ended', 'o', 2.0)", (turn,)
        )
        connection.execute(
            "INSERT INTO messages (chat_id, id, turn_id, role, content, metadata) VALUES ('c1', ?, ?, 'user', ?, '{}')",
            (f"m-{text}", turn, text),
        )
    connection.close()


async def test_an_older_file_is_indexed_from_its_beginning(open_store, path):
    await asyncio.to_thread(older, path)
    index = an_index(await open_store())
    assert await index.waiting("e") == 2
    assert (await found(index, "beta"))[0] == "m-beta"


def test_numpy_is_loaded_only_by_who_searches():
    code = "import codelaw.adapters.stores.index, codelaw.agent.recall.retrieval, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
