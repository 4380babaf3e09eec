"""Servers that are killed while they write to PostgreSQL (D-1, D-4)."""

from __future__ import annotations

import sys
import time

import pytest

from tests.adapters.stores.postgresql.acting import child
from tests.adapters.stores.suite import a_turn, refusal, said

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
