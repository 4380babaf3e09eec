"""What broke long chats elsewhere, each as a scenario on the wire (L, R, W, K, H, C)."""

from __future__ import annotations

import asyncio
import json

import pytest

from codelaw.domain.chats import StoredTurn
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.domain.models import Usage
from codelaw.domain.permissions import ApprovalAnswer, ApprovalQuestion
from tests.agent.conftest import Bench
from tests.agent.talking import (
    ask,
    asked_in,
    fine,
    said,
    small,
    talk,
)
from tests.agent.test_control import never, until
from tests.agent.test_interrupts import check
from tests.agent.test_two_servers import die
from tests.loopback.script import VendorReply, fault


async def store_round(bench: Bench, chat: str, number: int, *messages: Message) -> None:
    """A round as an older version, or a damaged disk, might have left it in the store."""
    agent = await bench.session._chats.get(chat)
    store = agent.house.store
    turn = f"turn{number}"
    opened = StoredTurn(turn, chat, "running", store.owner, 1_000.0 + number)
    await store.begin_turn(opened, Message(f"ask_{turn}", turn, "user", ask(number)))
    await store.append(chat, messages)
    ended = StoredTurn(turn, chat, "ended", store.owner, 1_000.0 + number, Usage(100), "finished")
    await store.end_turn(ended, [Message(f"end_{turn}", turn, "assistant", f"ANSWERCANARY{number}Z")])


def called(turn: str, *ids: str, text: str = "look", name: str = "Read") -> Message:
    calls = tuple(Call(id_, name, {"path": "a.py"}) for id_ in ids)
    return Message(f"say_{turn}_{ids[0]}", turn, "assistant", text, Metadata(step=1, calls=calls))


def result(turn: str, call: str, copy: int = 0) -> Message:
    content = json.dumps({"status": "success", "data": {"path": "a.py", "content": f"x{copy}"}, "ref": f"r_{call}"})
    facts = Metadata(step=1, tool_name="Read", call_id=call, ref=f"r_{call}")
    return Message(f"result_{turn}_{call}_{copy}", turn, "tool", content, facts)


DAMAGE: dict[str, tuple[Message, ...]] = {
    "a call without its result": (called("turn1", "c1"),),
    "a result without its call": (result("turn1", "gone"),),
    "two results for one call": (called("turn1", "c1"), result("turn1", "c1"), result("turn1", "c1", 1)),
    "a result before its call": (result("turn1", "c1"), called("turn1", "c1")),
    "results in another order": (called("turn1", "c1", "c2"), result("turn1", "c2"), result("turn1", "c1")),
    "a call of no name": (called("turn1", "c1", name=""), result("turn1", "c1")),
    "an id that no vendor takes": (called("turn1", "c 1/ü"), result("turn1", "c 1/ü")),
    "words between call and result": (
        called("turn1", "c1"),
        Message("note1", "turn1", "user", "STEERCANARY", Metadata(note="steer")),
        result("turn1", "c1"),
    ),
    "a result that is not JSON": (
        called("turn1", "c1"),
        Message("bad1", "turn1", "tool", "not json\nat all", Metadata(step=1, tool_name="Read", call_id="c1")),
    ),
    "an empty answer": (Message("empty1", "turn1", "assistant", ""),),
}


async def damaged(bench: Bench, kind: str, keep: int = 4) -> str:
    """A chat with a good round, a damaged one, and two good ones after it."""
    chat = await talk(bench, 1, size=60)
    await store_round(bench, chat, 1, *DAMAGE[kind])
    await bench.reopen(model={"contextWindow": 32_000}, context={"keepRounds": keep})
    return await talk(bench, 2, size=60, chat=chat, start=2)


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize(("dialect", "keep"), [("react", 2), ("native", 3)], indirect=["dialect"])
async def test_a_damaged_round_breaks_neither_the_chat_nor_a_compaction_beside_it(bench: Bench, kind: str, keep: int):
    await small(bench)
    chat = await damaged(bench, kind, keep)
    assert asked_in(bench.sent()) == [0, 1, 2, 3]
    assert said(bench.sent()).count("ANSWERCANARY1Z") == 1
    assert said(bench.sent()).count("STEERCANARY") == ("words" in kind)
    report = await bench.session.compact(chat)
    assert (report.compacted, report.rounds_kept) == (True, keep), report.message
    bench.vendor.play(bench.act("LS", {}), bench.finish("x"))
    assert (await bench.turn(ask(4), chat)).stop_reason == "finished"
    assert asked_in(bench.sent()) == [*range(4 - keep, 4), 4]
    fine(bench)


async def test_a_vendor_that_gives_the_same_call_id_in_every_turn_confuses_nobody(bench: Bench):
    await small(bench, context={"keepRounds": 2})
    same = VendorReply(text="look", calls=tuple({"id": f"toolu_{n}", "name": "LS", "input": {}} for n in (1, 2)))
    chat = None
    for number in range(5):
        bench.vendor.play(same, bench.finish("ok"))
        chat = (await bench.turn(ask(number), chat)).chat_id
    assert chat is not None
    await bench.session.compact(chat)
    bench.vendor.play(same, bench.finish("ok"))
    await bench.turn(ask(5), chat)
    check(tuple(message for message in (await bench.session.read(chat)).messages if message.role != "summary"))
    fine(bench)


async def test_a_call_whose_result_was_stored_before_the_crash_does_not_run_for_ever_on_the_screen(bench: Bench):
    """The result is durable before its event is: what died in between has to be told again."""
    gate = asyncio.Event()

    async def later(question: ApprovalQuestion) -> ApprovalAnswer:
        bench.user.asked.append(question)
        await gate.wait()
        return ApprovalAnswer(next(option.id for option in question.options if option.kind == "allow_once"))

    bench.user.ask = later  # type: ignore[method-assign]
    bench.vendor.play(bench.act("Bash", {"command": "echo RESULTCANARY"}), fault("hang"))
    running = await bench.session.send(None, ask(0))
    await until(lambda: any(call.status == "awaiting_approval" for call in bench.kinds("tool_call")))
    agent = await bench.session._chats.get(running.chat_id)
    agent.house.store.append_events = never  # type: ignore[method-assign]
    gate.set()
    await until(lambda: len(bench.vendor.messages) == 2)
    await die(bench)
    record = await bench.session.read(running.chat_id)
    assert any("RESULTCANARY" in message.content for message in record.messages if message.role == "tool")
    last = {event.event.call_id: event.event.status for event in record.events if event.event.kind == "tool_call"}
    assert set(last.values()) == {"completed"}
    assert record.events[-1].event.kind == "turn_ended"
