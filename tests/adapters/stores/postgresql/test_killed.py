"""Servers that are killed while they write to PostgreSQL (D-1, D-4)."""

from __future__ import annotations

import signal
import sys
import time

import pytest

from codelaw.adapters.stores.postgres.session import PostgresOwners
from codelaw.domain.checkpoints import Demotion
from tests.adapters.stores.postgresql.acting import child
from tests.adapters.stores.suite import a_checkpoint, a_turn, refusal, said

WRITING = """
import asyncio, sys
from codelaw.adapters.stores.opening import PostgresStore
from tests.adapters.stores.suite import a_chat, a_turn, said

async def main():
    store = await PostgresStore.open(sys.argv[1])
    await store.create(a_chat())
    await store.begin_turn(a_turn(store), said("m0"))
    print(store.owner, flush=True)
    number = 0
    while True:
        number += 1
        await store.append("c1", [said(f"m{number}", "x" * 2000), said(f"n{number}")])
        print(number, flush=True)

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
async def test_a_killed_server_loses_nothing_it_was_told_is_stored(open_store, postgres_url):
    store = await open_store()
    async with child(WRITING, postgres_url) as process:
        owner = (await process.stdout.readline()).decode().strip()
        reported = 0
        while reported < 20:
            reported = int(await process.stdout.readline())
        assert await refusal(store.begin_turn(a_turn(store, "t2"), said("x"))) == "chat_busy"
        process.kill()
        rest, _ = await process.communicate()
    reported = int(rest.split()[-1]) if rest.split() else reported
    ids = [message.id for message in (await store.load("c1")).messages]
    assert ids[: 2 * reported + 1] == ["m0", *(f"{letter}{n}" for n in range(1, reported + 1) for letter in "mn")]
    assert len(ids) in (2 * reported + 1, 2 * reported + 3), "each append is whole or not there"
    started = time.monotonic()
    while await store.is_alive(owner):
        assert time.monotonic() - started < 120
    await store.begin_turn(a_turn(store, "t2"), said("x"))


WITHIN = """
import asyncio, os, signal, sys
from codelaw.adapters.stores.opening import PostgresStore
from codelaw.domain.checkpoints import Demotion
from tests.adapters.stores.suite import a_chat, a_checkpoint

class Deadly(list):
    def __iter__(self):
        yield from list.__iter__(self)
        os.kill(os.getpid(), signal.SIGKILL)

async def main():
    store = await PostgresStore.open(sys.argv[1])
    await store.create(a_chat())
    await store.reshape("c1", 0, a_checkpoint("k1"), [Demotion("m1", "result")], "t1")
    print("about to die", flush=True)
    await store.reshape("c1", 1, a_checkpoint("k2"), Deadly([Demotion("m2", "result")]), "t2")

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
async def test_a_server_killed_within_a_reshape_leaves_the_one_before(open_store, postgres_url):
    async with child(WITHIN, postgres_url) as process:
        output, _ = await process.communicate()
        assert (process.returncode, output.strip()) == (-signal.SIGKILL, b"about to die")
    store = await open_store()
    loaded = await store.load("c1")
    assert (loaded.checkpoints, loaded.demotions) == ((a_checkpoint("k1"),), (Demotion("m1", "result"),))
    assert await store.reshape("c1", 1, a_checkpoint("k2"), [Demotion("m2", "result")], "t2") == 2


def test_no_two_owners_share_a_lock():
    assert len({PostgresOwners().id for _ in range(100)}) == 100
