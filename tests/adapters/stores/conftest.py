from __future__ import annotations

import pytest

from codelaw.adapters.stores.sqlite_chats import SqliteStore


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
