"""Servers that are killed at any moment: what they were told is stored is there, and the rest is as if never begun."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import sys

import pytest

from tests.adapters.stores.suite import a_chat

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")

MIGRATING = """
import asyncio, os, signal, sys
from pathlib import Path
from codelaw.adapters.stores import migrations
from codelaw.adapters.stores.opening import SqliteStore

real, left = migrations.statements, int(sys.argv[2])

def deadly(script):
    global left
    for statement in real(script):
        yield statement
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

migrations.statements = deadly
asyncio.run(SqliteStore.open(Path(sys.argv[1])))
"""

WRITING = """
import asyncio, sys
from pathlib import Path
from codelaw.adapters.stores.opening import SqliteStore
from codelaw.domain.events import AnswerDelta
from tests.adapters.stores.suite import a_chat, a_turn, said

async def main():
    store = await SqliteStore.open(Path(sys.argv[1]))
    for chat in range(10_000):
        chat_id = f"{sys.argv[2]}-{chat}"
        await store.create(a_chat(chat_id))
        await store.begin_turn(a_turn(store, chat_id=chat_id), said("m0"))
        for number in range(1, 6):
            message = said(f"m{number}", "x" * 3000)
            await store.append(chat_id, [message, said(f"n{number}")], [(f"r{number}", {"n": number})])
            await store.append_events(chat_id, "t1", [(1.0, AnswerDelta("a", 1)), (1.0, AnswerDelta("b", 2))])
            print(f"{chat_id} {number}", flush=True)
        await store.end_turn(a_turn(store, chat_id=chat_id, status="ended", stop_reason="finished"))
        await store.fork(chat_id, "t1", a_chat(f"{chat_id}-fork"))
        print(f"{chat_id} fork", flush=True)

asyncio.run(main())
"""


async def started(program, *arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, *map(str, arguments), stdout=asyncio.subprocess.PIPE, env=environment
    )


async def test_killed_within_a_migration_nothing_of_it_is_there(open_store, path):
    child = await started(MIGRATING, path, 20)
    await child.communicate()
    assert child.returncode == -signal.SIGKILL
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (0,)
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    connection.close()
    store = await open_store()
    await store.create(a_chat())
    assert store.notices == ()


async def test_servers_killed_while_they_write_lose_nothing_that_was_stored(open_store, path):
    """Two at once, killed at moments that chance chooses, again and again."""
    chance = random.Random(11)
    acknowledged = set()
    for life in range(3):
        children = [await started(WRITING, path, f"life{life}-{server}") for server in range(2)]
        for child in children:
            assert child.stdout is not None
            acknowledged.add((await child.stdout.readline()).decode().strip())
        await asyncio.sleep(chance.random() * 0.6)
        for child in children:
            child.kill()
        for child in children:
            output, _ = await child.communicate()
            assert child.returncode == -signal.SIGKILL
            acknowledged |= set(output.decode().split("\n")[:-1])  # a line that is not ended acknowledges nothing
    store = await open_store()
    assert store.notices == ()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    assert len(acknowledged) > 6
    for line in acknowledged:
        chat_id, what = line.split()
        if what == "fork":
            fork, original = await store.load(f"{chat_id}-fork"), await store.load(chat_id)
            assert fork.messages == original.messages
            assert len(fork.messages) == 11
            continue
        ids = [message.id for message in (await store.load(chat_id)).messages]
        assert {f"m{what}", f"n{what}"} <= set(ids)
        assert len(ids) % 2 == 1, "the two of one transaction come together or not at all"
        assert (await store.results(chat_id, [f"r{what}"])).get(f"r{what}") == {"n": int(what)}
        assert len(await store.events(chat_id, 0)) >= 2 * int(what)
