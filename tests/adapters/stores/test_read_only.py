"""A file that cannot be written is read all the same (D-1)."""

from __future__ import annotations

import sqlite3
import tempfile

import pytest

from codelaw.adapters.stores.sqlite import connection as connection_module
from codelaw.adapters.stores.sqlite.connection import SqliteDatabase
from codelaw.domain.errors import Refusal
from tests.adapters.stores.suite import a_chat


@pytest.fixture
async def opened(open_store, path, monkeypatch):
    """Opens a database whose locks cannot be written; copies of it are made in the folder that it has beside it."""
    store = await open_store()
    await store.create(a_chat(title="here"))
    await store.close()
    temporary = path.with_name("temporary")
    temporary.mkdir()

    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(SqliteDatabase, "_open_writable", refused)
    made = []

    async def open_one():
        made.append(SqliteDatabase(path))
        await made[-1].open()
        return made[-1]

    yield open_one
    for database in made:
        await database.close()
    assert [*temporary.iterdir()] == []


async def titles(database):
    return await database.read(lambda session: [row[0] for row in session.execute("SELECT title FROM chats")])


@pytest.mark.parametrize("shared", [True, False])
async def test_what_another_writes_meanwhile_is_seen_and_nothing_is_written(opened, path, monkeypatch, shared):
    real = connection_module.opened_to_read

    def failing(uri):
        if "immutable" not in uri:
            raise sqlite3.OperationalError("unable to open database file")
        return real(uri)

    if not shared:
        monkeypatch.setattr(connection_module, "opened_to_read", failing)
    reading = await opened()
    assert await titles(reading) == ["here"]
    connection = sqlite3.connect(path)
    connection.execute("UPDATE chats SET title = 'there'")
    connection.commit()
    connection.close()
    assert await titles(reading) == ["there"]
    with pytest.raises(Refusal, match="Permission denied"):
        await reading.write(lambda session: session.execute("DELETE FROM chats"))


@pytest.fixture
def unshared(path, monkeypatch):
    """The file has a log, and SQLite can make nothing beside it, as it has to."""
    real = connection_module.opened_to_read

    def failing(uri):
        if uri.startswith(path.absolute().as_uri()):
            raise sqlite3.OperationalError("unable to open database file")
        return real(uri)

    def begin(title="from the log"):
        connection = sqlite3.connect(path)
        connection.execute("UPDATE chats SET title = ?", (title,))
        connection.commit()
        log = path.with_name("chats.db-wal").read_bytes()
        connection.close()
        path.with_name("chats.db-wal").write_bytes(log)
        monkeypatch.setattr(connection_module, "opened_to_read", failing)

    return begin


async def test_a_log_that_cannot_be_shared_is_read_in_a_copy(opened, unshared):
    unshared()
    reading = await opened()
    assert await titles(reading) == ["from the log"]
    unshared("later")
    assert await titles(reading) == ["later"]


async def test_a_copy_that_cannot_be_made_leaves_nothing(opened, unshared, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    unshared()
    monkeypatch.setattr(connection_module.shutil, "copyfile", full)
    with pytest.raises(Refusal, match=r"cannot be read either.*No space left"):
        await opened()
