"""What every store promises; a store's own test module subclasses `StoreSuite` and gives `open_store`."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from codelaw.adapters.stores import permissions
from codelaw.domain.chats import Chat, StoredTurn, Todo
from codelaw.domain.checkpoints import Checkpoint, Demotion
from codelaw.domain.errors import Refusal
from codelaw.domain.events import (
    RESERVED,
    AnswerDelta,
    NoticeEvent,
    Numbers,
    ThoughtDelta,
)
from codelaw.domain.messages import Call, Fragment, Message, Metadata, Role
from codelaw.domain.models import Usage
from codelaw.domain.permissions import AuditEntry, Grant

NASTY = "a\0b \ud800 \ud83d\ude00 😀 \u2028 '; DROP TABLE chats; --"


def a_chat(id_="c1", **changes):
    return replace(Chat(id_, "Title", "panel", "agent", "model", "layered", 100.0, 100.0), **changes)


def a_turn(store, id_="t1", chat_id="c1", **changes):
    return replace(StoredTurn(id_, chat_id, "running", store.owner, 200.0), **changes)


def said(id_, text="hello", turn="t1", role: Role = "user", **metadata):
    return Message(id_, turn, role, text, Metadata(**metadata))


def a_checkpoint(id_="k1", first_kept="t2", **changes):
    summary = Message(f"s-{id_}", "", "summary", NASTY)
    return replace(Checkpoint(id_, first_kept, 300.0, 1, summary, "model", (Demotion("m2", "arguments"),)), **changes)


async def refusal(awaitable):
    with pytest.raises(Refusal) as caught:
        await awaitable
    return caught.value.code


class StoreSuite:
    """`open_store` opens the same, at first empty, store again and again, each time as another owner."""

    async def test_a_chat_comes_back_whole(self, open_store):
        store = await open_store()
        await store.create(a_chat(title=NASTY))
        full = said(
            "m2",
            NASTY,
            role="assistant",
            step=1,
            calls=(Call("k", "Read", {"path": NASTY, "n": [1, 2.5, None, True]}),),
            fragments=(Fragment("environment", NASTY),),
            answer="x",
            note="steer",
            ref="r1",
            mtime=1.25,
            interrupted=True,
        )
        await store.begin_turn(a_turn(store), said("m1"))
        await store.append("c1", [full], [("r1", {"data": {"text": NASTY}})])
        await store.save_todos("c1", [Todo(NASTY, "pending"), Todo("b", "completed")])
        await store.mark_noticed("c1", "law_large")
        await store.mark_noticed("c1", "law_large")
        ended = a_turn(store, status="ended", last_usage=Usage(1, 2, 3, 4), stop_reason="finished")
        await store.end_turn(ended, [said("m3", role="assistant")])
        again = await open_store()
        loaded = await again.load("c1")
        assert loaded.chat == a_chat(title=NASTY, updated_at=200.0, turns=1)
        assert loaded.messages == (said("m1"), full, said("m3", role="assistant"))
        assert loaded.turns == (ended,)
        assert loaded.todos == (Todo(NASTY, "pending"), Todo("b", "completed"))
        assert loaded.notices == {"law_large"}
        assert (await again.results("c1", ["r1"])).get("r1") == {"data": {"text": NASTY}}
        assert [*await again.begun(5)] == [("c1", 200.0)]
        assert (await again.results("c1", ["r2"])).get("r2") is None
        assert (await again.results("c2", ["r1"])).get("r1") is None

    async def test_many_results_come_in_one_read_without_those_that_are_missing(self, open_store):
        store = await open_store()
        await store.create(a_chat())
        await store.create(a_chat("c2"))
        kept = [(f"r{number}", {"status": "success", "data": {"n": number, "text": NASTY}}) for number in range(1200)]
        await store.append("c1", [], kept)
        await store.append("c2", [], [("other", {"data": {}})])
        asked = [*(ref for ref, _ in kept), "r7", "other", "r9999", NASTY]
        assert await store.results("c1", asked) == dict(kept)
        assert list((await store.results("c1", ["r3"]))["r3"]) == ["status", "data"]
        assert await store.results("c1", []) == {}
        assert await store.results("nobody", ["r1"]) == {}

    async def test_update_writes_what_may_change(self, open_store):
        store = await open_store()
        await store.create(a_chat())
        changed = a_chat(title="New", mode="plan", model="other", updated_at=300.0)
        changed = replace(changed, chosen=True, places=("offline", "host:1"), effort="low")
        await store.update(replace(changed, kind="inline", created_at=1.0))
        assert (await store.load("c1")).chat == changed

    async def test_the_chat_that_was_used_last_is_first_also_when_the_clock_was_set_back(self, open_store):
        store = await open_store()
        await store.create(a_chat("c1", updated_at=100.0))
        await store.create(a_chat("c2", updated_at=4_000_000_000.0))
        await store.begin_turn(a_turn(store, "t1", "c1"), said("m1"))
        assert [chat.id for chat in (await store.list(None, 9, None))[0]] == ["c1", "c2"]
        await store.begin_turn(a_turn(store, "t1", "c2"), said("m1"))
        assert [chat.id for chat in (await store.list(None, 9, None))[0]] == ["c2", "c1"]
        await store.update(a_chat("c2", title="New", updated_at=300.0))
        assert [chat.id for chat in (await store.list(None, 9, None))[0]] == ["c2", "c1"]

    async def test_an_unknown_chat_is_refused(self, open_store):
        store = await open_store()
        reads, writes = (store.load, store.chat, store.last_number, store.head), (store.delete, store.reserve_numbers)
        for method in (*reads, *writes):
            assert await refusal(method(NASTY)) == "chat_not_found"
        assert await refusal(store.append(NASTY, [said("m")])) == "chat_not_found"
        assert await refusal(store.begin_turn(a_turn(store, chat_id=NASTY), said("m"))) == "chat_not_found"

    async def test_a_write_that_fails_leaves_nothing(self, open_store):
        store = await open_store()
        await store.create(a_chat())
        await store.append("c1", [said("m1")])
        with pytest.raises(Exception, match=r"(?i)unique"):
            await store.append("c1", [said("m2"), said("m1")], [("r", {})])
        assert (await store.load("c1")).messages == (said("m1"),)
        assert (await store.results("c1", ["r"])).get("r") is None

    async def test_chats_are_listed_by_the_folders_in_which_they_were_begun(self, open_store):
        store = await open_store()
        await store.create(a_chat("c1"), ["file:///a", "file:///b", "file:///a"])
        await store.create(a_chat("c2"), ["file:///b"])
        await store.create(a_chat("c3"))
        await store.fork("c1", None, a_chat("c4", updated_at=9e9))

        async def listed(*folders):
            return [chat.id for chat in (await store.list(None, 100, None, folders))[0]]

        assert await listed("file:///a") == ["c4", "c1"]
        assert sorted(await listed("file:///a", "file:///b")) == ["c1", "c2", "c4"]
        assert await listed("file:///") == []
        assert await listed() == []
        await store.delete("c1")
        assert await listed("file:///a") == ["c4"]
        assert len((await store.list(None, 100, None))[0]) == 3

    async def test_the_list_is_newest_first_and_goes_on_from_its_cursor(self, open_store):
        store = await open_store()
        for number in range(7):
            await store.create(a_chat(f"c{number}", updated_at=float(number // 2)))
        assert [chat.id for chat in (await store.list(None, 100, None))[0]] == [f"c{n}" for n in range(6, -1, -1)]
        seen, cursor = [], None
        while True:
            chats, cursor = await store.list(None, 3, cursor)
            seen += [chat.id for chat in chats]
            if cursor is None:
                break
            await store.create(a_chat(f"new{cursor[:3]}{len(seen)}", updated_at=99.0))
        assert seen == [f"c{n}" for n in range(6, -1, -1)]
        assert (await store.list(None, 0, None))[0][0].updated_at == 99.0
        assert await refusal(store.list(None, 3, "nonsense")) == "invalid_text"

    async def test_a_deleted_chat_is_gone_with_everything(self, open_store):
        store = await open_store()
        await store.create(a_chat())
        await store.begin_turn(a_turn(store), said("m1"))
        await store.append("c1", [], [("r", {"a": 1})])
        await store.append_events("c1", "t1", [(1.0, ThoughtDelta("a", 1))])
        await store.mark_noticed("c1", "x")
        await store.reshape("c1", 0, a_checkpoint(), [Demotion("m1", "result")], "t1")
        await store.delete("c1")
        assert await store.list(None, 9, None) == ([], None)
        await store.create(a_chat())
        loaded = await store.load("c1")
        assert (loaded.messages, loaded.turns, loaded.notices) == ((), (), frozenset())
        assert (loaded.checkpoints, loaded.demotions, loaded.settled, loaded.chat.generation) == ((), (), "", 0)
        assert (await store.results("c1", ["r"])).get("r") is None
        assert await store.append_events("c1", "t1", [(1.0, ThoughtDelta("a", 1))]) == [1]

    async def test_seq_rises_by_one_per_chat_whoever_writes(self, open_store):
        first, second = await open_store(), await open_store()
        for id_ in ("c1", "c2"):
            await first.create(a_chat(id_))

        async def write(store, chat_id):
            return await store.append_events(chat_id, "t", [(1.0, ThoughtDelta("a", 1)), (1.0, AnswerDelta("b", 1))])

        given = await asyncio.gather(*(write(store, "c1") for _ in range(10) for store in (first, second)))
        assert sorted(number for pair in given for number in pair) == list(range(1, 41))
        assert all(pair[1] == pair[0] + 1 for pair in given)
        assert await write(first, "c2") == [1, 2]
        assert [event.seq for event in await second.events("c1", 38)] == [39, 40]
        assert await first.append_events("c1", "t", []) == []

    async def test_no_number_is_given_that_another_server_may_have_given(self, open_store):
        one, other = await open_store(), await open_store()
        await one.create(a_chat())
        event = [(1.0, NoticeEvent("info", "one", "x"))]
        assert await one.append_events("c1", "", event, Numbers(0, 0)) == [1]
        assert await one.append_events("c1", "", event * 2, Numbers(1, 5)) == [6, 7]
        [theirs] = await other.append_events("c1", "", event, Numbers())
        assert theirs == 7 + RESERVED + 1
        assert await other.last_number("c1") == theirs
        [again] = await one.append_events("c1", "", event, Numbers(7, 7 + RESERVED))
        assert again == theirs + RESERVED + 1
        assert [one.seq for one in await other.events("c1", 5)] == [6, 7, theirs, again]
        assert await other.reserve_numbers("c1") == again + RESERVED == await one.last_number("c1")
        assert await refusal(one.last_number("nobody")) == "chat_not_found"
        assert await refusal(one.reserve_numbers("nobody")) == "chat_not_found"

    async def test_runs_of_deltas_are_merged_under_their_last_seq(self, open_store):
        store = await open_store()
        await store.create(a_chat())
        other = NoticeEvent("info", "c", "m")
        events = [ThoughtDelta("a", 1), ThoughtDelta("b", 1), ThoughtDelta("c", 2), AnswerDelta("d", 2), other]
        events += [AnswerDelta("e", 2), AnswerDelta("\ud83d", 2), AnswerDelta("\ude00", 2)]
        await store.append_events("c1", "t1", [(float(at), event) for at, event in enumerate(events)])
        await store.append_events("c1", "t2", [(9.0, AnswerDelta("z", 2)), (9.0, AnswerDelta("z", 2))])
        for _ in range(2):
            await store.merge_deltas("c1", "t1")
            stored = [(event.seq, event.event) for event in await store.events("c1", 0)]
            assert stored == [
                (2, ThoughtDelta("ab", 1)),
                (3, ThoughtDelta("c", 2)),
                (4, AnswerDelta("d", 2)),
                (5, other),
                (8, AnswerDelta("e\ud83d\ude00", 2)),
                (9, AnswerDelta("z", 2)),
                (10, AnswerDelta("z", 2)),
            ]
        assert await store.append_events("c1", "t1", [(1.0, other)]) == [11]

    async def test_a_chat_is_busy_while_a_living_owner_runs_a_turn(self, open_store):
        first, second = await open_store(), await open_store()
        assert first.owner != second.owner
        await first.create(a_chat())
        await first.begin_turn(a_turn(first), said("m1"))
        assert (await second.load("c1")).chat.running == "t1"
        for store in (first, second):
            assert await refusal(store.begin_turn(a_turn(store, "t2"), said("m2"))) == "chat_busy"
        assert [message.id for message in (await second.load("c1")).messages] == ["m1"]
        await first.end_turn(a_turn(first, status="ended", stop_reason="cancelled"))
        await second.begin_turn(a_turn(second, "t2"), said("m2", turn="t2"))
        assert (await first.list(None, 9, None))[0][0].running == "t2"

    async def test_only_one_of_two_servers_gets_the_turn(self, open_store):
        stores = [await open_store() for _ in range(4)]
        await stores[0].create(a_chat())
        begun = await asyncio.gather(
            *(store.begin_turn(a_turn(store, f"t{i}"), said(f"m{i}")) for i, store in enumerate(stores)),
            return_exceptions=True,
        )
        assert [getattr(outcome, "code", None) for outcome in begun].count("chat_busy") == 3
        assert begun.count(0) == 1

    async def test_grants_stay_until_revoked(self, open_store):
        store = await open_store()
        await store.add_grant(Grant("g1", "Bash(git diff:*)", "always"))
        hers = Grant("g2", NASTY, "always", f"/w/{NASTY}", NASTY)
        await store.add_grant(hers)
        again = await open_store()
        assert await again.grants() == [Grant("g1", "Bash(git diff:*)", "always"), hers]
        assert await again.revoke_grant("g1", "bob"), "what is nobody's, anybody takes back"
        assert not await again.revoke_grant("g1", "bob")
        assert not await again.revoke_grant("g2", "bob")
        assert [grant.id for grant in await store.grants()] == ["g2"]
        assert await again.revoke_grant("g2", NASTY)
        assert await store.grants() == []

    async def test_what_was_decided_is_on_record_newest_first_and_goes_with_its_chat(self, open_store):
        store = await open_store()
        await store.create(a_chat())
        await store.create(a_chat("c2"))
        reported = [
            AuditEntry(1.5, "c1", "call", "Bash", NASTY, "deny", "user", NASTY, NASTY, f"/w/{NASTY}", NASTY),
            AuditEntry(2.5, "", "trust", "", "Trusted: /w", "trust", "user"),
            AuditEntry(3.5, "c2", "violation", "Bash", "make", "violation", "sandbox", detail="a\nb"),
        ]
        await store.note(reported)
        again = await open_store()
        assert await again.audit(None, 10) == [*reversed(reported)]
        assert await again.audit(None, 1) == reported[2:]
        assert await again.audit("c1", 10) == reported[:1]
        await again.delete("c1")
        assert await refusal(store.audit("c1", 10)) == "chat_not_found"
        await store.note([reported[0], replace(reported[2], at=4.5)])  # the chat of the first is gone
        assert [entry.at for entry in await store.audit(None, 10)] == [4.5, 3.5, 2.5]

    async def test_the_record_is_bounded_and_the_oldest_goes_first(self, open_store, monkeypatch):
        monkeypatch.setattr(permissions, "MOST", 5)
        monkeypatch.setattr(permissions, "MOST_OF_CHAT", 2)
        store = await open_store()
        await store.create(a_chat())
        for at in range(12):
            chat_id = "c1" if at >= 8 else ""
            await store.note([AuditEntry(float(at), chat_id, "call", "Bash", "x", "allow", "rule")])
        assert [one.at for one in await store.audit(None, 100)] == [11.0, 10.0, 7.0]

    async def test_a_turn_ends_once_and_its_late_words_stand_in_its_round(self, open_store):
        first, second = await open_store(), await open_store()
        await first.create(a_chat())
        assert await first.begin_turn(a_turn(first), said("m1")) == 0
        await first.close()
        assert (await second.chat("c1")).running is None, "a dead server's turn does not run"
        assert await second.begin_turn(a_turn(second, "t2"), said("m2", turn="t2")) == 1
        assert await second.chat("c1") == a_chat(updated_at=200.0, turns=2, running="t2")
        ended = a_turn(first, status="ended", stop_reason="failed")
        await second.end_turn(ended, [said("end", role="assistant")])
        assert await refusal(second.end_turn(ended, [said("again", role="assistant")])) == "turn_not_found"
        assert await refusal(second.append("c1", [said("late", role="assistant")])) == "turn_not_found"
        assert [message.id for message in (await second.load("c1")).messages] == ["m1", "end", "m2"]

    async def test_checkpoints_and_demotions_come_back_in_order(self, open_store):
        store = await open_store()
        await store.create(a_chat())
        await store.begin_turn(a_turn(store), said("m1"))
        bare = a_checkpoint("k0", summary=None, by="none", demotions=())
        demotions = [Demotion("m9", "result"), Demotion(NASTY, "arguments"), Demotion("m1", "result")]
        assert await store.reshape("c1", 0, bare, settled="t1") == 1
        assert await store.reshape("c1", 1, None, demotions) == 2
        assert await store.reshape("c1", 2, a_checkpoint(NASTY), [Demotion("m0", "result")], NASTY) == 3
        again = await open_store()
        loaded = await again.load("c1")
        assert loaded.checkpoints == (bare, a_checkpoint(NASTY))
        assert loaded.demotions == (*demotions, Demotion("m0", "result"))
        assert (loaded.settled, loaded.losses) == (NASTY, ())
        assert loaded.messages == (said("m1"),), "the record stays whole"
        assert [chat.generation for chat in (loaded.chat, await again.chat("c1"))] == [3, 3]
        assert (await again.list(None, 9, None))[0] == [loaded.chat]

    async def test_a_demotion_is_made_once(self, open_store):
        store = await open_store()
        await store.create(a_chat())
        twice = Demotion("m1", "result")
        await store.reshape("c1", 0, None, [twice, twice])
        await store.reshape("c1", 1, None, [Demotion("m2", "result"), twice, Demotion("m1", "arguments")])
        demotions = (await store.load("c1")).demotions
        assert demotions == (twice, Demotion("m2", "result"), Demotion("m1", "arguments"))

    async def test_an_undone_checkpoint_is_loaded_no_more_and_undone_once(self, open_store):
        store = await open_store()
        await store.create(a_chat())
        cuts = [a_checkpoint(f"k{number}") for number in range(4)]
        for number, cut in enumerate(cuts):
            await store.reshape("c1", number, cut, [Demotion(f"m{number}", "result")])
        assert await store.restore("c1", 4, ["k3", "k2", "k3"], "t9") == 5
        for ids in (["k3"], ["k1", "k2"], ["nobody"], [NASTY], []):
            assert await refusal(store.restore("c1", 5, ids, "t10")) == "nothing_to_undo"
        loaded = await (await open_store()).load("c1")
        assert loaded.checkpoints == tuple(cuts[:2])
        assert len(loaded.demotions) == 4, "those made for economy stay"
        assert (loaded.chat.generation, loaded.settled) == (5, "t9")
        with pytest.raises(Exception, match=r"(?i)unique"):
            await store.reshape("c1", 5, a_checkpoint("k3"))
        assert (await store.chat("c1")).generation == 5

    async def test_who_has_not_seen_the_newest_generation_writes_nothing(self, open_store):
        first, second = await open_store(), await open_store()
        for id_ in ("c1", "c2"):
            await first.create(a_chat(id_))
        await first.reshape("c1", 0, a_checkpoint("k1"), settled="t1")
        before = await second.load("c1")
        for stale in (0, 2, -1):
            assert await refusal(second.reshape("c1", stale, a_checkpoint("k2"), [Demotion("m", "result")], "t2")) == (
                "chat_busy"
            )
            assert await refusal(second.restore("c1", stale, ["k1"], "t2")) == "chat_busy"
        assert await second.load("c1") == before
        assert await second.reshape("c2", 0, a_checkpoint("k1")) == 1, "another chat counts for itself"
