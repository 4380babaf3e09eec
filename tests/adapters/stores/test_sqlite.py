from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import stat
import sys

import pytest

from codelaw.adapters.stores.migrations import migrations
from codelaw.adapters.stores.opening import SqliteStore
from codelaw.adapters.stores.sqlite import connection as connection_module
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.errors import Refusal
from tests.adapters.stores.suite import NASTY, StoreSuite, a_chat, a_checkpoint, a_turn, said


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


async def test_a_write_ahead_log_without_waiting_for_the_disk(open_store, path):
    store = await open_store()
    modes = await store.database.run(
        lambda session: [
            session.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    )
    assert modes == ["wal", 1, 1]


async def test_migrations_are_recorded(open_store, path):
    await open_store()
    await open_store()
    connection = sqlite3.connect(path)
    recorded = connection.execute("SELECT version, name FROM migrations").fetchall()
    connection.close()
    assert recorded == [(number, name) for number, name, _ in await asyncio.to_thread(migrations)]


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


async def test_a_failed_write_of_a_cancelled_caller_is_logged(open_store, caplog):
    store = await open_store()
    await store.create(a_chat())
    task = asyncio.ensure_future(store.create(a_chat()))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await store.load("c1")
    await asyncio.sleep(0)
    assert "given up by its caller" in caplog.text


async def test_deleted_text_is_not_in_the_file(open_store, path):
    store = await open_store()
    await store.create(a_chat())
    await store.append("c1", [said("m", "unmistakable-secret " * 500)])
    await store.delete("c1")
    await store.close()
    assert b"unmistakable-secret" not in path.read_bytes()


CHILD = """
import asyncio, os, sys
from pathlib import Path
from codelaw.adapters.stores.opening import SqliteStore
from tests.adapters.stores.suite import a_chat, a_turn, said

async def main():
    store = await SqliteStore.open(Path(sys.argv[1]))
    await store.create(a_chat())
    await store.begin_turn(a_turn(store), said("m0"))
    for number in range(1, 6):
        await store.append("c1", [said(f"m{number}")])
    print(store.owner, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
async def test_a_killed_server_loses_nothing_it_was_told_is_stored(open_store, path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CHILD, str(path), stdout=asyncio.subprocess.PIPE, env=environment
    )
    assert child.stdout is not None
    owner = (await child.stdout.readline()).decode().strip()
    store = await open_store()
    with pytest.raises(Refusal) as caught:
        await store.begin_turn(a_turn(store, "t2"), said("x"))
    assert caught.value.code == "chat_busy"
    child.kill()
    await child.communicate()
    assert not await store.is_alive(owner)
    loaded = await store.load("c1")
    assert [message.id for message in loaded.messages] == [f"m{i}" for i in range(6)]
    await store.begin_turn(a_turn(store, "t2"), said("x"))


CHILD_KILLED_WITHIN = """
import asyncio, os, signal, sys
from pathlib import Path
from codelaw.adapters.stores.opening import SqliteStore
from codelaw.domain.checkpoints import Demotion
from tests.adapters.stores.suite import a_chat, a_checkpoint

class Deadly(list):
    def __iter__(self):
        yield from list.__iter__(self)
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    store = await SqliteStore.open(Path(sys.argv[1]))
    await store.create(a_chat())
    await store.reshape("c1", 0, a_checkpoint("k1"), [Demotion("m1", "result")], "t1")
    print("about to die", flush=True)
    await store.reshape("c1", 1, a_checkpoint("k2"), Deadly([Demotion("m2", "result")]), "t2")

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
async def test_a_server_killed_within_a_reshape_leaves_the_one_before(open_store, path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CHILD_KILLED_WITHIN, str(path), stdout=asyncio.subprocess.PIPE, env=environment
    )
    output, _ = await child.communicate()
    assert (child.returncode, output.strip()) == (-signal.SIGKILL, b"about to die")
    store = await open_store()
    loaded = await store.load("c1")
    assert (loaded.checkpoints, loaded.demotions) == ((a_checkpoint("k1"),), (Demotion("m1", "result"),))
    assert (loaded.settled, loaded.chat.generation) == ("t1", 1)
    assert await store.reshape("c1", 1, a_checkpoint("k2"), [Demotion("m2", "result")], "t2") == 2


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


async def test_nothing_nasty_in_a_title_reaches_the_sql(open_store):
    store = await open_store()
    await store.create(a_chat(NASTY, title=NASTY))
    assert (await store.load(NASTY)).chat == a_chat(NASTY, title=NASTY)
    chats, _ = await store.list(NASTY, 9, None)
    assert [chat.id for chat in chats] == [NASTY]
