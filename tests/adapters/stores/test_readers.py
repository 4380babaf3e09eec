"""Reading waits for no writing, writing for no reading, and who gives up stops the query (D-1, D-3)."""

from __future__ import annotations

import asyncio
import threading

import pytest

from codelaw.adapters.stores.opening import open_stores as open_any
from codelaw.adapters.stores.readers import QUICK, SLOW
from codelaw.domain.errors import Refusal
from tests.adapters.stores.suite import a_chat, a_turn, refusal, said

ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture(params=["sqlite", "postgresql"])
async def store(request, tmp_path):
    url = None if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    opened = await open_any(url, tmp_path / "chats.db")
    yield opened.chats
    await opened.chats.close()


class Endless:
    """A query without end, as many as are asked for."""

    def __init__(self, store):
        self._store = store
        self.began = threading.Semaphore(0)
        self.ended = threading.Semaphore(0)

    def work(self, session):
        session.execute("SELECT 1").fetchone()
        self.began.release()
        try:
            return session.execute(ENDLESS).fetchone()
        finally:
            self.ended.release()

    async def begin(self, *, slow=False):
        task = asyncio.create_task(self._store.database.read(self.work, slow=slow))
        await asyncio.to_thread(self.began.acquire)
        return task


async def given_up(*tasks):
    for task in tasks:
        task.cancel()
    assert all(isinstance(one, asyncio.CancelledError) for one in await asyncio.gather(*tasks, return_exceptions=True))


async def test_what_reads_for_ever_holds_up_neither_a_write_nor_another_chat(store):
    await store.create(a_chat())
    endless = Endless(store)
    tasks = [await endless.begin(slow=True) for _ in range(SLOW)]
    tasks += [await endless.begin() for _ in range(QUICK - 1)]
    await store.begin_turn(a_turn(store), said("m1"))
    await store.append("c1", [said("m2")])
    assert [message.id for message in (await store.load("c1")).messages] == ["m1", "m2"]
    assert [chat.id for chat in (await store.list(None, 9, None))[0]] == ["c1"]
    assert endless.ended.acquire(blocking=False) is False, "all of them still read"
    await given_up(*tasks)


async def test_who_gives_up_stops_the_query_and_the_thread_reads_on(store):
    await store.create(a_chat(title="found by its title"))
    endless = Endless(store)
    for _ in range(3):
        tasks = [await endless.begin(slow=True) for _ in range(SLOW)]
        await given_up(*tasks)
        for _ in tasks:
            await asyncio.to_thread(endless.ended.acquire)
        assert [chat.id for chat in (await store.list("its title", 9, None))[0]] == ["c1"]


async def test_a_query_that_was_stopped_between_two_statements_stops_at_the_next(store):
    between, go_on = threading.Event(), threading.Event()
    ended = threading.Event()

    def work(session):
        session.execute("SELECT 1").fetchone()
        between.set()
        go_on.wait()
        try:
            session.execute(ENDLESS).fetchone()
        finally:
            ended.set()

    task = asyncio.create_task(store.database.read(work))
    await asyncio.to_thread(between.wait)
    await given_up(task)
    go_on.set()
    await asyncio.to_thread(ended.wait)


async def test_closing_stops_what_reads(store):
    endless = Endless(store)
    tasks = [await endless.begin(), await endless.begin(slow=True)]
    await store.close()
    assert [await refusal(task) for task in tasks] == ["store_unavailable"] * 2
    assert await refusal(store.list(None, 9, None)) == "store_unavailable"


async def test_a_chat_is_read_as_it_was_written_before_also_by_a_cancelled_caller(store):
    await store.create(a_chat())
    for number in range(50):
        writing = asyncio.create_task(store.append("c1", [said(f"m{number}")]))
        await asyncio.sleep(0)
        if number % 2:
            writing.cancel()
        loaded = await store.load("c1")
        assert len(loaded.messages) == number + 1
        await asyncio.gather(writing, return_exceptions=True)


async def test_nothing_can_be_written_by_a_reader(store):
    await store.create(a_chat())
    with pytest.raises(Refusal, match=r"cannot be written|can only be read"):
        await store.database.read(lambda session: session.execute("DELETE FROM chats").rowcount)
    assert len((await store.list(None, 9, None))[0]) == 1
