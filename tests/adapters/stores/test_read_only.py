"""A file that cannot be written, and for a moment cannot be read either (D-1)."""

from __future__ import annotations

import os
import sqlite3
import tempfile

import pytest

from codelaw.adapters.stores.sqlite import read_only
from codelaw.adapters.stores.sqlite.connection import SqliteDatabase
from codelaw.domain.errors import Refusal
from tests.adapters.stores.suite import a_chat

TITLES = "SELECT title FROM chats"


@pytest.fixture
async def reading(open_store, path, monkeypatch):
    """A database whose locks cannot be written."""
    store = await open_store()
    await store.create(a_chat(title="here"))
    await store.close()

    def refused(*_):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as locked:
        locked.setattr(SqliteDatabase, "_open_writable", refused)
        opened = SqliteDatabase(path)
        await opened.open()
    yield opened
    await opened.close()


async def titles(database):
    return await database.read(lambda session: [row[0] for row in session.execute(TITLES)])


async def test_what_another_writes_meanwhile_is_seen_and_nothing_is_written(reading, open_store):
    assert await titles(reading) == ["here"]
    other = await open_store()
    await other.create(a_chat("c2", title="there"))
    assert sorted(await titles(reading)) == ["here", "there"]
    with pytest.raises(Refusal, match="Permission denied"):
        await reading.write(lambda session: session.execute("DELETE FROM chats"))


async def test_it_is_read_again_after_it_could_not_be(reading, path, monkeypatch):
    def failing(*_arguments, **_more):
        raise sqlite3.OperationalError("unable to open database file")

    assert await titles(reading) == ["here"]
    os.utime(path, (1.0, 1.0))
    with monkeypatch.context() as broken:
        broken.setattr(sqlite3, "connect", failing)
        with pytest.raises(Refusal, match="cannot be read either"):
            await titles(reading)
    assert await titles(reading) == ["here"]


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """Where copies are made."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return temporary


def in_its_log(path):
    """A file with a log that can only be read in a copy, as nothing can be made beside it."""
    connection = sqlite3.connect(path)
    connection.execute("UPDATE chats SET title = 'from the log'")
    connection.commit()
    log = path.with_name("chats.db-wal").read_bytes()
    connection.close()
    path.with_name("chats.db-wal").write_bytes(log)


async def test_a_log_that_cannot_be_shared_is_read_in_a_copy(reading, path, beside, monkeypatch):
    in_its_log(path)
    opened = read_only._opened

    def unshared(file, *arguments):
        if file == path:
            raise sqlite3.OperationalError("unable to open database file")
        return opened(file, *arguments)

    monkeypatch.setattr(read_only, "_opened", unshared)
    assert await titles(reading) == ["from the log"]
    assert len([*beside.iterdir()]) == 1
    await reading.close()
    assert [*beside.iterdir()] == []


async def test_a_copy_that_cannot_be_made_leaves_nothing(reading, path, beside, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    def unshared(*_arguments):
        raise sqlite3.OperationalError("unable to open database file")

    in_its_log(path)
    monkeypatch.setattr(read_only, "_opened", unshared)
    monkeypatch.setattr(read_only.shutil, "copyfile", full)
    with pytest.raises(Refusal, match="No space left"):
        await titles(reading)
    assert [*beside.iterdir()] == []
