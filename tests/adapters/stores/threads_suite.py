"""What every store promises of rolling summaries; a store's own test module subclasses it and gives `open_store`."""

from __future__ import annotations

from codelaw.domain.checkpoints import Demotion, ThreadSummary
from tests.adapters.stores.forks_suite import FORK, with_turns
from tests.adapters.stores.suite import refusal


class ThreadsSuite:
    async def test_one_made_of_an_older_history_is_refused(self, open_store):
        store = await with_turns(await open_store())
        await store.save_thread_summary("c1", 0, ThreadSummary("first", "t1", 1.0))
        risen = await store.reshape("c1", 0, None, [Demotion("r1", "result")])
        second = ThreadSummary("second", "t2", 2.0)
        assert await refusal(store.save_thread_summary("c1", 0, second)) == "chat_busy"
        assert (await store.load("c1")).thread_summary.text == "first"
        await store.save_thread_summary("c1", risen, second)
        assert (await store.load("c1")).thread_summary == second
        assert await refusal(store.save_thread_summary("gone", 0, second)) == "chat_not_found"

    async def test_it_goes_with_a_turn_that_it_speaks_of(self, open_store):
        store = await with_turns(await open_store())
        await store.save_thread_summary("c1", 0, ThreadSummary("of two", "t2", 1.0))
        risen = await store.withdraw_turn("c1", 0, "t3", "t3")
        assert (await store.load("c1")).thread_summary is not None, "it says nothing of the third turn"
        risen = await store.withdraw_turn("c1", risen, "t2", "t3")
        assert (await store.load("c1")).thread_summary is None
        await store.save_thread_summary("c1", risen, ThreadSummary("anew", "t3", 1.0))
        await store.withdraw_turn("c1", risen, "t1", "t3")
        assert (await store.load("c1")).thread_summary is None

    async def test_a_fork_has_it_when_it_has_all_that_it_speaks_of(self, open_store):
        store = await with_turns(await open_store())
        summary = ThreadSummary("of two", "t2", 1.0)
        await store.save_thread_summary("c1", 0, summary)
        await store.fork("c1", "t2", FORK)
        assert (await store.load("c2")).thread_summary == summary
        await store.delete("c2")
        await store.fork("c1", "t1", FORK)
        assert (await store.load("c2")).thread_summary is None
        await store.delete("c1")
        assert (await store.load("c2")).thread_summary is None
