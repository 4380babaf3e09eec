"""The write-ahead log is moved beside the thread that writes (D-1)."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

from codelaw.adapters.stores.sqlite import log_keeping
from codelaw.adapters.stores.sqlite.log_keeping import empty_log, leave_log, use_log
from tests.adapters.stores.suite import a_chat


async def test_no_commit_moves_the_log_and_the_keeper_does(open_store, path, monkeypatch):
    store = await open_store()
    assert await store.database.run(lambda session: session.execute("PRAGMA wal_autocheckpoint").fetchone()) == (0,)
    before = path.stat().st_size
    for number in range(9):
        await store.create(a_chat(f"c{number}", title="x" * 5000))
    assert path.stat().st_size == before
    await store.create(a_chat("last", title="x" * 2_000_000))
    async with asyncio.timeout(150):
        while path.stat().st_size == before:
            await asyncio.sleep(0.01)


async def test_a_log_that_cannot_be_moved_takes_no_commit(open_store, monkeypatch, caplog):
    store = await open_store()
    monkeypatch.setattr(log_keeping, "_MOVED_BYTES", 1)
    store.database._log._connection.close()
    for number in range(3):
        await store.create(a_chat(f"c{number}"))
    await store.close()
    assert "cannot be moved into the database" in caplog.text
    again = await open_store()
    assert len((await again.list(None, 10, None))[0]) == 3


def test_a_log_that_is_read_is_not_begun_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(log_keeping, "GAP_SECONDS", 0.001)
    path = tmp_path / "a.db"
    writer: Any = sqlite3.connect(path, isolation_level=None)
    reader = sqlite3.connect(path, isolation_level=None)
    use_log(writer)
    leave_log(writer)
    writer.execute("CREATE TABLE a (b)")
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM a").fetchall()
    writer.execute("INSERT INTO a VALUES (1)")
    assert not empty_log(writer, "RESTART")
    reader.execute("COMMIT")
    assert empty_log(writer, "RESTART")
    reader.close()
    writer.close()
