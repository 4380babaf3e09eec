"""Stores in a PostgreSQL database of the test's own."""

from __future__ import annotations

import pytest

from codelaw.adapters.stores.opening import PostgresStore
from codelaw.adapters.stores.opening import open_stores as open_any


@pytest.fixture
async def open_store(postgres_url):
    opened = []

    async def open_one():
        opened.append(await PostgresStore.open(postgres_url))
        return opened[-1]

    yield open_one
    for store in opened:
        await store.close()


@pytest.fixture
def behind(postgres, postgres_url):
    """SQL on the test's database, behind the store's back."""
    return lambda sql: postgres.run(sql, postgres_url.rpartition("/")[2])


@pytest.fixture
async def open_stores(postgres_url, tmp_path):
    opened = []

    async def open_one():
        opened.append(await open_any(postgres_url, tmp_path / "unused.db"))
        return opened[-1]

    yield open_one
    for stores in opened:
        await stores.chats.close()
