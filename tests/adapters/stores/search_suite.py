"""A search finds what looking through everything finds, whatever of it is indexed (D-2); over both databases."""

from __future__ import annotations

import random

import pytest

from codelaw.adapters.stores.rows import search_rows
from tests.adapters.stores.suite import a_chat, a_turn, refusal, said

PARTS = [
    *("the", "parser", "Straße", "STRASSE", "ΣΊΣΥΦΟΣ", "ﬁnd", "İstanbul", "Dž", "naïve", "e\u0301", "%_", "\\", '"x"'),
    *[
        "数据",
        "数据库",
        "据库",
        "中",
        "tiếng",
        "Tiếng",
        "nguyễn",
        "NGUYỄN",
        "한국어",
        "🦀🦀",
        "👩\u200d👩\u200d👧",
        "OR",
        "NOT",
    ],
    *("a", "b", "ab", "\0", "\x01", "\x10", "\ud800", "\udc00x", "\ufffe", "\uffff", " ", "\n", "'", "*", "(", "NEAR("),
]


def held(stored, query):
    """What the search was before there was an index: every title and message is looked through."""
    wanted = query.casefold()
    return [chat for chat, texts in stored if any(wanted in text.casefold() for text in texts)]


async def answered(store, query, folders=None):
    """All pages of an answer."""
    found, cursor = [], None
    while True:
        chats, cursor = await store.list(query, 3, cursor, folders)
        found += [chat.id for chat in chats]
        if cursor is None:
            return found


async def take_in(store, slices=None):
    while slices is None or slices:
        if not await store.search.take_in():
            return
        slices = None if slices is None else slices - 1


class SearchSuite:
    """Tests with a fixture `open_store`, whose index takes in only what a test lets it."""

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("few", [0, 4, 3_000], ids=["by chat", "either", "at once"])
    async def test_it_finds_what_looking_through_finds(self, monkeypatch, open_store, seed, few):
        monkeypatch.setattr(search_rows, "FEW", few)
        monkeypatch.setattr(search_rows, "SLICE_MESSAGES", 7)
        chance = random.Random(seed)
        store = await open_store()

        def text(most):
            return "".join(chance.choice(PARTS) + chance.choice(["", "", " "]) for _ in range(chance.randint(0, most)))

        stored = []
        for number in range(12):
            chat = a_chat(f"c{number}", title=text(2), updated_at=100.0 - number)
            await store.create(chat)
            texts = [text(9) for _ in range(chance.randint(0, 8))]
            await store.append(chat.id, [said(f"m{place}", each) for place, each in enumerate(texts)])
            stored.append((chat.id, [chat.title, *texts]))
        queries = [text(2) for _ in range(25)] + [
            each[place : place + chance.randint(1, 9)]
            for _, texts in chance.sample(stored, 6)
            for each in texts
            if (place := chance.randint(0, max(0, len(each) - 2))) is not None
        ]
        expected = {query: held(stored, query) for query in queries if query}
        for slices in (0, 1, 3, None):
            await take_in(store, slices)
            for query, chats in expected.items():
                assert await answered(store, query) == chats, (query, slices)
        assert await store.search.take_in() is False

    async def test_the_index_is_asked_and_the_messages_are_not_all_looked_through(self, monkeypatch, open_store):
        store = await open_store()
        for number in range(30):
            await store.create(a_chat(f"c{number}", updated_at=float(number)))
            needle = " needle in it" if number in {3, 17} else ""
            await store.append(f"c{number}", [said("m", f"hay stack {number}{needle}"), said("n", "数据 nguyễn")])
        await take_in(store)
        looked = {}
        for query in ("NEEDLE", "数据", "no such thing"):
            sql, parameters = await store.database.read(
                lambda session, query=query: search_rows.condition(session, query)
            )
            candidates = sql[sql.index("position IN (") + len("position IN (") : sql.rindex(") AND ")]
            count = f"SELECT count(*) FROM ({candidates}) AS found"
            rows = await store.database.read(
                lambda session, count=count, parameters=parameters: session.execute(count, parameters[:-1]).fetchone()
            )
            looked[query] = rows[0]
        assert looked == {"NEEDLE": 2, "数据": 30, "no such thing": 0}

    async def test_what_is_deleted_is_out_of_the_index_and_its_places_may_be_used_again(self, monkeypatch, open_store):
        monkeypatch.setattr(search_rows, "SLICE_MESSAGES", 4)
        store = await open_store()
        for chat in ("old", "gone"):
            await store.create(a_chat(chat))
            await store.append(chat, [said(f"m{number}", f"walrus {number}") for number in range(20)])
        await take_in(store)
        assert await answered(store, "walrus 11") == ["old", "gone"]
        await store.delete("gone")
        assert await answered(store, "walrus 11") == ["old"]
        await store.create(a_chat("new", updated_at=999.0))
        await store.append("new", [said(f"m{number}", f"otter {number}") for number in range(20)])
        for _ in range(2):
            assert await answered(store, "otter 11") == ["new"]
            assert await answered(store, "walrus 11") == ["old"]
            await take_in(store)
        assert await refusal(store.delete("gone")) == "chat_not_found"

    async def test_what_is_too_long_for_the_index_is_found(self, monkeypatch, open_store):
        monkeypatch.setattr("codelaw.adapters.stores.rows.search_rows.LONGEST", 100)
        store = await open_store()
        await store.create(a_chat())
        await store.append("c1", [said("m", f"{'hay ' * 50}needle"), said("n", "short")])
        await take_in(store)
        for query in ("needle", "short"):
            assert await answered(store, query) == ["c1"]

    async def test_a_message_in_the_place_of_a_deleted_one_is_found(self, open_store):
        store = await open_store()
        await store.create(a_chat("c1"))
        await store.begin_turn(a_turn(store), said("m1", "what was said first"))
        waiting, dialect = await store.database.read(lambda session: (search_rows.waiting(session), session.dialect))
        await store.delete("c1")
        await store.create(a_chat("c2"))
        await store.begin_turn(a_turn(store, chat_id="c2"), said("m1", "something else"))
        messages = search_rows.ready(waiting, dialect)
        await store.database.write(lambda session: search_rows.add(session, messages))
        assert await answered(store, "something else") == ["c2"]
        await take_in(store)
        assert await answered(store, "something else") == ["c2"]
