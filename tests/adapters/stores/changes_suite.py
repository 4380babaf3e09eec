"""What every store promises of what turns did to files; a store's own test module subclasses `ChangesSuite`."""

from __future__ import annotations

from dataclasses import replace

from codelaw.domain.edits import KeptChange
from tests.adapters.stores.suite import NASTY, a_chat, a_turn, refusal, said

CHANGE = KeptChange(0, "t1", "k", "a.py", "file:///w/a.py", "old", "new")


async def with_turn(store, chat_id="c1", turn="t1"):
    await store.create(a_chat(chat_id))
    await store.begin_turn(a_turn(store, turn, chat_id), said(f"m-{turn}", turn=turn))
    await store.end_turn(a_turn(store, turn, chat_id, status="ended", stop_reason="finished"))
    return store


class ChangesSuite:
    """`open_store` opens the same, at first empty, store again and again, each time as another owner."""

    async def test_changes_come_back_whole_and_in_order(self, open_store):
        store = await with_turn(await open_store())
        large = "\r\n".join(f"line {number} {NASTY}" for number in range(20_000))
        given = [
            CHANGE,
            replace(CHANGE, path=NASTY, uri=NASTY, call_id=NASTY, before=large, after=None, bom=True, mode=0o4755),
            replace(CHANGE, before=None, after="", encoding="binary", state="done"),
            replace(CHANGE, before="", after="\udcff"),
        ]
        numbers = [await store.plan_change("c1", change) for change in given]
        assert numbers == sorted(set(numbers))
        found = await (await open_store()).changes("c1", "t1")
        assert list(found) == [replace(change, number=number) for number, change in zip(numbers, given, strict=True)]

    async def test_a_planned_change_is_settled_or_withdrawn_once(self, open_store):
        store = await with_turn(await open_store())
        one, two, three = [await store.plan_change("c1", CHANGE) for _ in range(3)]
        await store.settle_change("c1", one, NASTY)
        await store.settle_change("c1", one, "too late")
        await store.withdraw_change("c1", one)
        await store.withdraw_change("c1", three)
        found = list(await store.changes("c1", "t1"))
        assert found == [replace(CHANGE, number=one, after=NASTY, state="done"), replace(CHANGE, number=two)]
        assert await store.plan_change("c1", CHANGE) > three, "no number is given twice"
        assert await refusal(store.changes("c1", NASTY)) == "turn_not_found"

    async def test_what_is_undone_is_marked_so_and_only_in_its_chat(self, open_store):
        store = await with_turn(await open_store())
        await with_turn(store, "c2", "t2")
        one, two = [await store.plan_change("c1", CHANGE) for _ in range(2)]
        theirs = await store.plan_change("c2", replace(CHANGE, turn_id="t2"))
        await store.mark_changes("c1", [two, theirs, 99], "undone")
        await store.mark_changes("c1", [], "undone")
        assert [change.state for change in await store.changes("c1", "t1")] == ["planned", "undone"]
        assert [change.state for change in await store.changes("c2", "t2")] == ["planned"]
        assert one < two < theirs

    async def test_what_a_chat_did_is_listed_without_texts_and_read_file_by_file(self, open_store):
        store = await with_turn(await open_store())
        await with_turn(store, "c2", "t2")
        made = replace(CHANGE, before=None, state="done")
        other = replace(CHANGE, path=NASTY, uri=NASTY, after=None, encoding="binary", state="unknown")
        one, _, undone, two = [
            await store.plan_change("c1", change) for change in (made, CHANGE, replace(CHANGE, state="done"), other)
        ]
        await store.mark_changes("c1", [undone], "undone")
        await store.plan_change("c2", replace(made, turn_id="t2"))
        again = await open_store()
        assert list(await again.changes_of_chat("c1")) == [
            replace(made, number=one, after=""),
            replace(other, number=two, before=""),
        ]
        assert list(await again.changes("c1", of_file=(CHANGE.uri, 0))) == [replace(made, number=one)]
        assert list(await again.changes("c1", of_file=(CHANGE.uri, one))) == []
        assert list(await again.changes("c1", of_file=(NASTY, one))) == [replace(other, number=two)]
        found = await again.changes("c1", numbers=[two, one, 10**9])
        assert list(found) == [replace(made, number=one), replace(other, number=two)]

    async def test_one_server_at_a_time_undoes_and_no_turn_begins_meanwhile(self, open_store):
        first, second = await with_turn(await open_store()), await open_store()
        await first.begin_revert("c1")
        for store in (first, second):
            assert await refusal(store.begin_revert("c1")) == "chat_busy"
            assert await refusal(store.begin_turn(a_turn(store, "t2"), said("m2", turn="t2"))) == "chat_busy"
        await second.end_revert("c1")
        assert await refusal(second.begin_revert("c1")) == "chat_busy", "only who began may end it"
        await first.end_revert("c1")
        await second.begin_revert("c1")
        await second.close()
        await first.begin_revert("c1")
        await first.end_revert("c1")
        await first.begin_turn(a_turn(first, "t2"), said("m2", turn="t2"))
        assert await refusal(first.begin_revert("c1")) == "chat_busy", "a turn is running"

    async def test_a_withdrawn_turn_raises_the_generation_and_stays_in_the_record(self, open_store):
        store = await with_turn(await open_store())
        assert await store.withdraw_turn("c1", 0, "t1", "t1") == 1
        assert await refusal(store.withdraw_turn("c1", 1, "t1", "t1")) == "nothing_to_undo"
        assert await refusal(store.withdraw_turn("c1", 0, "t2", "t1")) == "chat_busy"
        loaded = await (await open_store()).load("c1")
        assert (loaded.withdrawn, loaded.chat.generation, loaded.settled) == ({"t1"}, 1, "t1")
        assert [message.id for message in loaded.messages] == ["m-t1"]
