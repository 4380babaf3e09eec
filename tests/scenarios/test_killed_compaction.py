"""A server that dies while a summary is being written: the old view, nothing lost, nothing left spinning (K-6, D-1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.loopback.server import LoopbackVendor
from tests.loopback.summaries import Summariser
from tests.lsp.raw import RawClient
from tests.scenarios.conftest import Start, finish

ENDS = {"finished", "failed", "cancelled"}


async def talk(client: RawClient, vendor: LoopbackVendor, number: int, chat: str | None, size: int = 60) -> str:
    from tests.loopback.script import VendorReply

    vendor.play(VendorReply(text=finish(f"ANSWERCANARY{number}Z {'plain words ' * (size // 12)}"), chunk=4_000))
    params: dict[str, Any] = {"text": f"ASKCANARY{number}Z"} | ({} if chat is None else {"chatId": chat})
    result = await client.request("codelaw/chat/send", params)
    assert result["stopReason"] == "finished", result
    return result["chatId"]


def options(vendor: LoopbackVendor) -> dict[str, Any]:
    model = {"baseUrl": vendor.url, "apiKey": "k", "name": "claude-sonnet-4-5", "contextWindow": 32_000}
    return {"model": model, "context": {"keepRounds": 2, "threshold": 0.5, "lowWater": 0.3}}


@pytest.mark.parametrize("asked_for", [True, False])
async def test_a_kill_during_the_summary(start: Start, vendor: LoopbackVendor, asked_for: bool):
    vendor.summariser = Summariser("hang")
    async with start(options=options(vendor)) as client:
        chat = None
        for number in range(8):
            chat = await talk(client, vendor, number, chat, 200 if number < 7 else 60_000 if not asked_for else 200)
        if asked_for:
            await client.start("codelaw/context/compact", {"chatId": chat})
        else:
            await client.start("codelaw/chat/send", {"chatId": chat, "text": "ASKCANARY8Z"})
        await client.event("compaction", phase="summarising")
        assert client.process is not None
        await client.process.kill()
    vendor.summariser = Summariser("good")
    count = 8 if asked_for else 9
    async with start(options=options(vendor)) as client:
        record = await client.request("codelaw/chat/read", {"chatId": chat})
        users = [message["content"] for message in record["messages"] if message["role"] == "user"]
        assert users == [f"ASKCANARY{number}Z" for number in range(count)]
        assert record["running"] is None
        assert not any(message["role"] == "summary" for message in record["messages"])
        reported = [event["event"]["phase"] for event in record["events"] if event["event"]["kind"] == "compaction"]
        assert reported.count("started") == sum(phase in ENDS for phase in reported), (
            f"a client would wait for ever: {reported}"
        )
        report = await client.request("codelaw/context/compact", {"chatId": chat})
        assert report["compacted"]
        await talk(client, vendor, count, chat)
        messages = json.dumps(vendor.steps[-1].json["messages"])
        kept = [number for number in range(count + 1) if f"ASKCANARY{number}Z" in messages]
        assert kept == [count - 2, count - 1, count]
        assert vendor.refused == []
