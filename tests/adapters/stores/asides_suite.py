"""What every store promises of asides; a store's own test module subclasses it and gives `open_store`."""

from __future__ import annotations

from codelaw.adapters.stores.memories import SqlMemories
from codelaw.domain.checkpoints import Aside
from codelaw.domain.memories import Memory
from tests.adapters.stores.forks_suite import FORK, with_turns
from tests.adapters.stores.suite import NASTY, a_chat

PROFILE = Aside("q1", "profile", f"who {NASTY}", ("one", "two"))
SPANS = Aside("q1", "spans", "earlier")
NESTED = Aside("r2", f"law {NASTY}", "a rule", ("two",))


class AsidesSuite:
    async def test_they_come_back_in_order_beside_a_record_that_has_none_of_them(self, open_store):
        store = await with_turns(await open_store())
        before = await store.load("c1")
        await store.append("c1", (), asides=(PROFILE, SPANS))
        await store.append("c1", (), asides=(NESTED,))
        loaded = await (await open_store()).load("c1")
        assert loaded.asides == (PROFILE, SPANS, NESTED)
        assert (loaded.messages, loaded.losses) == (before.messages, ())
        assert (await store.page("c1", None, None)).messages == before.messages

    async def test_they_are_frozen(self, open_store):
        store = await with_turns(await open_store())
        await store.append("c1", (), asides=(PROFILE,))
        await store.append("c1", (), asides=(Aside("q1", "profile", "another"), Aside("q2", "profile", "later")))
        assert (await store.load("c1")).asides == (PROFILE, Aside("q2", "profile", "later"))

    async def test_they_go_with_their_chat_and_a_fork_has_those_of_its_messages(self, open_store):
        store = await with_turns(await open_store())
        await store.append("c1", (), asides=(PROFILE, NESTED))
        await store.fork("c1", "t1", FORK)
        forked = await store.load("c2")
        assert (forked.asides, forked.losses) == ((PROFILE,), ())
        await store.delete("c1")
        assert (await store.load("c2")).asides == (PROFILE,)
        await store.create(a_chat())
        assert (await store.load("c1")).asides == ()

    async def test_those_that_tell_a_forgotten_memory_are_gone_from_every_chat(self, open_store):
        store = await with_turns(await open_store())
        memories = SqlMemories(store.database)
        await store.append("c1", (), asides=(PROFILE, SPANS, NESTED))
        await store.fork("c1", "t1", FORK)
        for id_ in ("one", "on", "two"):
            await memories.save(Memory(id_, "text", "fact", "user", "me", 0.5, 1.0))
        generations = {id_: (await store.chat(id_)).generation for id_ in ("c1", "c2")}
        await memories.forget("on")
        assert (await store.load("c1")).asides == (PROFILE, SPANS, NESTED), "another one has a longer id"
        await memories.forget("one")
        assert [(await store.load(id_)).asides for id_ in ("c1", "c2")] == [(SPANS, NESTED), (SPANS,)]
        for id_, before in generations.items():
            assert (await store.chat(id_)).generation == before + 1, "who knows the chat loads it again"
        await memories.forget("two")
        assert [(await store.chat(id_)).generation for id_ in ("c1", "c2")] == [2, 1]
