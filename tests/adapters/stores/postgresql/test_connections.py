"""Connections that are lost, and owners that live on (D-4)."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from codelaw.adapters.stores.opening import PostgresStore
from codelaw.adapters.stores.postgres import connection as connection_module
from codelaw.domain.errors import Refusal
from tests.adapters.stores.postgresql.acting import cut, until
from tests.adapters.stores.suite import a_chat, a_turn, refusal, said
from tests.fakes.postgres import PASSWORD

SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'codelaw' AND datname = current_database()"


async def test_a_connection_lost_in_the_middle_is_told_and_the_next_call_connects_again(
    open_store, behind, postgres_url
):
    store = await open_store()
    await store.create(a_chat())
    await store.append("c1", [said("m1")])
    other = psycopg.connect(postgres_url)
    other.execute("LOCK TABLE codelaw.messages")
    writing = asyncio.create_task(store.append("c1", [said("m2")]))
    with psycopg.connect(postgres_url, autocommit=True) as looking:
        await until(lambda: looking.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()[0])
    cut(behind)
    other.close()
    with pytest.raises(Refusal, match="connection was lost") as caught:
        await writing
    assert caught.value.code == "store_unavailable"
    assert PASSWORD not in f"{caught.value.message} {caught.value.hint}"
    await store.append("c1", [said("m3")])
    assert [message.id for message in (await store.load("c1")).messages] == ["m1", "m3"]


@pytest.mark.parametrize(("idle_seconds", "windows"), [(1.0, False), (1.0, True), (0.0, False)])
async def test_who_asks_next_does_not_notice_that_the_connection_was_cut(
    monkeypatch, open_store, behind, idle_seconds, windows
):
    monkeypatch.setattr(connection_module, "IDLE_SECONDS", idle_seconds)
    if windows:
        monkeypatch.delattr(connection_module.select, "poll")
    store = await open_store()
    await store.create(a_chat())
    cut(behind)
    await until(lambda: behind(SESSIONS) == [(0,)])
    await store.append("c1", [said("m1")])


async def test_a_living_server_whose_connection_was_cut_lives_again_though_it_asks_for_nothing(
    monkeypatch, open_store, behind
):
    monkeypatch.setattr(connection_module, "KEEP_SECONDS", 0.1)
    first, second = await open_store(), await open_store()
    await first.create(a_chat())
    await first.begin_turn(a_turn(first), said("m1"))
    cut(behind)
    third = await open_store()
    async with asyncio.timeout(150):
        while not await third.is_alive(first.owner):  # it knows nothing of the cut
            await asyncio.sleep(0.05)
    assert await second.is_alive(first.owner)
    assert (await second.load("c1")).chat.running == "t1"
    assert await refusal(third.begin_turn(a_turn(third, "t2"), said("m2"))) == "chat_busy"


async def test_who_was_cut_off_itself_believes_others_alive_for_a_while(monkeypatch, open_store, behind):
    monkeypatch.setattr(connection_module, "IDLE_SECONDS", 0.0)
    first, second = await open_store(), await open_store()
    cut(behind)
    assert await second.is_alive(first.owner), "they may have been cut off by the same fault"
    assert not await second.is_alive("nobody")
    await first.close()
    monkeypatch.setattr("codelaw.adapters.stores.postgres.session.GRACE_SECONDS", 0.0)
    await second.create(a_chat())  # it notices that it was cut off, and lives again
    assert not await second.is_alive(first.owner)


@pytest.mark.blocking
async def test_a_server_that_stops_and_comes_back_is_used_again(open_store, postgres):
    store = await open_store()
    await store.create(a_chat())
    postgres.stop()
    try:
        outcomes = await asyncio.gather(*(store.chat("c1") for _ in range(8)), return_exceptions=True)
        assert {getattr(outcome, "code", None) for outcome in outcomes} == {"store_unavailable"}
        with pytest.raises(Refusal, match="cannot be reached"):
            await store.chat("c1")
    finally:
        postgres.start()
    assert await store.chat("c1") == a_chat()


async def test_where_there_is_no_connection_left_one_reads_too(postgres, postgres_url):
    name = postgres_url.rpartition("/")[2]
    postgres.run("CREATE EXTENSION IF NOT EXISTS vector", name)
    postgres.run(f"CREATE ROLE single LOGIN PASSWORD '{PASSWORD}' CONNECTION LIMIT 1", name)
    postgres.run(f"GRANT ALL ON DATABASE {name} TO single", name)
    store = await PostgresStore.open(postgres.url(name, user="single"))
    try:
        await store.create(a_chat())
        assert await store.chat("c1") == a_chat()
    finally:
        await store.close()


async def test_a_closed_store_leaves_no_session_behind(open_store, behind):
    store = await open_store()
    await store.close()
    await until(lambda: behind(SESSIONS) == [(0,)])
