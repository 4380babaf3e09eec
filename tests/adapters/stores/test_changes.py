"""What turns did to files, in SQLite (E-2)."""

from __future__ import annotations

import sqlite3

import pytest

from codelaw.adapters.stores.migrations import migrations, statements
from codelaw.domain.edits import DAMAGED
from tests.adapters.stores.changes_suite import CHANGE, ChangesSuite, with_turn
from tests.adapters.stores.test_migrations import make_version_1


class TestChanges(ChangesSuite):
    pass


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("before_text", b"torn"),
        ("before_text", "a text"),
        ("after_text", b""),
        ("after_text", bytes.fromhex("789c0b")),
        ("state", "lost"),
        ("path", b"\xff\xfe"),
        ("encoding", 7),
        ("mode", "rwx"),
    ],
)
async def test_a_damaged_change_says_so(open_store, path, column, value):
    store = await with_turn(await open_store())
    numbers = [await store.plan_change("c1", CHANGE) for _ in range(2)]
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE changes SET {column} = ? WHERE number = ?", (value, numbers[0]))
    connection.commit()
    connection.close()
    damaged, whole = await store.changes("c1", "t1")
    assert (damaged.number, damaged.encoding, damaged.before, damaged.state) == (numbers[0], DAMAGED, None, "done")
    assert whole.number == numbers[1]
    assert whole.before == CHANGE.before


async def test_a_large_text_takes_little_room(open_store, path):
    store = await with_turn(await open_store())
    await store.plan_change("c1", CHANGE.__class__(0, "t1", "k", "a", "file:///a", "line of text\n" * 400_000, "x"))
    assert path.stat().st_size + path.with_name(path.name + "-wal").stat().st_size < 500_000


@pytest.fixture
def old(path):
    make_version_1(path)


@pytest.mark.usefixtures("old")
async def test_a_database_of_the_first_release_keeps_changes_from_now_on(open_store):
    store = await open_store()
    assert list(await store.changes("c1", "t1")) == []
    number = await store.plan_change("c1", CHANGE)
    assert [change.number for change in await store.changes("c1", "t1")] == [number]
    await store.begin_revert("c1")
    assert await store.withdraw_turn("c1", 0, "t1", "t1") == 1
    assert (await (await open_store()).load("c1")).withdrawn == {"t1"}


@pytest.fixture
def second(old, path):
    number, name, script = migrations()[1]
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in (*statements(script), "UPDATE chats SET generation = 4", "PRAGMA user_version = 2"):
        connection.execute(statement)
    connection.execute("INSERT INTO migrations VALUES (?, ?, 1.0)", (number, name))
    connection.close()


@pytest.mark.usefixtures("second")
async def test_a_database_of_the_second_release_keeps_everything(open_store):
    store = await open_store()
    loaded = await store.load("c1")
    assert ([message.id for message in loaded.messages], loaded.withdrawn) == (["m1", "m2", "m3"], frozenset())
    assert loaded.chat.generation == 4
    assert await store.plan_change("c1", CHANGE) == 1
