"""A cancel at any moment leaves a chat that can go on: whole calls, one result each (R-6, R-8, R-1a)."""

from __future__ import annotations

import asyncio
import json

import pytest

from codelaw.domain.messages import Message
from tests.agent.conftest import Bench
from tests.loopback.script import VendorReply


def script(bench: Bench) -> list[VendorReply]:
    read = {"path": "a.py"}
    if bench.dialect == "native":
        calls = tuple({"name": "Read", "input": read} for _ in range(3))
        many = VendorReply(text="look", calls=(*calls, {"name": "Bash", "input": {"command": "echo hi"}}))
    else:
        many = bench.act("Read", read)
    return [many, bench.act("Bash", {"command": "sleep 0.05; echo done"}), bench.finish("all of it", chunk=3)]


def check(messages: tuple[Message, ...]) -> None:
    """Every call has exactly one result, right behind its message and in order; the round is closed."""
    for place, message in enumerate(messages):
        if message.role == "assistant":
            ids = [call.id for call in message.metadata.calls]
            behind = [later.metadata.call_id for later in messages[place + 1 : place + 1 + len(ids)]]
            assert behind == ids
            for later in messages[place + 1 : place + 1 + len(ids)]:
                assert len(later.content.splitlines()) == 1
                assert json.loads(later.content)["status"] in {"success", "partial", "error"}
    results = [message.metadata.call_id for message in messages if message.role == "tool"]
    assert len(results) == len(set(results))
    assert messages[-1].role == "assistant"


@pytest.mark.parametrize("moment", range(1, 26, 4))
async def test_cancel_at_any_event(bench: Bench, moment: int):
    (bench.root / "a.py").write_text("x = 1\n" * 30)
    bench.vendor.reset(script(bench))
    running = await bench.session.send(None, "go", model="m")
    seen = 0
    while running.work is not None and not running.work.done() and seen < moment:
        await asyncio.sleep(0)
        seen = len(bench.events)
    running.cancel()
    result = await running.result()
    assert result.stop_reason in {"cancelled", "finished"}
    record = await bench.session.read(running.chat_id)
    check(record.messages)
    assert record.messages[0].content == "go"
    assert bench.events[-1].event.kind == "turn_ended"
    assert bench.shown("answer").startswith(result.answer)
    bench.vendor.reset([bench.finish("and on")])
    assert (await bench.turn("next", running.chat_id)).answer == "and on"
    assert bench.vendor.messages[-1].status == 200
    check((await bench.session.read(running.chat_id)).messages)
    await bench.reopen()
    bench.vendor.reset([bench.finish("and on, after a restart")])
    assert (await bench.turn("next", running.chat_id)).stop_reason == "finished"
    assert bench.vendor.messages[-1].status == 200


@pytest.mark.parametrize("ticks", [0, 2, 5, 13, 34])
async def test_cancel_after_any_number_of_loop_turns(bench: Bench, ticks: int):
    (bench.root / "a.py").write_text("x = 1\n")
    bench.vendor.reset(script(bench))
    running = await bench.session.send(None, "go")
    for _ in range(ticks):
        await asyncio.sleep(0)
    running.cancel()
    assert running.cancel() or (running.work is not None and running.work.done()), (
        "no cancel is refused while there is something to stop"
    )
    assert (await running.result()).stop_reason in {"cancelled", "finished"}
    check((await bench.session.read(running.chat_id)).messages)
    bench.vendor.reset([bench.finish("and on")])
    assert (await bench.turn("next", running.chat_id)).answer == "and on"
    assert bench.vendor.messages[-1].status == 200
