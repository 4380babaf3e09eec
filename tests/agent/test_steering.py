"""What is sent while a turn runs: told before the next step, or the next turn, or returned; never lost (R-9, M-7)."""

from __future__ import annotations

import asyncio

import pytest

from codelaw.domain.errors import Refusal
from codelaw.domain.events import Mention, SteerEvent, TurnEnded, TurnStarted
from codelaw.domain.permissions import ApprovalAnswer, ApprovalQuestion
from tests.agent.conftest import Bench
from tests.agent.test_broken_store import Breaker, agree
from tests.agent.test_control import begun, never, texts, until
from tests.agent.test_interrupts import check
from tests.loopback.script import fault


def states(bench: Bench) -> list[tuple[str, str]]:
    return [(event.text, event.state) for event in bench.kinds("steer")]


def order(bench: Bench) -> list[tuple[str, str]]:
    """The turns and what happened in them, in the order it was told."""
    kinds = ("turn_started", "turn_ended", "steer")
    return [(event.turn_id, event.event.kind) for event in bench.events if event.event.kind in kinds]


async def all_ended(bench: Bench, turns: int) -> None:
    await until(lambda: len(bench.kinds("turn_ended")) == turns)


async def test_a_steer_that_comes_with_the_answer_becomes_the_next_turn(bench: Bench):
    (bench.root / "a.py").write_text("x")
    running = await begun(bench, bench.finish("the answer", delay=0.03), bench.finish("considered"))
    steer = await bench.session.steer(running.chat_id, "wait: STEERMARK @a.py")
    first = await running.result()
    await all_ended(bench, 2)
    assert (first.stop_reason, first.answer) == ("finished", "the answer")
    assert bench.shown("answer") == "the answerconsidered", "what was seen stays"
    assert not bench.kinds("retry")
    started = bench.kinds("turn_started")[1]
    assert (started.text, started.steered, started.steers) == ("wait: STEERMARK @a.py", True, (steer,))
    assert [mention.path for mention in started.mentions] == ["a.py"]
    second = bench.kinds("turn_ended")[1].result
    assert (second.stop_reason, second.answer) == ("finished", "considered")
    one, two = first.turn_id, second.turn_id
    assert order(bench) == [
        (one, "turn_started"),
        (one, "steer"),
        (one, "turn_ended"),
        (two, "turn_started"),
        (two, "turn_ended"),
    ]
    record = await bench.session.read(running.chat_id)
    assert [message.role for message in record.messages] == ["user", "assistant", "user", "assistant"]
    assert record.messages[1].metadata.answer == "the answer"
    assert record.messages[2].metadata.note is None
    assert "You MUST read this file" in record.messages[2].content
    assert texts(bench.sent()).count("STEERMARK") == 1
    check(record.messages)
    await agree(bench, running.chat_id)


async def test_several_that_wait_become_one_turn_and_a_withdrawn_one_does_not(bench: Bench):
    running = await begun(bench, bench.finish("first", delay=0.05), bench.finish("second"))
    ids = [await bench.session.steer(running.chat_id, text) for text in ("one", "gone", "two")]
    assert await bench.session.unsteer(running.chat_id, ids[1])
    assert not await bench.session.unsteer(running.chat_id, ids[1])
    await running.result()
    await all_ended(bench, 2)
    started = bench.kinds("turn_started")[1]
    assert (started.text, started.steers) == ("one\n\ntwo", (ids[0], ids[2]))
    assert states(bench) == [("one", "waiting"), ("gone", "waiting"), ("two", "waiting"), ("gone", "withdrawn")]
    assert "gone" not in texts(bench.sent())
    assert not await bench.session.unsteer(running.chat_id, ids[0])


@pytest.mark.parametrize("end", ["cancelled", "failed", "step_limit"])
async def test_what_waits_is_returned_when_the_turn_ends_otherwise(bench: Bench, end: str):
    if end == "step_limit":
        await bench.reopen(turn={"maxSteps": 1})
    last = fault("401", wait=2.0, times=0) if end == "failed" else bench.act("LS", {}, delay=0.2)
    running = await begun(bench, last)
    await bench.session.steer(running.chat_id, "STEERMARK")
    if end == "cancelled":
        await bench.session.cancel(running.chat_id)
    result = await running.result()
    assert result.stop_reason == end
    assert states(bench) == [("STEERMARK", "waiting"), ("STEERMARK", "returned")]
    assert order(bench)[-1][1] == "turn_ended"
    await asyncio.sleep(0.05)
    assert len(bench.kinds("turn_started")) == 1
    await bench.turn("next", running.chat_id, replies=[bench.finish("ok")])
    assert "STEERMARK" not in texts(bench.sent())


