"""What every store of memories promises (B-6); a store's own test module subclasses it and gives `open_stores`."""

from __future__ import annotations

import math
import struct
from dataclasses import replace

import pytest

from codelaw.domain.errors import Refusal
from codelaw.domain.memories import Memory, Places
from tests.adapters.stores.suite import a_chat

HERE = Places("ann", ("example.org/app", "other"), "c1")
ELSEWHERE = Places("bob", ("example.org/else",), "c2")
MODEL = "model/4"


def a_memory(id_="m1", text="The user prefers tabs over spaces.", **changes):
    memory = Memory(id_, text, "preference", "user", "ann", 0.8, 100.0)
    return replace(memory, **changes)


def vector(*numbers):
    """Of length 1; eight numbers at least, since the rest are zeros."""
    length = math.sqrt(sum(number * number for number in numbers))
    padded = [number / length for number in numbers] + [0.0] * (8 - len(numbers))
    return struct.pack(f"<{len(padded)}f", *padded)


async def refusal(awaitable):
    with pytest.raises(Refusal) as caught:
        await awaitable
    return caught.value.code


async def found(store, question, places=HERE, **more):
    return [one.memory.id for one in await store.candidates(places, question, **more)]


class MemorySuite:
    """`open_stores` opens the same, at first empty, database again and again, each time as another owner."""

    async def test_what_is_forgotten_is_found_nowhere(self, open_stores):
        store = (await open_stores()).memories
        await store.save(a_memory(), embedder=MODEL, vector=vector(1, 0))
        await store.save(a_memory("m2", "Tabs are four wide."), embedder=MODEL, vector=vector(1, 1))
        assert await found(store, "tabs", embedder=MODEL, vector=vector(1, 0)) == ["m1", "m2"]
        await store.forget("m1")
        assert await refusal(store.get("m1")) == "memory_not_found"
        assert await found(store, "tabs or spaces", embedder=MODEL, vector=vector(1, 0)) == ["m2"]
        assert [one.id for one in (await store.list(HERE, None, None, 10, None))[0]] == ["m2"]
        assert [one.id for one in await store.foremost(HERE, "user", ("preference",), 9)] == ["m2"]

    async def test_only_what_counts_here_is_listed_and_found(self, open_stores):
        stores = await open_stores()
        store = stores.memories
        for chat in ("c1", "c2"):
            await stores.chats.create(a_chat(chat))
        of_everyone = [("u1", "user", "ann"), ("u2", "user", "bob"), ("p1", "project", "example.org/app")]
        of_everyone += [("p2", "project", "other"), ("p3", "project", "example.org/else")]
        of_everyone += [("s1", "session", "c1"), ("s2", "session", "c2")]
        for number, (id_, scope, owner) in enumerate(of_everyone):
            entry = a_memory(id_, scope=scope, belongs_to=owner, created_at=float(number))
            await store.save(entry, embedder=MODEL, vector=vector(1, number))
        listed, cursor = await store.list(HERE, None, None, 10, None)
        assert ([one.id for one in listed], cursor) == (["s1", "p2", "p1", "u1"], None)
        assert [one.id for one in (await store.list(HERE, "project", None, 10, None))[0]] == ["p2", "p1"]
        assert (await store.list(Places("eve"), None, None, 10, None))[0] == []
        assert (await store.list(Places("ann"), "session", None, 10, None))[0] == []
        assert sorted(await found(store, "tabs")) == ["p1", "p2", "s1", "u1"]
        by_vector = await found(store, "zzz", ELSEWHERE, embedder=MODEL, vector=vector(1, 1))
        assert sorted(by_vector) == ["p3", "s2", "u2"]

    async def test_a_category_is_asked_for(self, open_stores):
        store = (await open_stores()).memories
        await store.save(a_memory("a", category="habit"), embedder=MODEL, vector=vector(1, 0))
        await store.save(a_memory("b", category="skill"), embedder=MODEL, vector=vector(1, 0))
        assert [one.id for one in (await store.list(HERE, None, "skill", 9, None))[0]] == ["b"]
        assert await found(store, "tabs", category="skill") == ["b"]
        assert await found(store, "zzz", embedder=MODEL, vector=vector(1, 0), category="habit") == ["a"]
        await store.save(a_memory("a", category="skill"))
        assert await found(store, "zzz", embedder=MODEL, vector=vector(1, 0), category="habit") == []

    async def test_words_are_found_in_other_forms_and_whatever_they_hold(self, open_stores):
        store = (await open_stores()).memories
        await store.save(a_memory("a", "Databases are migrated with Alembic."))
        await store.save(a_memory("b", "Das Café öffnet um acht."))
        await store.save(a_memory("c", "The linter is ruff."))
        assert await found(store, "how does database migration go?") == ["a"]
        assert await found(store, "cafe offnet") == ["b"]
        for odd in ("", "   ", "the of and", '" OR * NEAR( AND NOT', "text:ruff", "a\0b", "😀", "x" * 100_000):
            await store.candidates(HERE, odd)
        assert await found(store, 'NOT "ruff" OR (') == ["c"]

    async def test_the_nearest_vectors_are_found_without_a_common_word(self, open_stores):
        store = (await open_stores()).memories
        await store.save(a_memory("near", "alpha"), embedder=MODEL, vector=vector(1, 0.1, 0))
        await store.save(a_memory("far", "beta"), embedder=MODEL, vector=vector(-1, 0.1, 0))
        await store.save(a_memory("wordy", "gamma delta"), embedder=MODEL, vector=vector(0, 0, 1))
        await store.save(a_memory("none", "epsilon"))
        answers = await store.candidates(HERE, "gamma", embedder=MODEL, vector=vector(1, 0, 0))
        similar = {one.memory.id: one.similarity for one in answers}
        assert set(similar) == {"near", "far", "wordy"}
        assert similar["near"] == pytest.approx(0.995, abs=0.001)
        assert similar["far"] == 0.0
        assert similar["wordy"] == pytest.approx(math.sqrt(0.5))
        assert all(0 <= value <= 1 for value in similar.values())
        assert answers[0].memory.id == "near"
        assert await found(store, "zeta", embedder=MODEL, vector=vector(1, 0, 0), limit=1) == ["near"]

    async def test_vectors_of_other_embedders_and_sizes_are_never_compared(self, open_stores):
        store = (await open_stores()).memories
        await store.save(a_memory("a", "alpha"), embedder="other", vector=vector(1, 0))
        await store.save(a_memory("b", "beta"), embedder=MODEL, vector=vector(1, 0))
        assert await found(store, "zzz", embedder=MODEL, vector=vector(1, 0)) == ["b"]
        longer = vector(1, *[0] * 15)
        assert await found(store, "beta", embedder=MODEL, vector=longer) == ["b"], "by its word"
        assert await found(store, "zzz", embedder=MODEL, vector=longer) == []
        # The model behind the name has changed: what is left of the old one waits for a new vector.
        await store.save(a_memory("c", "gamma"), embedder=MODEL, vector=longer)
        assert [one.id for one in await store.unembedded(MODEL, 9)] == ["a", "b"]

    async def test_what_has_no_vector_waits_for_one(self, open_stores):
        store = (await open_stores()).memories
        for id_ in ("a", "b", "c"):
            await store.save(a_memory(id_, f"entry {id_}"))
        await store.store_vectors(MODEL, [("b", vector(1, 0)), ("gone", vector(1, 0))])
        assert [one.id for one in await store.unembedded(MODEL, 9)] == ["a", "c"]
        assert [one.id for one in await store.unembedded(MODEL, 1)] == ["a"]
        assert len(await store.unembedded("other", 9)) == 3
        assert await found(store, "zzz", embedder=MODEL, vector=vector(1, 0)) == ["b"]
        await store.save(a_memory("b", "entry b", confidence=0.1))
        assert await found(store, "zzz", embedder=MODEL, vector=vector(1, 0)) == ["b"], "its text is the same"
        await store.save(a_memory("b", "reworded"))
        assert [one.id for one in await store.unembedded(MODEL, 9)] == ["a", "b", "c"]
        await store.store_vectors(MODEL, [])

    async def test_the_end_of_a_chat_forgets_its_memories(self, open_stores):
        stores = await open_stores()
        await stores.chats.create(a_chat("c1"))
        of_chat = a_memory("s", scope="session", belongs_to="c1")
        await stores.memories.save(of_chat, embedder=MODEL, vector=vector(1, 0))
        await stores.memories.save(a_memory("u"))
        await stores.chats.delete("c1")
        assert await refusal(stores.memories.get("s")) == "memory_not_found"
        assert await found(stores.memories, "tabs", embedder=MODEL, vector=vector(1, 0)) == ["u"]
        assert await refusal(stores.memories.save(of_chat)) == "chat_not_found"

    async def test_an_entry_that_moves_out_of_a_chat_outlives_it(self, open_stores):
        stores = await open_stores()
        await stores.chats.create(a_chat("c1"))
        await stores.memories.save(a_memory("s", scope="session", belongs_to="c1"), embedder=MODEL, vector=vector(1))
        assert await found(stores.memories, "zzz", embedder=MODEL, vector=vector(1)) == ["s"]
        await stores.memories.save(a_memory("s"))
        await stores.chats.delete("c1")
        outside = Places("ann")
        assert await found(stores.memories, "zzz", outside, embedder=MODEL, vector=vector(1)) == ["s"]

    async def test_several_servers_see_each_others_entries_at_once(self, open_stores):
        one, other = (await open_stores()).memories, (await open_stores()).memories
        await one.save(a_memory("a", "alpha"), embedder=MODEL, vector=vector(1, 0))
        assert await found(other, "zzz", embedder=MODEL, vector=vector(1, 0)) == ["a"]
        await one.save(a_memory("b", "beta"), embedder=MODEL, vector=vector(1, 0.1))
        assert await found(other, "zzz", embedder=MODEL, vector=vector(1, 0)) == ["a", "b"]
        await one.save(a_memory("a", "alpha"), embedder=MODEL, vector=vector(0, 1))
        assert await found(other, "zzz", embedder=MODEL, vector=vector(1, 0)) == ["b", "a"]
        await one.forget("b")
        assert await found(other, "zzz", embedder=MODEL, vector=vector(1, 0)) == ["a"]
