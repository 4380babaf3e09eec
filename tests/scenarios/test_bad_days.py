"""Bad input and bad days, through the real server: each a clear error, and nothing lost."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

from tests.fakes.living import dies, own_seconds, sleeps
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import NO_ANSWER, stdio
from tests.scenarios.conftest import SERVER, Start, act, finish

ANSWER = "The whole answer, in a few pieces that arrive."


async def test_a_wrong_key_is_told_and_not_shown(start: Start, vendor: LoopbackVendor):
    vendor.key = "another"
    async with start() as client:
        result = await client.request("codelaw/chat/send", {"text": "go"})
        assert (result["stopReason"], result["error"]["code"]) == ("failed", "auth_failed")
        assert "sk-test-SECRET" not in json.dumps(client.messages)
        assert client.process is not None
        assert "sk-test-SECRET" not in client.process.stderr


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