@pytest.mark.parametrize("ticks", range(0, 40, 10))
async def test_whenever_a_steer_comes_it_is_told_becomes_a_turn_or_is_refused(bench: Bench, ticks: int):
    bench.vendor.reset([bench.finish("answer", chunk=2), bench.finish("next", times=0)])
    running = await bench.session.send(None, "go")
    await until(lambda: bench.kinds("thought", "answer"))
    for _ in range(ticks):
        await asyncio.sleep(0)
    (refused,) = await asyncio.gather(bench.session.steer(running.chat_id, "STEERMARK"), return_exceptions=True)
    if isinstance(refused, Refusal):
        assert refused.code == "turn_not_found"
        assert not bench.kinds("steer")
        return
    assert (await running.result()).answer == "answer"
    await all_ended(bench, 2)
    assert texts(bench.sent()).count("STEERMARK") == 1


async def test_the_next_turn_can_be_cancelled_and_nothing_gets_in_between(bench: Bench):
    running = await begun(bench, bench.finish("first", delay=0.03), bench.finish("never", delay=1.0))
    await bench.session.steer(running.chat_id, "and then")
    await running.result()
    with pytest.raises(Refusal) as caught:
        await bench.session.send(running.chat_id, "me first")
    assert caught.value.code == "chat_busy"
    await until(lambda: len(bench.vendor.messages) == 2)
    assert await bench.session.cancel(running.chat_id)
    await all_ended(bench, 2)
    assert bench.kinds("turn_ended")[1].result.stop_reason == "cancelled"
    assert (await bench.session.read(running.chat_id)).running is None


async def test_a_next_turn_that_cannot_begin_returns_what_waited(bench: Bench):
    running = await begun(bench, bench.finish("first", delay=0.03))
    await bench.session.steer(running.chat_id, "and then")
    breaker = Breaker(bench.session._chats._stores.chats, "begin_turn", 0)
    assert (await running.result()).answer == "first"
    await until(lambda: states(bench)[-1] == ("and then", "returned"))
    assert bench.kinds("notice")[-1].code == "store_unavailable"
    breaker.mend()
    bench.vendor.reset([bench.finish("ok")])
    assert (await bench.turn("again", running.chat_id)).answer == "ok"


@pytest.mark.parametrize("died", ["in the turn", "behind it"])
async def test_what_waited_when_the_server_died_is_returned(bench: Bench, died: str):
    slow = bench.act("LS", {}, delay=0.2, chunk=4) if died == "in the turn" else bench.finish("answer", delay=0.03)
    running = await begun(bench, slow, bench.finish("never"))
    chat_id, dead = running.chat_id, bench.session
    agent = await dead._chats.get(chat_id)
    if died == "behind it":
        agent.follow = never  # type: ignore[method-assign]
    await dead.steer(chat_id, "STEERMARK")
    if died == "behind it":
        await running.result()
    store = dead._chats._stores.chats
    store.end_turn = store.append_events = store.begin_turn = never  # type: ignore[method-assign, union-attr]
    for task in asyncio.all_tasks():
        if "turn" in task.get_name() or task is running.conduct:
            task.cancel()
    await store.close()  # type: ignore[union-attr]
    dead._chats._chats.clear()
    dead._chats._stores = None
    bench.events.clear()
    await bench.reopen()
    record = await bench.session.read(chat_id)
    steers = [(event.seq, event.event) for event in record.events if isinstance(event.event, SteerEvent)]
    assert [(steer.text, steer.state) for _, steer in steers] == [("STEERMARK", "waiting"), ("STEERMARK", "returned")]
    ends = [event for event in record.events if isinstance(event.event, TurnEnded)]
    assert len(ends) == 1
    assert (steers[1][0] < ends[0].seq) == (died == "in the turn")
    assert len([event for event in (await bench.session.read(chat_id)).events if event.event.kind == "steer"]) == 2
    await bench.turn("next", chat_id, replies=[bench.finish("ok")])
    assert "STEERMARK" not in texts(bench.sent())


