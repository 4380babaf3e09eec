from __future__ import annotations

import pytest

from codelaw.adapters.stores.opening import SqliteStore
from codelaw.adapters.stores.sqlite import connection


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Who holds a lock while the disk stalls holds it longer than a user is kept waiting."""
    monkeypatch.setattr(connection, "ALONE_SECONDS", 600.0)
    monkeypatch.setattr(connection, "BUSY_SECONDS", 150.0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "codelaw" / "chats.db"


@pytest.fixture
async def open_store(path):
    opened = []

    async def open_one():
        opened.append(await SqliteStore.open(path))
        return opened[-1]

    yield open_one
    for store in opened:
        await store.close()
