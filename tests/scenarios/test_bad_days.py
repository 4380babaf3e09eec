"""Bad input and bad days, through the real server: each a clear error, and nothing lost."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from tests.fakes.living import dies, own_seconds, sleeps
from tests.loopback.script import FAULTS, VendorReply, fault
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import NO_ANSWER, RawClient, stdio
from tests.scenarios.conftest import SERVER, Start, act, finish

ANSWER = "The whole answer, in a few pieces that arrive."

TEXT = finish(ANSWER)


def first_reply(name: str) -> VendorReply:
    """How the endpoint fails."""
    if name == "bad_json_call":
        return VendorReply(text=act("Read", '{"path": "a.py", '))
    if name == "unknown_tool":
        return VendorReply(text=act("NoSuchTool", '{"x": 1}'))
    if name == "max_tokens":
        return VendorReply(text=TEXT[:40].rstrip(), stop_reason="max_tokens")
    if name == "silence":
        return fault(name, text=TEXT, silence=5.0)
    if name in {"reset_midstream", "no_message_stop", "error_event", "bad_data_line", "slow_events"}:
        return fault(name, text=TEXT)
    return fault(name)


class Failing:
    """Answers each chat by the fault that its question names, then as the question wants."""

    def __init__(self) -> None:
        self.given: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any]) -> VendorReply:
        name = named(body)
        self.given[name] += 1
        first = first_reply(name)
        if self.given[name] <= first.times:
            return first
        before = body["messages"][-2:]
        kept = before[0]["content"][-1].get("text", "") if before[0]["role"] == "assistant" else ""
        return VendorReply(text=TEXT[len(kept) :] if kept and TEXT.startswith(kept) else TEXT)


def named(body: dict[str, Any]) -> str:
    """The fault that a request is about."""
    said = json.dumps(body["messages"])
    return next(name for name in FAULTS if f"go by {name}." in said)


async def test_each_of_the_seventeen_faults(start: Start, vendor: LoopbackVendor):
    """None loses its turn, and none passes silently, while fifteen other chats of the server have theirs."""
    vendor.reset()
    vendor.brain = Failing()
    async with start() as client:
        ends = await asyncio.gather(*(_meets(client, name) for name in FAULTS), return_exceptions=True)
    assert [(name, end) for name, end in zip(FAULTS, ends, strict=True) if end is not None] == []
    for name in FAULTS:
        asked = [request for request in vendor.messages if named(request.json) == name]
        assert {request.status for request in asked[1:]} <= {200, 429, 529}, name


async def _meets(client: RawClient, name: str) -> None:
    """A turn that meets the fault, in a chat of its own."""
    result = await client.request("codelaw/chat/send", {"text": f"go by {name}."})
    assert (result["stopReason"], result["answer"]) == ("finished", ANSWER)
    events = client.events(result["chatId"])
    kinds = [event["event"]["kind"] for event in events]
    if name in {"bad_json_call", "unknown_tool"}:
        assert "failed" in json.dumps(events)
    elif name in {"slow_events", "silence", "empty_reply"}:
        assert "retry" not in kinds
    else:
        assert kinds.count("retry") == (3 if name.endswith("thrice") else 1)
    shown = ""
    for event in events:
        if event["event"]["kind"] == "retry":
            shown = ""
        elif event["event"]["kind"] == "answer":
            shown += event["event"]["delta"]
    assert shown == result["answer"]
    record = await client.request("codelaw/chat/read", {"chatId": result["chatId"]})
    assert record["messages"][0]["content"] == f"go by {name}."
    assert [message["role"] for message in record["messages"]].count("user") == 1


async def test_a_wrong_key_is_told_and_not_shown(start: Start, vendor: LoopbackVendor):
    vendor.key = "another"
    async with start() as client:
        result = await client.request("codelaw/chat/send", {"text": "go"})
        assert (result["stopReason"], result["error"]["code"]) == ("failed", "auth_failed")
        assert "sk-test-SECRET" not in json.dumps(client.messages)
        assert client.process is not None
        assert "sk-test-SECRET" not in client.process.stderr


async def test_a_full_disk_ends_the_turn_and_keeps_what_was_stored(
    start: Start, vendor: LoopbackVendor, root: Path, home: Path
):
    (root / "big.txt").write_text("".join(f"line {number} of many, all of them different\n" for number in range(2000)))
    reads = [
        VendorReply(text=act("Read", f'{{"path": "big.txt", "start_line": {at}, "limit": 400}}'))
        for at in (1, 401, 801)
    ]
    vendor.reset([*reads, VendorReply(text=finish("x"), times=0)])
    # No file of the server's may grow over 60 blocks of 1 KiB: the write-ahead log soon meets its end.
    limited = ["bash", "-c", 'ulimit -f 60; trap "" XFSZ; exec "$@"', "bash", *SERVER]
    env = {**os.environ, "CODELAW_HOME": str(home)}
    async with stdio(limited, env=env) as client:
        options = {"model": {"baseUrl": vendor.url, "apiKey": "k", "name": "claude-sonnet-4-5"}}
        await client.initialize(folders=[root], options=options)
        response = await client.response("codelaw/chat/send", {"text": "go"})
        if "error" in response:
            assert response["error"]["data"]["code"] == "store_unavailable"
        else:
            assert response["result"]["error"]["code"] == "store_unavailable"
            assert [event["event"]["kind"] for event in client.events()][-1] == "turn_ended"
        assert (await client.request("codelaw/model/list", {}))["models"]
    async with start() as client:
        chats = (await client.request("codelaw/chat/list", {}))["chats"]
        for chat in chats:
            record = await client.request("codelaw/chat/read", {"chatId": chat["id"]})
            assert record["running"] is None


async def test_the_editors_death_in_mid_turn_ends_the_server_and_its_children(
    vendor: LoopbackVendor, root: Path, home: Path
):
    mark = root / "pid"
    seconds = own_seconds()
    vendor.reset([VendorReply(text=act("Bash", json.dumps({"command": f"echo up > {mark}; sleep {seconds}; true"})))])
    env = {**os.environ, "CODELAW_HOME": str(home)}
    async with stdio(SERVER, env=env) as client:
        options = {
            "model": {"baseUrl": vendor.url, "apiKey": "k", "name": "claude-sonnet-4-5"},
        }
        client.answers["codelaw/approval/request"] = lambda params: {"optionId": params["options"][0]["id"]}
        await client.initialize(folders=[root], options=options)
        await client.start("codelaw/chat/send", {"text": "go"})
        await client.event("tool_call", status="running")
        while not mark.exists() or not mark.read_text().strip():
            await asyncio.sleep(0.02)
        client.writer.close()
        assert client.process is not None
        await client.process.wait()
    assert await dies(lambda: sleeps(seconds))


async def test_a_client_that_never_answers_an_approval_can_still_stop(start: Start, vendor: LoopbackVendor):
    vendor.reset([VendorReply(text=act("Bash", '{"command": "true"}'))])
    async with start() as client:
        client.answers["codelaw/approval/request"] = NO_ANSWER
        _, future = await client.start("codelaw/chat/send", {"text": "go"})
        chat = (await client.event("tool_call", status="awaiting_approval"))["chatId"]
        await client.request("codelaw/chat/cancel", {"chatId": chat})
        assert (await client.wait_for(future))["result"]["stopReason"] == "cancelled"
        assert await client.method("$/cancelRequest"), "the question is withdrawn"


async def test_nothing_but_json_rpc_on_stdout_and_no_bodies_in_the_log(start: Start, vendor: LoopbackVendor):
    vendor.reset([VendorReply(text=finish("ANSWERMARK"))])
    async with start() as client:
        await client.request("codelaw/chat/send", {"text": "QUESTIONMARK"})
        assert client.process is not None
        assert await client.shut_down() == 0
        assert "MARK" not in client.process.stderr
