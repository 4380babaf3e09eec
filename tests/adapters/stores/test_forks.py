"""Forks in SQLite (D-2)."""

from __future__ import annotations

import sqlite3

from codelaw.domain.chats import Todo
from tests.adapters.stores.forks_suite import FORK, ForksSuite, with_turns


class TestForks(ForksSuite):
    pass


async def test_damaged_rows_do_not_keep_a_chat_from_being_forked(open_store, path):
    store = await with_turns(await open_store())
    connection = sqlite3.connect(path)
    connection.execute("UPDATE messages SET metadata = '{' WHERE id = 'a1'")
    connection.execute("UPDATE messages SET content = CAST(? AS TEXT) WHERE id = 'q1'", (b"\xff torn",))
    connection.execute("UPDATE events SET body = '{' WHERE seq IN (7, 8)")
    connection.commit()
    connection.close()
    await store.fork("c1", "t2", FORK)
    one, other = await store.load("c1"), await store.load("c2")
    assert other.messages == one.messages[:6]
    assert (len(one.losses), one.losses) == (2, other.losses)
    assert other.todos == (Todo("of t1", "pending"),), "the newest list that can be read"
