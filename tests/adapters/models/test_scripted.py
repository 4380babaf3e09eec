"""Scripts: replies in order, failures, files."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from codelaw.adapters.models.scripted import ScriptedModel, ScriptedReply, read_script
from codelaw.domain.errors import ModelFailure
from codelaw.domain.messages import Call
from codelaw.domain.models import ApiMessage, Delta, ModelRequest, TextBlock, TextDelta, ThinkingDelta, Usage

REQUEST = ModelRequest("m", (), (ApiMessage("user", (TextBlock("hello"),)),), 10)


async def test_replies_come_in_order_and_requests_are_kept() -> None:
    call = Call("c1", "Read", {"path": "a"})
    model = ScriptedModel([ScriptedReply("one", thinking="hm", chunk=2), ScriptedReply(calls=(call,), repeat=2)])
    deltas: list[Delta] = []
    first = await model.reply(REQUEST, deltas.append)
    assert (first.text, first.stop_reason) == ("one", "end_turn")
    assert deltas == [ThinkingDelta("hm"), TextDelta("on"), TextDelta("e")]
    assert first.usage.input_tokens > 0
    for _ in range(2):
        reply = await model.reply(REQUEST, deltas.append)
        assert (reply.calls, reply.stop_reason) == ((call,), "tool_use")
    with pytest.raises(ModelFailure, match="no reply for request 4"):
        await model.reply(REQUEST, deltas.append)
    assert model.requests == [REQUEST] * 4


async def test_a_reply_for_ever_and_a_cancel_between_deltas() -> None:
    model = ScriptedModel([ScriptedReply("a long text", chunk=1, delay=30, repeat=0)])
    for _ in range(3):
        task = asyncio.create_task(model.reply(REQUEST, lambda _: None))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_script_file(tmp_path: Path) -> None:
    replies = [
        {"text": "t", "usage": {"input_tokens": 7}, "stop_reason": "max_tokens"},
        {"calls": [{"id": "c", "tool": "LS", "arguments": {}}]},
        {"broken_calls": [{"id": "c", "tool": "LS", "arguments_text": "{"}]},
        {"failure": "network"},
    ]
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"replies": replies}), encoding="utf-8")
    model = ScriptedModel(read_script(path.read_text("utf-8")))
    first = await model.reply(REQUEST, lambda _: None)
    assert (first.usage, first.stop_reason) == (Usage(7), "max_tokens")
    assert (await model.reply(REQUEST, lambda _: None)).calls == (Call("c", "LS", {}),)
    assert (await model.reply(REQUEST, lambda _: None)).broken_calls[0].arguments_text == "{"
    with pytest.raises(ModelFailure):
        await model.reply(REQUEST, lambda _: None)


@pytest.mark.parametrize("text", ["[", "[]", "{}", '{"replies": [{"txt": "x"}]}', '{"replies": [{"usage": {"x": 1}}]}'])
def test_what_is_no_script_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"script|Expecting"):
        read_script(text)
