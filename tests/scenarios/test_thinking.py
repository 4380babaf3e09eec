"""Thinking goes back exactly as it came, for as long as its maker takes it (P-5)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.claude import Account
from tests.loopback.rules import THINKING
from tests.loopback.script import VendorReply
from tests.loopback.server import Captured, LoopbackVendor
from tests.lsp.raw import RawClient
from tests.scenarios.conftest import Start

MODEL = "claude-sonnet-5-5"
THOUGHT = {"type": "thinking", "thinking": "hm"}
NOTE = {"type": "thinking", "thinking": "I look.", "note": True}
HIDDEN = {"type": "redacted_thinking"}


@pytest.fixture
async def vendor() -> AsyncIterator[LoopbackVendor]:
    async with LoopbackVendor(account=Account()) as made:
        yield made


def options(vendor: LoopbackVendor, **more: Any) -> dict[str, Any]:
    model = {"baseUrl": vendor.url, "apiKey": "sk-test-SECRET", "dialect": "auto", "name": MODEL}
    return {"model": model, **more}


def read(path: str, *blocks: dict[str, Any], text: str = "") -> VendorReply:
    return VendorReply(text=text, blocks=blocks, calls=({"name": "Read", "input": {"path": path}},))


async def send(client: RawClient, text: str, chat: str | None = None, **more: Any) -> dict[str, Any]:
    params = {"text": text, **({} if chat is None else {"chatId": chat}), **more}
    return await client.request("codelaw/chat/send", params)


def thinking(request: Captured) -> list[dict[str, Any]]:
    return [block for message in request.json["messages"] for block in message["content"] if block["type"] in THINKING]


async def test_within_a_turn_and_across_turns_and_a_restart(vendor: LoopbackVendor, root: Path, start: Start) -> None:
    (root / "a.py").write_text("x = 1\n")
    async with start(options=options(vendor)) as client:
        vendor.play(
            read("a.py", THOUGHT, HIDDEN, NOTE, text="I read it."), read("a.py", NOTE, THOUGHT), VendorReply(text="1")
        )
        result = await send(client, "What is x?")
        assert result["stopReason"] == "finished"
        assert [len(thinking(request)) for request in vendor.messages] == [0, 3, 5]
        first = vendor.messages[1].json["messages"][1]["content"]
        assert [block["type"] for block in first] == ["thinking", "redacted_thinking", "thinking", "text", "tool_use"]
        vendor.play(VendorReply(text="2"))
        assert (await send(client, "And twice?", result["chatId"]))["stopReason"] == "finished"
        assert len(thinking(vendor.messages[-1])) == 6
    async with start(options=options(vendor)) as client:
        vendor.play(VendorReply(text="3"))
        assert (await send(client, "And thrice?", result["chatId"]))["stopReason"] == "finished"
        assert len(thinking(vendor.messages[-1])) == 7
    assert vendor.refused == []
    assert [request.lost for request in vendor.messages if request.lost] == []
    assert [request.transformed for request in vendor.messages if request.transformed] == []


async def test_a_fork_keeps_it_and_exports_mark_it_alone(vendor: LoopbackVendor, root: Path, start: Start) -> None:
    (root / "a.py").write_text("x = 1\n")
    async with start(options=options(vendor)) as client:
        vendor.play(read("a.py", NOTE, HIDDEN), VendorReply(text="1"), VendorReply(text="2"), VendorReply(text="3"))
        first = await send(client, "What is x?")
        chat = first["chatId"]
        await send(client, "And twice?", chat)
        fork = (await client.request("codelaw/chat/fork", {"chatId": chat, "turnId": first["turnId"]}))["id"]
        await send(client, "And thrice?", fork)
        assert len(thinking(vendor.messages[-1])) == 3
        assert thinking(vendor.messages[-1]) == thinking(vendor.messages[-2])
        reported = {form: await exported(client, chat, form) for form in ("markdown", "json")}
        reported["read"] = json.dumps(await client.request("codelaw/chat/read", {"chatId": chat}))
    secrets = [block.get("signature") or block["data"] for block in thinking(vendor.messages[-1])]
    assert [form for form, text in reported.items() for secret in secrets if secret in text] == []
    assert "**Thinking kept:** 3 blocks" in reported["markdown"]
    assert "**Thinking kept:** 1 block\n" in reported["markdown"]
    said = [message["metadata"]["kept"] for message in json.loads(reported["json"])["messages"]]
    assert [kept for kept in said if kept] == [{"maker": "anthropic", "blocks": count} for count in (2, 1, 1)]
    assert "kept" not in reported["read"]
    assert vendor.refused == []


async def exported(client: RawClient, chat: str, form: str) -> str:
    return (await client.request("codelaw/chat/export", {"chatId": chat, "format": form}))["text"]


@pytest.mark.parametrize("name", [MODEL, "claude-opus-5"])
async def test_a_maker_that_refuses_it_gets_none_from_then_on_and_the_turn_goes_on(
    vendor: LoopbackVendor, root: Path, start: Start, name: str
) -> None:
    (root / "a.py").write_text("x = 1\n")
    model = {**options(vendor)["model"], "name": name}
    async with start(options=options(vendor, model=model)) as client:
        vendor.play(read("a.py"), *(VendorReply(text=str(number)) for number in (1, 2, 3, 4)))
        chat = (await send(client, "What is x?"))["chatId"]
        vendor.account = Account()  # as another key would be: no signature of the first one's is known to it
        vendor.account.seal = b"other"
        result = await send(client, "And twice?", chat)
        assert (result["stopReason"], result["answer"]) == ("finished", "2")
        assert [notice["code"] for notice in result["notices"]] == ["thinking_dropped"]
        assert [bool(thinking(request)) for request in vendor.messages[-2:]] == [True, False]
        await send(client, "And thrice?", chat)
    async with start(options=options(vendor, model=model)) as client:
        result = await send(client, "And again?", chat)
        assert (result["answer"], result["notices"]) == ("4", [])
    assert [len(thinking(request)) for request in vendor.messages[-2:]] == [1, 2], "what came since goes back"
    assert len(vendor.refused) == 1


def history(report: dict[str, Any]) -> int:
    return sum(section["tokens"] for section in report["sections"] if section["name"] == "history")


async def test_another_maker_gets_none_and_its_own_maker_gets_it_again(
    vendor: LoopbackVendor, root: Path, start: Start
) -> None:
    async with start(options=options(vendor)) as client:
        vendor.play(*(VendorReply(text=str(number)) for number in range(4)))
        chat = (await send(client, "first"))["chatId"]
        await send(client, "second", chat, model="some-local-model")
        assert thinking(vendor.messages[-1]) == []
        foreign = await client.request("codelaw/context/inspect", {"chatId": chat})
        await client.request("codelaw/chat/update", {"chatId": chat, "model": "claude-opus-5-5"})
        own = await client.request("codelaw/context/inspect", {"chatId": chat})
        assert ("thinking, sealed" in str(foreign), "thinking, sealed" in str(own)) == (False, True)
        assert history(own) - history(foreign) > 30, "what is sent is counted"
        await send(client, "third", chat, model="claude-opus-5-5")
        assert len(thinking(vendor.messages[-1])) == 1
    assert vendor.refused == []
