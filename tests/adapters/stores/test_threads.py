"""Rolling summaries in SQLite (B-3)."""

from __future__ import annotations

import sqlite3

from codelaw.domain.checkpoints import ThreadSummary
from tests.adapters.stores.forks_suite import with_turns
from tests.adapters.stores.threads_suite import ThreadsSuite


class TestThreads(ThreadsSuite):
    pass


async def test_a_damaged_one_is_none(open_store, path):
    store = await with_turns(await open_store())
    await store.save_thread_summary("c1", 0, ThreadSummary("x", "t1", 1.0))
    connection = sqlite3.connect(path)
    connection.execute("UPDATE thread_summaries SET body = '{'")
    connection.commit()
    connection.close()
    loaded = await store.load("c1")
    assert loaded.thread_summary is None
    assert len(loaded.losses) == 1
