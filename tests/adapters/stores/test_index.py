"""The index of messages in SQLite (B-4, B-5)."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

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


def test_numpy_is_loaded_only_by_who_searches():
    code = "import codelaw.adapters.stores.index, codelaw.agent.recall.question_vectors, sys; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