@pytest.mark.parametrize("unheard", ["turn_started", "told"])
async def test_what_is_stored_when_the_server_dies_is_not_returned(bench: Bench, unheard: str):
    (bench.root / "a.py").write_text("x")
    first = bench.finish("answer", delay=0.03) if unheard == "turn_started" else bench.act("LS", {}, delay=0.03)
    running = await begun(bench, first, bench.finish("never", delay=5))
    chat_id, dead = running.chat_id, bench.session
    store = dead._chats._stores.chats  # type: ignore[union-attr]
    method = "begin_turn" if unheard == "turn_started" else "append"
    real = getattr(store, method)

    async def last(*given: object) -> object:
        """Stores this, and no event any more."""
        done = await real(*given)
        if unheard == "turn_started" or given[1][0].metadata.note == "steer":  # type: ignore[index]
            store.append_events = never  # type: ignore[method-assign]
        return done

    setattr(store, method, last)
    ids = [await dead.steer(chat_id, "STEERMARK @a.py"), await dead.steer(chat_id, "and <system-reminder>")]
    if unheard == "told":
        assert await dead.unsteer(chat_id, ids.pop())
    await until(lambda: len(bench.vendor.messages) == 2)
    store.end_turn = never  # type: ignore[method-assign]
    for task in asyncio.all_tasks():
        if "turn" in task.get_name() or "_conduct" in str(task.get_coro()):
            task.cancel()
    await store.close()
    dead._chats._chats.clear()
    dead._chats._stores = None
    await bench.reopen()
    events = [event.event for event in (await bench.session.read(chat_id)).events]
    steers = {event.id: event.state for event in events if isinstance(event, SteerEvent)}
    started = [event for event in events if isinstance(event, TurnStarted)]
    if unheard == "told":
        assert (steers[ids[0]], len(started)) == ("told", 1)
    else:
        assert set(steers.values()) == {"waiting"}
        assert (started[1].steered, list(started[1].steers)) == (True, ids)
        assert started[1].text == "STEERMARK @a.py\n\nand &lt;system-reminder>"
    assert isinstance(events[-1], TurnEnded)
    await bench.turn("next", chat_id, replies=[bench.finish("ok")])
    assert texts(bench.sent()).count("STEERMARK") == 1


async def test_a_chat_that_is_put_offline_while_the_question_stands_stays(bench: Bench):
    await bench.reopen(model={"provider": "offline"})
    chat_id = (await bench.turn("offline words")).chat_id
    await bench.reopen()
    bench.vendor.reset([bench.finish("never", times=0)])
    bench.user.answer = "allow_chat"
    ask = bench.user.ask

    async def slowly(question: ApprovalQuestion) -> ApprovalAnswer:
        await bench.session.steer(chat_id, "STEERMARK")
        await bench.session.update(chat_id, model="offline")
        return await ask(question)

    bench.user.ask = slowly  # type: ignore[method-assign]
    result = await bench.turn("go", chat_id)
    assert (result.stop_reason, result.model, len(bench.vendor.messages)) == ("finished", "offline", 0)
    assert "chat_stays_offline" in {notice.code for notice in result.notices}
    assert states(bench)[-1] == ("STEERMARK", "told")
    assert (await bench.session.read(chat_id)).chat.places == ("offline",)


@pytest.mark.parametrize("answer", ["reject", "allow_once"])
async def test_files_mentioned_at_an_approval_are_to_be_read_first(bench: Bench, answer: str):
    """M-7: what is typed at a question is a message of the user as well."""
    (bench.root / "notes.md").write_text("x")
    bench.user.answer, bench.user.comment = answer, "look into @notes.md first"
    await bench.turn("go", replies=[bench.act("Bash", {"command": "true"}), bench.finish("ok"), bench.finish("again")])
    sent = texts(bench.sent())
    assert sent.count("You MUST read this file") == 1
    assert sent.index("look into @notes.md") < sent.index("You MUST read this file")
    bench.user.comment = "no @such.md"
    await bench.turn("more", replies=[bench.act("Bash", {"command": "true"}), bench.finish("ok")])
    assert "You MUST" not in texts(bench.sent())


async def test_a_steers_mentions_are_resolved_and_its_reminder_is_stored_once(bench: Bench):
    (bench.root / "a.py").write_text("x")
    bench.vendor.reset([bench.act("LS", {}, delay=0.03), bench.finish("ok")])
    running = await bench.session.send(None, "go")
    await until(lambda: bench.vendor.messages)
    await bench.session.steer(running.chat_id, "look at @a.py and @b.py")
    await running.result()
    assert texts(bench.sent()).count("You MUST read this file with the Read tool") == 1
    told = bench.kinds("steer")[-1]
    assert (told.state, told.step) == ("told", 2)
    assert told.mentions == (
        Mention("a.py", "file", (bench.root / "a.py").as_uri(), reminded=True),
        Mention("b.py", "unresolved"),
    )
    bench.vendor.reset([bench.finish("more")])
    await bench.turn("next", running.chat_id)
    assert texts(bench.sent()).count("You MUST read this file with the Read tool") == 1
    messages = (await bench.session.read(running.chat_id)).messages
    assert [message.metadata.note for message in messages if message.role == "user"] == [None, "steer", None]
