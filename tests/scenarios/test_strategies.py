"""Strategies from one end to the other: chosen over the wire, sent to the vendor, shown by the command line (B-1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import RpcError
from tests.scenarios.conftest import Start, finish


async def talk(client: Any, vendor: LoopbackVendor, count: int, **params: Any) -> str:
    chat: dict[str, Any] = {}
    for number in range(count):
        vendor.play(VendorReply(text=finish(f"answer {number}")))
        sent = await client.request("codelaw/chat/send", {"text": f"QUESTION{number}X", **chat, **params})
        assert sent["stopReason"] == "finished"
        chat = {"chatId": sent["chatId"]}
    return chat["chatId"]


def questions(vendor: LoopbackVendor) -> list[int]:
    text = json.dumps(vendor.messages[-1].json["messages"])
    return [number for number in range(50) if f"QUESTION{number}X" in text]


async def test_a_strategy_is_chosen_for_a_chat_for_a_message_and_by_the_settings(start: Start, vendor: LoopbackVendor):
    options = {"context": {"strategy": "sliding-window", "window": 2, "summary": False}}
    async with start(options=options) as client:
        chat = await talk(client, vendor, 4)
        assert questions(vendor) == [1, 2, 3]
        assert "Status: ACTIVE" in json.dumps(vendor.messages[-1].json["messages"][-1])
        made = await client.request("codelaw/chat/create", {"strategy": "last-n"})
        assert made["strategy"] == "last-n"
        assert (await client.request("codelaw/chat/update", {"chatId": chat, "strategy": "full"}))["strategy"] == "full"
        vendor.play(VendorReply(text=finish("x")))
        await client.request("codelaw/chat/send", {"chatId": chat, "text": "QUESTION4X"})
        assert questions(vendor) == [0, 1, 2, 3, 4]
        vendor.play(VendorReply(text=finish("x")))
        sent = {"chatId": chat, "text": "QUESTION5X", "strategy": "sliding-window"}
        await client.request("codelaw/chat/send", sent)
        assert questions(vendor) == [3, 4, 5]
        report = await client.request("codelaw/context/inspect", {"chatId": chat, "text": "next"})
        assert report["strategy"] == "sliding-window"
        assert report["kept"] == "2 of 6 rounds (4 messages)"
        assert [entry["name"] for entry in report["dropped"]] == ["rounds left out"]
        assert [line["part"] for line in report["budget"]] == ["system", "summary", "retrieved", "recent", "input"]
        assert set(report["budget"][0]) == {"part", "share", "tokens", "over"}
        assert report["sections"][-1]["name"] == "pin"


async def test_a_strategy_and_its_numbers_are_previewed_without_a_change(start: Start, vendor: LoopbackVendor):
    async with start(options={"context": {"summary": False}}) as client:
        chat = await talk(client, vendor, 6)
        before = await client.request("codelaw/chat/read", {"chatId": chat, "limit": 0})
        asked = {"chatId": chat, "text": "QUESTION6X"}
        plain = await client.request("codelaw/context/inspect", asked)
        preview = {"strategy": "sliding-window", "strategyOptions": {"window": 2, "totalBudget": 20_000}}
        shown = await client.request("codelaw/context/inspect", asked | preview)
        assert (shown["strategy"], shown["kept"]) == ("sliding-window", "2 of 6 rounds (4 messages)")
        assert sum(line["share"] for line in shown["budget"]) <= 20_000
        assert [number for number in range(7) if f"QUESTION{number}X" in shown["text"]] == [4, 5, 6]
        new = await client.request("codelaw/context/inspect", {"text": "hello", "strategy": "full"})
        assert new["strategy"] == "full"
        assert await client.request("codelaw/context/inspect", asked) == plain
        assert await client.request("codelaw/chat/read", {"chatId": chat, "limit": 0}) == before


@pytest.mark.parametrize("method", ["codelaw/chat/send", "codelaw/context/inspect"])
@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"lastN": 3}, "strategyOptions.lastN"),
        ({"context.window": 3}, "strategyOptions.context.window"),
        ({"window": 0}, "strategyOptions.window"),
        ({"topK": "5"}, "strategyOptions.topK"),
        ({"share": 1.5}, "strategyOptions.share"),
        ({"summary": 1}, "strategyOptions.summary"),
        ([], "strategyOptions"),
    ],
)
async def test_wrong_numbers_are_refused_with_their_path(start: Start, method: str, options: Any, path: str):
    async with start() as client:
        with pytest.raises(RpcError) as refused:
            await client.request(method, {"text": "hello", "strategyOptions": options})
        assert refused.value.code == -32602
        assert [error["path"] for error in refused.value.data["errors"]] == [path]
        assert (await client.request("codelaw/chat/list", {}))["chats"] == []


async def test_a_persona_stands_in_the_system_prompt_the_same_in_every_process(start: Start, vendor: LoopbackVendor):
    persona = "You are Ada. Answer in one sentence."
    systems: list[Any] = []
    for _ in range(2):
        async with start(options={"prompts": {"persona": persona}}) as client:
            await talk(client, vendor, 1)
            systems.append(vendor.messages[-1].json["system"])
            report = await client.request("codelaw/context/inspect", {"text": "hello"})
    assert systems[0] == systems[1]
    assert json.dumps(systems[0]).count(persona) == 1
    assert [part["name"] for part in report["sections"]][:4] == ["core", "soul", "persona", "tools"]
