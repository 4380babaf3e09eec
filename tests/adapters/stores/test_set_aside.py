"""A damaged file is set aside, and what can be read of it is saved; never silently, never while others have it open."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys

import pytest

from codelaw.adapters.stores.opening import SqliteStore
from codelaw.adapters.stores.sqlite import damage
from codelaw.domain.chats import Todo
from codelaw.domain.errors import Refusal
from codelaw.domain.events import AnswerDelta
from codelaw.domain.permissions import Grant
from tests.adapters.stores.conftest import TURNS
from tests.adapters.stores.suite import NASTY, a_chat, a_checkpoint, a_turn, said

PAGE = 4096


async def fill(store, chats=4, messages=60, size=3000):
    """Chats of one turn each, with enough text that they lie on many pages."""
    for number in range(chats):
        chat_id = f"c{number}"
        await store.create(a_chat(chat_id, title=f"Chat {number}", updated_at=100.0 + number))
        await store.begin_turn(a_turn(store, chat_id=chat_id), said("m0", NASTY))
        more = [said(f"m{count}", f"{chat_id} {count} " + "x" * size, ref=f"r{count}") for count in range(1, messages)]
        await store.append(chat_id, more, [("r1", {"of": chat_id})])
        await store.end_turn(a_turn(store, chat_id=chat_id, status="ended", stop_reason="finished"))
        await store.append_events(chat_id, "t1", [(1.0, AnswerDelta("a", 1)), (2.0, AnswerDelta("b", 2))])
        await store.save_todos(chat_id, [Todo(chat_id, "pending")])
        await store.reshape(chat_id, 0, a_checkpoint("k1", "t1"))
    await store.add_grant(Grant("g1", "Bash(ls)", "always"))


@pytest.fixture
async def filled(open_store, path):
    store = await open_store()
    await fill(store)
    whole = {f"c{number}": await store.load(f"c{number}") for number in range(4)}
    await store.close()
    return whole


def spoil(path, first, last=None):
    """Overwrite pages, counted from 1; up to the end of the file without a last one."""
    content = bytearray(path.read_bytes())
    end = len(content) if last is None else last * PAGE
    content[(first - 1) * PAGE : end] = b"\xa5" * (end - (first - 1) * PAGE)
    path.write_bytes(content)
    return bytes(content)


def pages_of(path, table):
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    finally:
        connection.close()


def asides(path):
    """What was set aside so far, looked for by name, not by our own code."""
    return sorted(file for file in path.parent.iterdir() if ".damaged-" in file.name and file.name[-4] != "-")


def aside(path):
    (found,) = asides(path)
    return found


@pytest.mark.parametrize("junk", [b"this is not a database" * 500, b"short", b"\0" * 5000, b"\xff" * 100], ids=len)
async def test_a_file_that_is_no_database_is_set_aside(open_store, path, junk):
    path.parent.mkdir(parents=True)
    path.write_bytes(junk)
    store = await open_store()
    (reported,) = store.notices
    assert (reported.level, reported.code) == ("warning", "store_damaged")
    assert str(aside(path)) in reported.message
    assert "Nothing could be saved" in reported.message
    assert aside(path).read_bytes() == junk
    assert await store.list(None, 9, None) == ([], None)
    await store.create(a_chat())
    await store.close()
    again = await open_store()
    assert again.notices == (), "it is told once"
    assert (await again.load("c1")).chat == a_chat()


async def test_of_a_torn_file_all_that_can_be_read_is_saved(open_store, path, filled):
    root = pages_of(path, "results")
    content = spoil(path, root, root)
    store = await open_store()
    assert "4 chats with 240 messages" in store.notices[0].message
    assert "All that could be read" in store.notices[0].message
    assert aside(path).read_bytes() == content
    for chat_id, whole in filled.items():
        assert await store.load(chat_id) == whole
        assert [event.seq for event in await store.events(chat_id, 0)] == [1, 2]
    assert (await store.results("c1", ["r1"])).get("r1") is None
    assert await store.grants() == [Grant("g1", "Bash(ls)", "always")]
    assert await store.append_events("c1", "t1", [(1.0, AnswerDelta("c", 1))]) == [3]
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()


async def test_messages_whose_chat_is_lost_get_one(open_store, path, filled):
    spoil(path, pages_of(path, "chats"), pages_of(path, "chats"))
    store = await open_store()
    chats, _ = await store.list(None, 9, None)
    assert {chat.id for chat in chats} == set(filled)
    assert all("Saved" in chat.title and chat.mode == "ask" for chat in chats)
    for chat_id, whole in filled.items():
        loaded = await store.load(chat_id)
        assert (loaded.messages, loaded.turns, loaded.losses) == (whole.messages, whole.turns, ())
        assert (await store.results(chat_id, ["r1"])).get("r1") == {"of": chat_id}
        assert await store.append_events(chat_id, "t1", [(1.0, AnswerDelta("c", 1))]) == [3]


async def test_a_file_cut_short_is_set_aside(open_store, path, filled):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    store = await open_store()
    assert store.notices
    chats, _ = await store.list(None, 9, None)
    for chat in chats:
        loaded = await store.load(chat.id)
        assert set(loaded.messages) <= set(filled[chat.id].messages), "nothing is made up"
    assert sum([len((await store.load(chat.id)).messages) for chat in chats]) > 50


@pytest.mark.parametrize("table", ["message_grams", "search_waiting"])
async def test_an_index_of_the_search_that_is_missing_is_made_anew(open_store, path, filled, table):
    connection = sqlite3.connect(path)
    connection.execute(f"DROP TABLE {table}")
    connection.close()
    store = await open_store()
    assert store.notices == ()
    assert await store.load("c1") == filled["c1"]
    assert len((await store.list("c2 59 xxx", 9, None))[0]) == 1


async def test_what_was_saved_by_one_that_was_killed_does_not_come_back_later(open_store, path, filled):
    path.with_name("chats.db.salvaged").write_bytes(path.read_bytes())
    await (await open_store()).close()
    path.unlink()
    assert await (await open_store()).list(None, 9, None) == ([], None)


async def test_damage_met_while_running_refuses_and_is_looked_into_at_the_next_start(open_store, path, filled):
    connection = sqlite3.connect(path)
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.close()
    spoil(path, pages - 80, pages - 60)
    store = await open_store()
    assert store.notices == (), "what is damaged deep inside is not looked for at every start"
    refused = 0
    for chat_id, whole in filled.items():
        (loaded,) = await asyncio.gather(store.load(chat_id), return_exceptions=True)
        if loaded != whole:
            refused += 1
            assert isinstance(loaded, Refusal)
            assert loaded.code == "store_unavailable"
            assert "damaged" in loaded.message
            assert "start it again" in loaded.hint
    assert 0 < refused < 4
    await store.create(a_chat("new"))
    other = await open_store()
    assert other.notices == (), "not while another has it open"
    await other.close()
    await store.close()
    store = await open_store()
    assert "was damaged" in store.notices[0].message
    chats, _ = await store.list(None, 9, None)
    assert {chat.id for chat in chats} == {*filled, "new"}
    kept = 0
    for chat_id, whole in filled.items():
        messages = (await store.load(chat_id)).messages
        assert set(messages) <= set(whole.messages)
        kept += len(messages)
    assert 200 < kept < 240
    await store.close()
    assert (await open_store()).notices == ()


async def test_while_another_server_lives_nothing_is_set_aside(open_store, path, filled):
    living = await open_store()
    content = spoil(path, pages_of(path, "turns"), pages_of(path, "turns"))
    with pytest.raises(Refusal) as caught:
        await SqliteStore.open(path)
    assert caught.value.code == "store_unavailable"
    assert "Close every codelaw" in caught.value.hint
    assert asides(path) == []
    assert path.read_bytes()[PAGE:] == content[PAGE:]
    await living.close()
    assert (await open_store()).notices


async def test_two_servers_that_start_at_once_set_aside_once(path, filled):
    spoil(path, pages_of(path, "results"), pages_of(path, "results"))
    stores = await asyncio.gather(*(SqliteStore.open(path) for _ in range(6)))
    assert sum(len(store.notices) for store in stores) == 1
    assert len(asides(path)) == 1
    for store in stores:
        assert await store.load("c1") == filled["c1"]
        await store.close()


async def test_what_was_only_in_the_log_is_saved_too(killed, open_store):
    """A server was killed, and the file was damaged before anybody moved the log into it."""
    first = bytearray(killed.read_bytes())
    first[PAGE * 3 :] = b"\xa5" * (len(first) - PAGE * 3)
    killed.write_bytes(first)
    await asyncio.to_thread(damage.suspect, killed)
    loaded = await (await open_store()).load("c1")
    assert [message.id for message in loaded.messages] == [f"m{number}" for number in range(TURNS)]


KILLED_ASIDE = """
import os, signal, sys
from pathlib import Path
from codelaw.adapters.stores.sqlite import damage
from codelaw.adapters.stores.opening import SqliteStore
import asyncio

