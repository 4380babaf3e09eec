from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import sys

import pytest

from codelaw.adapters.stores.opening import SqliteStore
from codelaw.adapters.stores.sqlite import connection as connection_module
from codelaw.domain.errors import Refusal
from tests.adapters.stores.suite import StoreSuite, a_chat, said


class TestSqlite(StoreSuite):
    pass


async def refused(path):
    with pytest.raises(Refusal) as caught:
        await SqliteStore.open(path)
    assert caught.value.code == "store_unavailable"
    assert str(path.name) in caught.value.message or str(path.parent) in caught.value.message
    assert caught.value.hint
    return caught.value


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permission bits")
async def test_files_are_for_the_user_alone(open_store, path):
    store = await open_store()
    await store.create(a_chat())
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    files = [*path.parent.glob("chats.db*"), *(path.parent / "owners").glob("*")]
    assert len(files) == 5
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


async def test_a_foreign_database_is_refused(path):
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (a)")
    connection.commit()
    connection.close()
    assert "another program" in (await refused(path)).message


async def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    await refused(tmp_path / "file" / "chats.db")
    (tmp_path / "folder.db").mkdir()
    await refused(tmp_path / "folder.db")
    (tmp_path / "ok").mkdir()
    (tmp_path / "ok" / "owners").write_text("x")
    await refused(tmp_path / "ok" / "chats.db")


async def test_a_full_disk_is_a_readable_refusal_and_nothing_is_lost(open_store):
    store = await open_store()
    await store.create(a_chat())
    await store.append("c1", [said("m0")])
    pages = await store.database.run(lambda session: session.execute("PRAGMA page_count").fetchone()[0])
    await store.database.run(lambda session: session.execute(f"PRAGMA max_page_count = {pages + 2}"))
    with pytest.raises(Refusal, match="disk is full") as caught:
        await store.append("c1", [said("m1"), said("m2", "x" * 100_000)])
    assert caught.value.code == "store_unavailable"
    await store.database.run(lambda session: session.execute("PRAGMA max_page_count = 100000"))
    assert [message.id for message in (await store.load("c1")).messages] == ["m0"]
    await store.append("c1", [said("m1")])


async def test_a_locked_database_is_a_readable_refusal_while_the_loop_runs_on(monkeypatch, open_store, path):
    monkeypatch.setattr(connection_module, "BUSY_SECONDS", 1.0)
    store = await open_store()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.ensure_future(store.create(a_chat()))
    beats = 0
    while not waiting.done():
        await asyncio.sleep(0.01)
        beats += 1
    with pytest.raises(Refusal, match="another program holds"):
        await waiting
    assert beats > 3
    assert await store.list(None, 9, None) == ([], None)
    other.execute("ROLLBACK")
    other.close()
    await store.create(a_chat())


async def test_our_own_mistakes_are_not_refusals(open_store):
    store = await open_store()
    await store.create(a_chat())
    with pytest.raises(sqlite3.IntegrityError):
        await store.create(a_chat())


async def test_deleted_text_is_not_in_the_file(open_store, path):
    store = await open_store()
    await store.create(a_chat())
    await store.append("c1", [said("m", "unmistakable-secret " * 500)])
    await store.delete("c1")
    await store.close()
    assert b"unmistakable-secret" not in path.read_bytes()


async def test_locks_of_the_long_dead_are_swept(open_store, path):
    await (await open_store()).close()
    stale = path.parent / "owners" / "stale.lock"
    young = path.parent / "owners" / "young.lock"
    for file in (stale, young):
        file.touch()
    os.utime(stale, (1, 1))
    await open_store()
    assert not stale.exists()
    assert young.exists()
