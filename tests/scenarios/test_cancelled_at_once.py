"""A cancel that arrives with what it stops, in one write: nothing of it goes on (R-8).

No moment is left to chance: the server reads both messages before it has done anything for the first one.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import EVERYTHING, PATIENCE, RawClient, result_of, stdio
from tests.scenarios.conftest import Start, finish
from tests.scenarios.test_ends import until

SEND, COMPACT, CANCEL = "codelaw/chat/send", "codelaw/context/compact", "codelaw/chat/cancel"
HOOK = {"hooks": {"UserPromptSubmit": [{"command": "touch begun; sleep 600"}]}}
SILENCE = VendorReply(text=finish("late"), wait=600.0, times=0)
WAYS = ["chat/cancel", "its command", "$/cancelRequest"]


def request(number: int, method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def command(number: int, name: str, argument: Any) -> dict[str, Any]:
    return request(number, "workspace/executeCommand", {"command": name, "arguments": [argument]})


def stop(way: str, chat: str) -> dict[str, Any]:
    """The message that stops request 1001, as 1002 where it is a request."""
    if way == "$/cancelRequest":
        return {"jsonrpc": "2.0", "method": way, "params": {"id": 1001}}
    named = {"chatId": chat}
    return request(1002, CANCEL, named) if way == "chat/cancel" else command(1002, "codelaw.chat.cancel", named)


async def at_once(client: RawClient, *messages: dict[str, Any]) -> list[asyncio.Future[dict[str, Any]]]:
    """Send them in one write; gives a future for each that is answered."""
    futures = [client.expect(message["id"]) for message in messages if "id" in message]
    bodies = [json.dumps(message).encode() for message in messages]
    await client.send_bytes(b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies))
    return futures


async def cancelled(client: RawClient, way: str, futures: list[asyncio.Future[dict[str, Any]]]) -> Any:
    """The answer to what was stopped; the cancel says that it has stopped something."""
    if way != "$/cancelRequest":
        assert result_of(await client.wait_for(futures[1])) == {"cancelled": True}
    return await client.wait_for(futures[0])


async def talk(client: RawClient, vendor: LoopbackVendor, turns: int = 1) -> str:
    """A chat with some rounds."""
    vendor.reset([VendorReply(text=finish("hello"), times=0)])
    chat = (await client.request(SEND, {"text": "question 0"}))["chatId"]
    for number in range(1, turns):
        await client.request(SEND, {"chatId": chat, "text": f"question {number}"})
    return chat


def reported(client: RawClient, chat: str, kind: str) -> list[dict[str, Any]]:
    return [one["event"] for one in client.events(chat) if one["event"]["kind"] == kind]


async def silent(client: RawClient, vendor: LoopbackVendor, chat: str, asked: int) -> dict[str, Any]:
    """The record of a chat in which nothing runs any more; no model was asked since."""
    async with asyncio.timeout(PATIENCE):
        while (record := await client.request("codelaw/chat/read", {"chatId": chat}))["running"] is not None:
            await asyncio.sleep(0.02)
    assert len(vendor.messages) == asked
    return record


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("twin", [False, True])
async def test_a_compaction(start: Start, vendor: LoopbackVendor, way: str, twin: bool) -> None:
    async with start(options={"context": {"keepRounds": 1}}) as client:
        chat = await talk(client, vendor, 4)
        asked = len(vendor.messages)
        named = {"chatId": chat}
        first = command(1001, "codelaw.context.compact", named) if twin else request(1001, COMPACT, named)
        answer = await cancelled(client, way, await at_once(client, first, stop(way, chat)))
        if twin:
            assert answer["error"]["code"] == -32800
        else:
            assert (answer["result"]["compacted"], answer["result"]["reason"]) == (False, "cancelled")
        await silent(client, vendor, chat, asked)
        assert (await client.request("codelaw/context/archive", named))["checkpoints"] == []
        assert (await client.request(COMPACT, named))["compacted"] is True


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("twin", [False, True])
async def test_a_message_and_it_is_kept(start: Start, vendor: LoopbackVendor, way: str, twin: bool) -> None:
    async with start() as client:
        chat = await talk(client, vendor)
        vendor.reset([SILENCE])
        sent = {"chatId": chat, "text": "the second"}
        first = command(1001, "codelaw.chat.send", sent) if twin else request(1001, SEND, sent)
        answer = result_of(await cancelled(client, way, await at_once(client, first, stop(way, chat))))
        assert twin or answer["stopReason"] == "cancelled"
        await until(lambda: len(reported(client, chat, "turn_ended")) == 2)
        assert reported(client, chat, "turn_ended")[-1]["result"]["stopReason"] == "cancelled"
        record = await silent(client, vendor, chat, 0)
        assert [one["content"] for one in record["messages"] if one["role"] == "user"] == ["question 0", "the second"]


@pytest.mark.parametrize("way", WAYS)
async def test_a_message_that_hooks_would_look_at(start: Start, vendor: LoopbackVendor, root: Path, way: str) -> None:
    """No hook has let it pass, so it is not kept: its client has it back."""
    async with start() as client:
        chat = await talk(client, vendor)
    asked = len(vendor.messages)
    async with start(options=HOOK) as client:
        await client.request("codelaw/chat/read", {"chatId": chat})
        first = request(1001, SEND, {"chatId": chat, "text": "the second"})
        answer = await cancelled(client, way, await at_once(client, first, stop(way, chat)))
        assert answer["error"]["data"]["code"] == "hook_blocked"
        assert "taken back" in answer["error"]["message"]
        record = await silent(client, vendor, chat, asked)
        assert [one["content"] for one in record["messages"] if one["role"] == "user"] == ["question 0"]
        assert {run["status"] for run in reported(client, chat, "hook")} <= {"running", "cancelled"}


async def test_a_code_action(start: Start, vendor: LoopbackVendor, root: Path) -> None:
    vendor.reset([SILENCE])
    async with start() as client:
        uri = await client.open(root / "a.py", "x = 1\n")
        span = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
        asked = command(1001, "codelaw.editor.explain", {"uri": uri, "range": span})
        (future,) = await at_once(client, asked, stop("$/cancelRequest", ""))
        begun = result_of(await client.wait_for(future))
        await until(lambda: len(reported(client, begun["chatId"], "turn_ended")) == 1)
        assert reported(client, begun["chatId"], "turn_ended")[0]["result"]["stopReason"] == "cancelled"
        await silent(client, vendor, begun["chatId"], 0)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("what", ["message", "compaction"])
async def test_what_reaches_a_server_that_is_still_starting(
    start: Start, server: list[str], vendor: LoopbackVendor, root: Path, home: Path, *, way: str, what: str
) -> None:
    async with start() as client:
        chat = await talk(client, vendor, 3)
    vendor.reset([SILENCE])
    model = {"baseUrl": vendor.url, "apiKey": "sk-test", "name": "claude-sonnet-4-5"}
    params = {"processId": None, "rootUri": None, "capabilities": EVERYTHING, "initializationOptions": {"model": model}}
    params["workspaceFolders"] = [{"uri": root.as_uri(), "name": root.name}]
    sent = {"chatId": chat, "text": "the second"}
    first = request(1001, SEND, sent) if what == "message" else request(1001, COMPACT, {"chatId": chat})
    begun = [request(1000, "initialize", params), {"jsonrpc": "2.0", "method": "initialized", "params": {}}]
    async with stdio(server, env={**os.environ, "CODELAW_HOME": str(home)}) as client:
        futures = await at_once(client, *begun, first, stop(way, chat))
        answer = await cancelled(client, way, futures[1:])
        reason = answer["result"]["stopReason" if what == "message" else "reason"]
        assert reason == "cancelled"
        await silent(client, vendor, chat, 0)
