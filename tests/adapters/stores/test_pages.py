"""Pages of a chat in SQLite."""

from __future__ import annotations

import sqlite3

import pytest

from codelaw.adapters.stores.chats import SqlChats
from codelaw.adapters.stores.sqlite.session import SqliteSession
from tests.adapters.stores.pages_suite import PagesSuite, a_chat_of, turns_of


class TestPages(PagesSuite):
    pass


def steps_of(store, connection, turns, before):
    """How much SQLite has to do for a page, in tens of its instructions."""
    counted = 0

    def count():
        nonlocal counted
        counted += 1

    connection.set_progress_handler(count, 10)
    page = SqlChats.page.__wrapped__(store, SqliteSession(connection), "c1", turns, before)
    connection.set_progress_handler(None, 0)
    assert len(turns_of(page)) == turns
    return counted


@pytest.mark.blocking
async def test_a_page_takes_as_long_as_it_is_large_however_long_the_chat(open_store, path):
    """Of each turn behind the page only its number is looked at."""
    store = await a_chat_of(await open_store(), 400)
    connection = sqlite3.connect(path)
    newest, all_of_them = steps_of(store, connection, 4, None), steps_of(store, connection, 400, None)
    assert newest * 10 < all_of_them
    assert steps_of(store, connection, 4, "t300") * 5 < all_of_them
    connection.close()


async def test_damaged_rows_of_a_page_are_left_out(open_store, path):
    store = await a_chat_of(await open_store(), 2)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE messages SET role = 'nobody' WHERE id = 't2-2' AND chat_id = 'c1'")
    connection.execute("UPDATE events SET body = '{' WHERE chat_id = 'c1' AND turn_id = 't2' AND body LIKE '%delta%'")
    connection.commit()
    connection.close()
    page = await store.page("c1", 1, None)
    assert [message.id for message in page.messages] == ["t2-1", "t2-3"]
    assert [event.event.kind for event in page.events] == ["turn_started", "notice", "turn_ended", "compaction"]
    assert page.losses == ("message t2-2 of turn t2: nobody can say who spoke",)
