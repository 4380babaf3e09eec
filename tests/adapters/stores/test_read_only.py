"""A file that cannot be written, and for a moment cannot be read either (D-1)."""

from __future__ import annotations

import os
import sqlite3
import tempfile

import pytest

from codelaw.adapters.stores.sqlite import read_only
from codelaw.adapters.stores.sqlite.connection import SqliteSession, let_read
from codelaw.adapters.stores.sqlite.read_only import ReadOnlyDatabase
from codelaw.domain.errors import Refusal
from tests.adapters.stores.suite import a_chat

TITLES = "SELECT title FROM chats"


@pytest.fixture
async def reading(open_store, path):
    store = await open_store()
    await store.create(a_chat(title="here"))
    await store.close()
    opened = ReadOnlyDatabase(path, Refusal("store_unavailable", "Read-only.", ""), SqliteSession, let_read)
    await opened.open()
    yield opened
    await opened.close()


async def titles(database):
    return await database.read(lambda session: [row[0] for row in session.execute(TITLES)])


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


async def test_a_copy_that_cannot_be_made_leaves_nothing(reading, path, tmp_path, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(read_only, "migrations", lambda: [(99_999, "newest", "")])  # so that a copy is made
    monkeypatch.setattr(read_only.shutil, "disk_usage", full)
    os.utime(path, (1.0, 1.0))
    with pytest.raises(Refusal, match="No space left"):
        await titles(reading)
    assert [*temporary.iterdir()] == []
