"""What every store promises of forks; a store's own test module subclasses `ForksSuite` and gives `open_store`."""

from __future__ import annotations

from dataclasses import replace

from codelaw.domain.chats import Todo, TurnResult
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.events import AnswerDelta, TodoEvent, TurnEnded, TurnStarted
from codelaw.domain.models import Usage
from tests.adapters.stores.suite import NASTY, a_chat, a_checkpoint, a_turn, refusal, said

FORK = a_chat(
    "c2", title="Title (fork)", created_at=900.0, updated_at=900.0, chosen=True, places=("offline", "h"), effort="max"
)


async def a_turn_of(store, number, *, chat_id="c1"):
    """A whole turn: a question, a result, an answer, and its events."""
    turn = f"t{number}"
    await store.begin_turn(a_turn(store, turn, chat_id), said(f"q{number}", NASTY, turn=turn))
    tool = said(f"r{number}", "{}", turn, "tool", call_id=f"k{number}", ref=f"f{number}")
    await store.append(chat_id, [tool], [(f"f{number}", {"n": number, "text": NASTY})])
    ended = a_turn(store, turn, chat_id, status="ended", last_usage=Usage(number), stop_reason="finished")
    await store.end_turn(ended, [said(f"a{number}", turn=turn, role="assistant", answer=NASTY)])
    todo = Todo(f"of {turn}", "pending")
    result = TurnResult(chat_id, turn, "finished", NASTY, 1, Usage(number))
    events = [TurnStarted(NASTY), AnswerDelta(NASTY, 1), TodoEvent((todo,), 1), TurnEnded(result)]
    await store.append_events(chat_id, turn, [(float(number), event) for event in events])
    await store.save_todos(chat_id, [todo])
    return ended


async def with_turns(store, count=3):
    await store.create(a_chat())
    for number in range(1, count + 1):
        await a_turn_of(store, number)
    return store


def reported(events):
    return [(event.seq, event.turn_id, event.at, event.event) for event in events]


class ForksSuite:
    """`open_store` opens the same, at first empty, store again and again, each time as another owner."""

    async def test_a_fork_is_the_chat_up_to_that_turn(self, open_store):
        store = await with_turns(await open_store())
        await store.mark_noticed("c1", "law_large")
        before, events = await store.load("c1"), await store.events("c1", 0)
        await store.fork("c1", "t2", FORK)
        fork = await (await open_store()).load("c2")
        assert fork.chat == replace(FORK, turns=2)
        assert fork.messages == tuple(item for item in before.messages if item.turn_id in {"t1", "t2"})
        assert fork.turns == tuple(replace(turn, chat_id="c2") for turn in before.turns[:2])
        assert fork.notices == {"law_large"}
        assert fork.todos == (Todo("of t2", "pending"),), "as it was when that turn ended"
        assert [(await store.results("c2", [f"f{n}"])).get(f"f{n}") for n in (1, 2, 3)] == [
            {"n": 1, "text": NASTY},
            {"n": 2, "text": NASTY},
            None,
        ]
        kept = reported(await store.events("c2", 0))
        assert [item[:3] for item in kept] == [item[:3] for item in reported(events)[:8]]
        ends = [item[3].result.chat_id for item in kept if isinstance(item[3], TurnEnded)]
        assert ends == ["c2", "c2"]
        assert [item[3] for item in kept if not isinstance(item[3], TurnEnded)] == [
            item[3] for item in reported(events)[:8] if not isinstance(item[3], TurnEnded)
        ]
        assert fork.losses == ()
        assert (await store.load("c1"), await store.events("c1", 0)) == (before, events), "the original is as it was"

    async def test_both_go_on_by_themselves(self, open_store):
        store = await with_turns(await open_store(), 2)
        await store.fork("c1", "t2", FORK)
        await a_turn_of(store, 3)
        await a_turn_of(store, 3, chat_id="c2")
        await a_turn_of(store, 4, chat_id="c2")
        assert [turn.id for turn in (await store.load("c1")).turns] == ["t1", "t2", "t3"]
        assert [turn.id for turn in (await store.load("c2")).turns] == ["t1", "t2", "t3", "t4"]
        assert [event.seq for event in await store.events("c2", 8)] == list(range(9, 17))
        assert [event.seq for event in await store.events("c1", 8)] == list(range(9, 13))
        await store.delete("c1")
        assert len((await store.load("c2")).messages) == 12
        assert (await store.results("c2", ["f1"])).get("f1") == {"n": 1, "text": NASTY}

    async def test_a_fork_of_nothing_is_empty(self, open_store):
        store = await with_turns(await open_store())
        await store.fork("c1", None, FORK)
        fork = await store.load("c2")
        assert (fork.chat, fork.messages, fork.turns, fork.todos) == (FORK, (), (), ())
        assert await store.events("c2", 0) == []
        await a_turn_of(store, 1, chat_id="c2")

    async def test_an_unknown_turn_and_one_that_runs_are_refused(self, open_store):
        store = await with_turns(await open_store(), 1)
        await store.begin_turn(a_turn(store, "t2"), said("q2", turn="t2"))
        assert await refusal(store.fork("c1", NASTY, FORK)) == "turn_not_found"
        assert await refusal(store.fork("c1", "t2", FORK)) == "chat_busy"
        assert await refusal(store.fork("c9", "t1", FORK)) == "chat_not_found"
        assert await refusal(store.fork("c9", None, FORK)) == "chat_not_found"
        assert await refusal(store.load("c2")) == "chat_not_found"
        await store.fork("c1", "t1", FORK)
        assert (await store.load("c2")).chat == replace(FORK, turns=1), "an earlier one can be forked from meanwhile"

    async def test_only_cuts_of_what_is_kept_are_kept(self, open_store):
        store = await with_turns(await open_store(), 4)
        early = a_checkpoint("k1", "t2", demotions=(Demotion("r1", "result"), Demotion("r3", "result")))
        await store.reshape("c1", 0, early, [Demotion("a2", "arguments"), Demotion("r4", "result")], "t1")
        await store.reshape("c1", 1, a_checkpoint("k2", "t4", demotions=()), (), "t3")
        await store.reshape("c1", 2, a_checkpoint("k3", "t2"))
        await store.restore("c1", 3, ["k3"], "t4")
        await store.withdraw_turn("c1", 4, "t1", "t4")
        await store.withdraw_turn("c1", 5, "t4", "t4")
        await store.fork("c1", "t2", FORK)
        fork = await store.load("c2")
        assert fork.checkpoints == (replace(early, demotions=(Demotion("r1", "result"),)),)
        assert fork.demotions == (Demotion("a2", "arguments"),)
        assert fork.withdrawn == {"t1"}
        assert fork.settled == "t2", "the usage of its turns speaks of another view"
        assert fork.chat.generation == 0
        assert await store.reshape("c2", 0, a_checkpoint("k2", "t2")) == 1
        whole = replace(FORK, id="c3")
        await store.fork("c1", "t4", whole)
        one, other = await store.load("c1"), await store.load("c3")
        assert (other.checkpoints, other.demotions, other.settled) == (one.checkpoints, one.demotions, "t4")
