"""What every index of messages promises; a store's own test module subclasses `IndexSuite` and gives `open_store`."""

from __future__ import annotations

import asyncio
import struct
from dataclasses import replace

import pytest

from codelaw.adapters.stores import index as index_module
from codelaw.adapters.stores.index import SqlIndex
from codelaw.domain.chats import StoredTurn
from codelaw.domain.messages import Role
from tests.adapters.stores.suite import a_chat, a_turn, said

EAST, NORTH, BETWEEN = (1.0, 0.0), (0.0, 1.0), (0.6, 0.8)


def vector(*numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


def an_index(store):
    return SqlIndex(store.database)


async def with_messages(store, *texts, chat_id="c1", role: Role = "user"):
    """A chat with one turn for each text; message `m0` holds the first."""
    await store.create(a_chat(chat_id))
    for number, text in enumerate(texts):
        await add(store, number, text, chat_id, role)
    return an_index(store)


async def add(store, number, text, chat_id="c1", role: Role = "user"):
    """The turn `t<number>` with `text` in the message `m<number>`, ten hours after the one before."""
    turn = a_turn(store, f"t{number}", chat_id, started_at=1_700_000_000.0 + 36_000 * number)
    await store.begin_turn(turn, said(f"m{number}", text if role == "user" else "", turn=turn.id))
    later = [] if role == "user" else [said(f"{role}{number}", text, turn.id, role)]
    await store.end_turn(replace(turn, status="ended"), later)


async def found(index, question, chat_id="c1", **how):
    return [hit.message_id for hit in await index.search(chat_id, question, **how)]


async def embed(index, embedder="e", chat_id=None, *, of):
    """Give every passage that waits the vector `of` its text."""
    passages = await index.claim(embedder, chat_id)
    await index.store(embedder, [(passage.id, of(passage.text)) for passage in passages])
    return passages


class IndexSuite:
    """`open_store` opens the same, at first empty, store again and again, each time as another owner."""

    async def test_the_best_comes_first_and_the_limit_holds(self, open_store):
        texts = ("deploy the server", "the database server crashed during the deploy", "tea", "database", "coffee")
        index = await with_messages(await open_store(), *texts)
        assert await found(index, "when did the database server crash?") == ["m1", "m3", "m0"]
        assert await found(index, "when did the database server crash?", limit=1) == ["m1"]

    async def test_only_the_chat_that_is_asked_answers(self, open_store):
        store = await open_store()
        await with_messages(store, "a parser", "nothing")
        index = await with_messages(store, "nothing", "a parser", chat_id="c2")
        assert await found(index, "parser", "c2") == ["m1"]
        assert await found(index, "parser", "nowhere") == []

    async def test_a_search_sees_what_was_said_a_moment_ago(self, open_store):
        store = await open_store()
        index = await with_messages(store, "one", "two")
        assert await found(index, "parser") == []
        await add(store, 2, "a parser")
        assert await found(index, "parser") == ["m2"]

    async def test_vectors_that_come_later_count_from_then_on(self, open_store):
        store = await open_store()
        index = await with_messages(store, "alpha", "beta", "gamma")
        how = {"embedder": "e", "vector": vector(*EAST)}
        assert await found(index, "omega", **how) == []
        await embed(index, of=lambda text: vector(*(EAST if text == "beta" else NORTH)))
        assert (await found(index, "omega", **how))[0] == "m1"
        await add(store, 3, "delta")
        await index.index()
        await embed(index, of=lambda _: vector(*BETWEEN))
        assert (await found(index, "omega", **how))[:2] == ["m1", "m3"]

    async def test_a_model_of_another_size_under_the_same_name_is_embedded_again(self, open_store):
        store = await open_store()
        index = await with_messages(store, "alpha", "beta")
        await index.index()
        await embed(index, of=lambda _: vector(*EAST))
        await add(store, 2, "gamma")
        await index.index()
        await embed(index, of=lambda _: vector(1.0, 0.0, 0.0))
        assert await index.waiting("e") == 2
        await embed(index, of=lambda _: vector(0.0, 1.0, 0.0))
        best, *_ = await index.search("c1", "omega", embedder="e", vector=vector(1.0, 0.0, 0.0))
        assert (best.message_id, best.similarity) == ("m2", pytest.approx(1.0))

    async def test_nothing_is_embedded_twice_at_the_same_time(self, open_store):
        one, other = an_index(await open_store()), an_index(await open_store())
        store = await open_store()
        await with_messages(store, *(f"text {n}" for n in range(30)))
        await one.index()
        both = await asyncio.gather(one.claim("e", limit=20), other.claim("e", limit=20))
        ids = [passage.id for passages in both for passage in passages]
        assert len(ids) == len(set(ids)) == 30
        assert len(await other.claim("another", limit=50)) == 30, "claims are an embedder's"
        assert await one.claim("e") == []

    async def test_what_is_given_back_late_is_claimed_though_later_ones_are_embedded(self, open_store, monkeypatch):
        monkeypatch.setattr(index_module, "LATE", 0)
        index = await with_messages(await open_store(), *(f"text {number}" for number in range(6)))
        other = an_index(await open_store())
        await index.index()
        slow = await other.claim("e", limit=2)
        assert len(await embed(index, of=lambda _: vector(*EAST))) == 4
        assert await index.claim("e") == []
        await other.release([passage.id for passage in slow])
        assert len(await embed(index, of=lambda _: vector(*EAST))) == 2
        assert await index.claim("e") == []
        await add(index_store := await open_store(), 6, "one more")
        await an_index(index_store).index()
        assert [passage.text for passage in await embed(index, of=lambda _: vector(1.0, 0.0, 0.0))] == ["one more"]
        assert len(await index.claim("e")) == 6, "those of another size are of no use any more"

    async def test_two_servers_that_index_the_same_make_each_passage_once(self, open_store):
        store = await open_store()
        await with_messages(store, *(f"text {n}" for n in range(120)))
        one, other = an_index(store), an_index(await open_store())
        await asyncio.gather(one.index(), other.index())
        assert len(await one.claim("e", limit=500)) == 120

    async def test_a_search_in_a_large_unindexed_chat_takes_a_bounded_part(self, open_store, monkeypatch):
        monkeypatch.setattr(index_module, "BEFORE_SEARCH", 50)
        index = await with_messages(await open_store(), *(f"text {n}" for n in range(60)))
        assert await found(index, "59") == []
        assert await found(index, "59") == ["m59"]

    async def test_a_deleted_chat_takes_everything_with_it(self, open_store):
        store = await open_store()
        index = await with_messages(store, "alpha", "beta")
        assert await found(index, "alpha") == ["m0"]
        claimed = await index.claim("e")
        await index.store("e", [(claimed[0].id, vector(*EAST))])
        await store.delete("c1")
        assert await found(index, "alpha", embedder="e", vector=vector(*EAST)) == []
        await index.store("e", [(claimed[1].id, vector(*EAST))])
        await index.release([claimed[1].id])
        assert await index.waiting("e") == 0
        for table in ("passages", "vectors", "claims"):
            count = await store.database.read(
                lambda session, table=table: session.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            )
            assert count == 0, table

    async def test_what_closes_an_earlier_turn_late_stands_where_it_belongs(self, open_store):
        store = await open_store()
        await store.create(a_chat())
        first = replace(a_turn(store, "t0", started_at=1e9), owner="dead")
        await store.begin_turn(first, said("m0", "the parser", turn="t0"))
        index = an_index(store)
        await index.index()
        second = StoredTurn("t1", "c1", "running", store.owner, 2e9)
        await store.begin_turn(second, said("m1", "tea", turn="t1"))
        assert await found(index, "parser") == ["m0"]
        await store.end_turn(replace(first, status="ended"), [said("m2", "it crashed", "t0", "assistant")])
        assert await found(index, "parser") == ["m0", "m2"], "m2 is a neighbour of m0, though m1 was stored before it"
