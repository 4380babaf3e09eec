"""Forks, asides and rolling summaries in SQLite, where rows are damaged too (D-2, L-3, B-3)."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from codelaw.domain.chats import Todo
from codelaw.domain.checkpoints import ThreadSummary
from tests.adapters.stores.asides_suite import NESTED, PROFILE, AsidesSuite
from tests.adapters.stores.forks_suite import FORK, ForksSuite, with_turns
from tests.adapters.stores.threads_suite import ThreadsSuite


class TestForks(ForksSuite):
    pass


class TestAsides(AsidesSuite):
    pass


class TestThreads(ThreadsSuite):
    pass


def damage(path, *updates):
    with closing(sqlite3.connect(path)) as connection:
        for sql, *values in updates:
            connection.execute(f"UPDATE {sql}", values)
        connection.commit()


async def test_damaged_rows_do_not_keep_a_chat_from_being_forked(open_store, path):
    store = await with_turns(await open_store())
    damage(
        path,
        ("messages SET metadata = '{' WHERE id = 'a1'",),
        ("messages SET content = CAST(? AS TEXT) WHERE id = 'q1'", b"\xff torn"),
        ("events SET body = '{' WHERE seq IN (7, 8)",),
    )
    await store.fork("c1", "t2", FORK)
    one, other = await store.load("c1"), await store.load("c2")
    assert other.messages == one.messages[:6]
    assert (len(one.losses), one.losses) == (2, other.losses)
    assert other.todos == (Todo("of t1", "pending"),), "the newest list that can be read"


@pytest.mark.parametrize("change", ["body = 'altered'", "about = 'three'", "name = x'ff00fe'", "message_id = 'q9'"])
async def test_a_damaged_aside_is_shown_no_more_and_told(open_store, path, change):
    store = await with_turns(await open_store())
    await store.append("c1", (), asides=(PROFILE, NESTED))
    damage(path, (f"asides SET {change} WHERE message_id = 'q1'",))
    loaded = await store.load("c1")
    assert (loaded.asides, len(loaded.losses)) == ((NESTED,), 1)


async def test_a_damaged_summary_is_none(open_store, path):
    store = await with_turns(await open_store())
    await store.save_thread_summary("c1", 0, ThreadSummary("x", "t1", 1.0))
    damage(path, ("thread_summaries SET body = '{'",))
    loaded = await store.load("c1")
    assert (loaded.thread_summary, len(loaded.losses)) == (None, 1)
