from __future__ import annotations

import asyncio
import sqlite3

import pytest

from codelaw.adapters.stores import migrations
from codelaw.adapters.stores.opening import SqliteStore
from codelaw.domain.errors import Refusal
from tests.adapters.stores.suite import a_chat

LATER = (9000, "later", "ALTER TABLE chats ADD COLUMN later TEXT;\nCREATE TABLE late (a);\n")


@pytest.fixture
async def updated(monkeypatch, open_store):
    """A codelaw with one step more, over the database of one without."""
    store = await open_store()
    await store.create(a_chat())
    await store.close()
    steps = await asyncio.to_thread(migrations.migrations)
    monkeypatch.setattr(migrations, "migrations", lambda _="sqlite": (*steps, LATER))


def value(path, sql):
    connection = sqlite3.connect(path)
    (row,) = connection.execute(sql).fetchall()
    connection.close()
    return row[0]


@pytest.mark.usefixtures("updated")
async def test_a_step_that_is_missing_is_taken_and_everything_is_kept(open_store, path):
    assert (await (await open_store()).load("c1")).chat == a_chat()
    assert value(path, "SELECT name FROM migrations WHERE version = 9000") == "later"
    assert value(path, "SELECT later FROM chats") is None


@pytest.mark.usefixtures("updated")
async def test_a_migration_that_breaks_off_leaves_the_old_schema(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE late (in_the_way)")  # so that the second half of the step fails
    connection.commit()
    connection.close()
    with pytest.raises(sqlite3.OperationalError, match="late already exists"):
        await SqliteStore.open(path)
    assert value(path, "PRAGMA user_version") < 9000
    assert value(path, "SELECT count(*) FROM pragma_table_info('chats') WHERE name = 'later'") == 0


@pytest.mark.parametrize(("version", "said"), [(999, "newer codelaw"), (16, "older codelaw")])
async def test_a_database_of_another_version_is_refused_and_untouched(open_store, path, version, said):
    await (await open_store()).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(Refusal, match=said) as caught:
        await SqliteStore.open(path)
    assert caught.value.code == "store_unavailable"
    assert ("codelaw chats --export ID" in caught.value.hint) == (version == 16)
    assert path.read_bytes() == before