left = int(sys.argv[2])

def deadly(real):
    def step(self, *given, **more):
        global left
        if "chats.db" in self.name and not self.name.endswith(".lock"):
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
        return real(self, *given, **more)
    return step

Path.rename, Path.replace = deadly(Path.rename), deadly(Path.replace)
asyncio.run(SqliteStore.open(Path(sys.argv[1])))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
@pytest.mark.parametrize("steps", range(4))
async def test_killed_while_setting_aside_nothing_is_lost(open_store, path, filled, steps):
    path.with_name("chats.db-wal").touch()
    content = spoil(path, pages_of(path, "results"), pages_of(path, "results"))
    path.with_name("chats.db-wal").write_bytes(b"")
    child = [sys.executable, "-c", KILLED_ASIDE, str(path), str(steps)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = await asyncio.to_thread(subprocess.run, child, env=environment, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    store = await open_store()
    for chat_id, whole in filled.items():
        assert await store.load(chat_id) == whole
    assert aside(path).read_bytes() == content
    assert not path.with_name("chats.db.salvaged").exists()
    assert not path.with_name("chats.db.salvaging").exists()


async def test_without_room_for_a_new_file_the_damaged_one_stays_and_is_read(monkeypatch, path, filled):
    content = spoil(path, pages_of(path, "results"), pages_of(path, "results"))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(damage, "salvage", full)
    store = await SqliteStore.open(path)
    assert [notice.code for notice in store.notices] == ["store_read_only"]
    assert "No space left" in store.notices[0].message
    assert "space on the disk" in store.notices[0].message
    assert {chat.id for chat in (await store.list(None, 50, None))[0]} == set(filled)
    with pytest.raises(Refusal, match="No space left"):
        await store.create(a_chat("another"))
    await store.close()
    assert path.read_bytes() == content
    assert asides(path) == []
