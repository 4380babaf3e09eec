"""Thinking goes back exactly as it came, for as long as its maker takes it (P-5)."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.claude import THINKING, Account
from tests.loopback.script import VendorReply
from tests.loopback.server import Captured, LoopbackVendor
from tests.lsp.raw import RawClient
from tests.scenarios.conftest import Start

MODEL = "claude-sonnet-5-5"
NATIVE: dict[str, Any] = {"model": {"dialect": "auto", "name": MODEL}}
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


async def test_a_changed_law_leaves_it_out_from_then_on(vendor: LoopbackVendor, root: Path, start: Start) -> None:
    (root / "CODE_LAW.md").write_text("Be terse.\n")
    async with start(options=options(vendor)) as client:
        vendor.play(VendorReply(text="1"), VendorReply(text="2"), VendorReply(text="3"), VendorReply(text="4"))
        chat = (await send(client, "first"))["chatId"]
        (root / "CODE_LAW.md").write_text("Be long.\n")
        await send(client, "second", chat)
        assert thinking(vendor.messages[-1]) == []
        (root / "CODE_LAW.md").write_text("Be terse.\n")
        await send(client, "third", chat)
        await send(client, "fourth", chat)
        # What answered the first law stands again behind the same words, but not in front of what came meanwhile.
        assert len(thinking(vendor.messages[-1])) <= 2
    assert vendor.refused == []


async def test_a_maker_that_refuses_it_gets_none_and_the_turn_goes_on(
    vendor: LoopbackVendor, root: Path, start: Start
) -> None:
    (root / "a.py").write_text("x = 1\n")
    async with start(options=options(vendor)) as client:
        vendor.play(read("a.py"), VendorReply(text="1"), VendorReply(text="2"))
        chat = (await send(client, "What is x?"))["chatId"]
        vendor.account = Account()  # as another key would be: no signature of the first one's is known to it
        vendor.account.seal = b"other"
        result = await send(client, "And twice?", chat)
        assert (result["stopReason"], result["answer"]) == ("finished", "2")
        assert [notice["code"] for notice in result["notices"]] == ["thinking_dropped"]
        assert [bool(thinking(request)) for request in vendor.messages[-2:]] == [True, False]


async def test_another_maker_gets_none_and_its_own_maker_gets_it_again(
    vendor: LoopbackVendor, root: Path, start: Start
) -> None:
    async with start(options=options(vendor)) as client:
        vendor.play(*(VendorReply(text=str(number)) for number in range(4)))
        chat = (await send(client, "first"))["chatId"]
        await send(client, "second", chat, model="some-local-model")
        assert thinking(vendor.messages[-1]) == []
        await send(client, "third", chat, model="claude-opus-5-5")
        assert len(thinking(vendor.messages[-1])) == 1
    assert vendor.refused == []


@pytest.mark.parametrize("seed", range(6))
async def test_sessions_by_chance(vendor: LoopbackVendor, root: Path, start: Start, seed: int) -> None:
    """Long results, batches, compactions, changed laws, other models, forks, restarts: nothing is ever refused."""
    chance = random.Random(seed)
    for number in range(4):
        (root / f"f{number}.py").write_text("value = 1  # a line of words\n" * chance.randrange(20, 400))
    chat: str | None = None
    for _ in range(3):
        async with start(options=options(vendor, context={"keepRounds": 2})) as client:
            for _ in range(4):
                steps = [
                    read(f"f{chance.randrange(4)}.py", *chance.choices([THOUGHT, NOTE, HIDDEN], k=chance.randrange(4)))
                    for _ in range(chance.randrange(4))
                ]
                vendor.play(*steps, VendorReply(text="done"))
                model = chance.choice([MODEL] * 4 + ["claude-opus-5-5", "claude-haiku-5-5", "some-local-model"])
                result = await send(client, "please go on", chat, model=model)
                assert result["stopReason"] == "finished", result
                chat = result["chatId"]
                match chance.randrange(6):
                    case 0:
                        await client.request("codelaw/context/compact", {"chatId": chat})
                    case 1:
                        (root / "CODE_LAW.md").write_text(f"Rule {chance.randrange(3)}.\n")
                    case 2:
                        turn = result["turnId"]
                        chat = (await client.request("codelaw/chat/fork", {"chatId": chat, "turnId": turn}))["id"]
                    case _:
                        pass
    assert vendor.refused == []
    assert [request.transformed for request in vendor.messages if _wrongly(request)] == []


def _wrongly(request: Captured) -> bool:
    """Whether thinking was sent that does not count any more."""
    return any(one["reason"] == "prefix_binding_mismatch" for one in request.transformed)
