"""The schema in PostgreSQL: the same steps, all or nothing, one server at a time (D-3, D-4)."""

from __future__ import annotations

import asyncio
import sys

import pytest

from codelaw.adapters.stores.migrations import migrations
from codelaw.adapters.stores.opening import PostgresStore
from tests.adapters.stores.postgresql.acting import child, until
from tests.adapters.stores.suite import a_chat


async def test_both_databases_take_the_same_steps(open_store, behind):
    ours, theirs = await asyncio.gather(*(asyncio.to_thread(migrations, kind) for kind in ("postgresql", "sqlite")))
    assert [step[:2] for step in ours] == [step[:2] for step in theirs]
    await open_store()
    await open_store()
    recorded = behind("SELECT version, name FROM codelaw.migrations ORDER BY version")
    assert recorded == [step[:2] for step in ours]


async def test_servers_that_migrate_at_once_do_it_once(postgres_url, behind):
    stores = await asyncio.gather(*(PostgresStore.open(postgres_url) for _ in range(6)))
    assert len({store.owner for store in stores}) == 6
    for store in stores:
        await store.close()
    assert behind("SELECT count(*) - count(DISTINCT version) FROM codelaw.migrations") == [(0,)]


MIGRATING = """
import asyncio, sys
from codelaw.adapters.stores.postgres import place
from codelaw.adapters.stores.opening import PostgresStore

steps = place.migrations("postgresql")
slow = (steps[-1][0] + 1, "slow", "CREATE TABLE late (a int); SELECT pg_sleep(60)")
place.migrations = lambda dialect: [*steps, slow]
asyncio.run(PostgresStore.open(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
async def test_a_server_killed_in_a_migration_leaves_nothing_of_it(postgres_url, behind):
    asleep = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
    async with child(MIGRATING, postgres_url) as process:
        await until(lambda: behind(asleep))
        assert behind("SELECT 1 FROM pg_namespace WHERE nspname = 'codelaw'") == [], "nobody sees half of it"
        process.kill()
        await process.wait()
    store = await PostgresStore.open(postgres_url)  # waits until the database has noticed the death
    assert behind(asleep) == []
    await store.create(a_chat())
    await store.close()
    assert behind("SELECT to_regclass('codelaw.late')") == [(None,)]
    names = [step[1] for step in await asyncio.to_thread(migrations, "postgresql")]
    assert [row[0] for row in behind("SELECT name FROM codelaw.migrations ORDER BY version")] == names
