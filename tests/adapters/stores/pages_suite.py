"""What every store promises of pages; a store's own test module subclasses `PagesSuite` and gives `open_store`."""

from __future__ import annotations

from codelaw.domain.chats import TurnResult
from codelaw.domain.events import AnswerDelta, CompactionEvent, NoticeEvent, TurnEnded, TurnStarted
from codelaw.domain.models import Usage
from tests.adapters.stores.suite import NASTY, a_chat, a_turn, refusal, said


async def a_turn_of(store, number, *, chat_id="c1"):
    """A turn of three messages and four events."""
    turn = f"t{number}"
    await store.begin_turn(a_turn(store, turn, chat_id), said(f"{turn}-1", NASTY, turn=turn))
    await store.append_events(
        chat_id, turn, [(1.0, TurnStarted(NASTY)), (1.0, AnswerDelta("a", 1)), (1.0, AnswerDelta("b", 1))]
    )
    await store.append(chat_id, [said(f"{turn}-2", "{}", turn, "tool")])
    ended = a_turn(store, turn, chat_id, status="ended", stop_reason="finished")
    await store.end_turn(ended, [said(f"{turn}-3", turn=turn, role="assistant")])
    await store.append_events(chat_id, turn, [(2.0, TurnEnded(TurnResult(chat_id, turn, "finished", "", 1, Usage())))])
    await store.merge_deltas(chat_id, turn)


async def a_chat_of(store, turns):
    """Turns with a compaction before the first and after each; another chat's between them."""
    await store.create(a_chat())
    await store.create(a_chat("c2"))
    await store.append_events("c1", "", [(0.5, CompactionEvent("started"))])
    for number in range(1, turns + 1):
        await a_turn_of(store, number)
        await a_turn_of(store, number, chat_id="c2")
        await store.append_events("c1", "", [(3.0, CompactionEvent("started"))])
    return store


def turns_of(page):
    return list(dict.fromkeys(message.turn_id for message in page.messages))


def numbers(page):
    return [event.seq for event in page.events]


class PagesSuite:
    """`open_store` opens the same, at first empty, store again and again, each time as another owner."""

    async def test_the_newest_turns_come_with_what_lies_between_them(self, open_store):
        store = await a_chat_of(await open_store(), 5)
        whole, events = await store.load("c1"), await store.events("c1", 0)
        page = await store.page("c1", 2, None)
        assert page.chat == whole.chat
        assert (page.running, page.earlier) == (None, True)
        assert page.messages == tuple(item for item in whole.messages if item.turn_id in {"t4", "t5"})
        first = next(event.seq for event in events if event.turn_id == "t4")
        assert page.events == tuple(event for event in events if event.seq >= first)
        assert [event.event.delta for event in page.events if isinstance(event.event, AnswerDelta)] == ["ab", "ab"]

    async def test_pages_follow_each_other_without_gap_and_overlap(self, open_store):
        store = await a_chat_of(await open_store(), 5)
        whole, events = await store.load("c1"), await store.events("c1", 0)
        for size in (1, 2, 3, 5, 1000):
            pages = [await store.page("c1", size, None)]
            while pages[0].earlier:
                pages.insert(0, await store.page("c1", size, turns_of(pages[0])[0]))
            assert sum((page.messages for page in pages), ()) == whole.messages
            assert sum((page.events for page in pages), ()) == tuple(events)
            assert all(len(turns_of(page)) == size for page in pages[1:])

    async def test_a_later_notice_of_a_turn_is_on_the_page_of_the_turn(self, open_store):
        store = await a_chat_of(await open_store(), 3)
        seq = (await store.append_events("c1", "t1", [(9.0, NoticeEvent("info", "reverted", "undone"))]))[0]
        assert seq not in numbers(await store.page("c1", 2, None))
        assert numbers(await store.page("c1", 2, "t2"))[-1] == seq

    async def test_turns_without_events_have_their_place(self, open_store):
        store = await a_chat_of(await open_store(), 2)
        await store.begin_turn(a_turn(store, "t3"), said("m", turn="t3"))
        last = await store.page("c1", 1, None)
        assert (turns_of(last), last.events, last.running) == (["t3"], (), "t3")
        before = await store.page("c1", 1, "t3")
        assert numbers(before)[-1] == (await store.events("c1", 0))[-1].seq

    async def test_an_unknown_chat_and_an_unknown_turn_are_refused(self, open_store):
        store = await a_chat_of(await open_store(), 1)
        await store.create(a_chat("c3"))
        assert await refusal(store.page("c9", 1, None)) == "chat_not_found"
        assert await refusal(store.page("c1", 1, NASTY)) == "turn_not_found"
        assert await refusal(store.page("c3", 1, "t1")) == "turn_not_found", "that of another chat"
