from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from codelaw.adapters.stores.opening import SqliteStore
from codelaw.adapters.stores.sqlite import connection

TURNS = 12
WRITING = f"""
import asyncio, os, signal, sys
from pathlib import Path
from codelaw.adapters.stores.opening import SqliteStore
from codelaw.adapters.stores.sqlite import log_keeping
from tests.adapters.stores.suite import a_chat, a_turn, said

log_keeping._MOVED_BYTES = 1 << 30  # a log that is moved is begun anew

async def main():
    store = await SqliteStore.open(Path(sys.argv[1]))
    await store.create(a_chat())
    for number in range({TURNS}):
        turn = f"t{{number}}"
        await store.begin_turn(a_turn(store, turn), said(f"m{{number}}", "x" * 3000, turn=turn))
        await store.end_turn(a_turn(store, turn, status="ended", stop_reason="finished"))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


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


@pytest.fixture
async def killed(path):
    """The file of a server that was killed, with all it has stored in the log."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", WRITING, str(path), env=environment)
    assert await child.wait() == -signal.SIGKILL
    return path
