"""The model that is named is the model that is asked, and no chat leaves this machine without a yes (P-4)."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import EVERYTHING, RawClient, RpcError, result_of
from tests.scenarios.conftest import Start, finish

APPROVAL = "codelaw/approval/request"
OFFLINE: dict[str, Any] = {"model": {"provider": "offline"}}
SECRET = "the word is Rumpelstiltskin"
STOCK: dict[str, Any] = {"experimental": {"codelaw": {"events": {}}}}


def key(vendor: LoopbackVendor, **more: Any) -> dict[str, Any]:
    """Settings as they are once a key was set."""
    return {"model": {"baseUrl": vendor.url, "apiKey": "sk-x", "name": "claude-sonnet-4-5", **more}}


def option(wanted: str) -> Any:
    return lambda params: {"optionId": wanted} if any(one["id"] == wanted for one in params["options"]) else None


def asked(vendor: LoopbackVendor) -> list[str]:
    return [request.json["model"] for request in vendor.messages]


async def begin_offline(start: Start) -> str:
    """A chat that was answered by the offline model."""
    async with start(options=OFFLINE) as client:
        result = await client.request("codelaw/chat/send", {"text": SECRET})
        assert (result["stopReason"], result["model"]) == ("finished", "offline")
        return result["chatId"]


async def named(client: RawClient, chat_id: str) -> str:
    """The chat's model, as every answer that holds a chat names it."""
    listed = (await client.request("codelaw/chat/list", {}))["chats"]
    report = await client.request("codelaw/context/inspect", {"chatId": chat_id, "text": "x"})
    exported = await client.request("codelaw/chat/export", {"chatId": chat_id, "format": "json"})
    names = {
        next(chat["model"] for chat in listed if chat["id"] == chat_id),
        (await client.request("codelaw/chat/read", {"chatId": chat_id}))["chat"]["model"],
        (await client.request("codelaw/chat/read", {"chatId": chat_id, "limit": 0}))["chat"]["model"],
        (await client.request("codelaw/chat/read", {"chatId": chat_id, "turns": 1}))["chat"]["model"],
        (await client.request("codelaw/chat/update", {"chatId": chat_id, "title": "T"}))["model"],
        report["model"],
        json.loads(exported["text"])["chat"]["model"],
    }
    assert len(names) == 1, names
    return names.pop()


async def test_a_chat_without_a_choice_goes_along_with_the_settings_and_says_so(start: Start, vendor: LoopbackVendor):
    vendor.script = [VendorReply(text=finish("ok"))] * 4
    async with start() as client:
        chat_id = (await client.request("codelaw/chat/send", {"text": "a"}))["chatId"]
        chosen = (await client.request("codelaw/chat/create", {"model": "claude-opus-4-1"}))["id"]
        await client.request("codelaw/chat/send", {"chatId": chosen, "text": "a"})
    async with start(options=key(vendor, name="claude-haiku-4-5")) as client:
        names = await named(client, chat_id), await named(client, chosen)
        assert names == ("claude-haiku-4-5", "claude-opus-4-1")
        for one in (chat_id, chosen):
            result = await client.request("codelaw/chat/send", {"chatId": one, "text": "b"})
            assert result["model"] == await named(client, one)
    assert asked(vendor) == ["claude-sonnet-4-5", "claude-opus-4-1", *names]


async def test_new_settings_rename_the_model_at_once_and_clients_hear_of_it(start: Start, vendor: LoopbackVendor):
    vendor.script = [VendorReply(text=finish("ok"))] * 2
    async with start(EVERYTHING) as client:
        chat_id = (await client.request("codelaw/chat/send", {"text": "a"}))["chatId"]
        client.answers["workspace/configuration"] = [key(vendor, name="claude-haiku-4-5")]
        await client.notify("workspace/didChangeConfiguration", {"settings": None})
        await client.method("codelaw/model/changed")
        assert await named(client, chat_id) == "claude-haiku-4-5"
        models = (await client.request("codelaw/model/list", {}))["models"]
        assert [model["name"] for model in models if model["current"]] == ["claude-haiku-4-5"]
        await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "b"})
    assert asked(vendor) == ["claude-sonnet-4-5", "claude-haiku-4-5"]


async def test_nothing_of_an_offline_chat_leaves_before_the_yes(start: Start, vendor: LoopbackVendor):
    chat_id = await begin_offline(start)
    vendor.script = [VendorReply(text=finish("ok"))] * 2
    async with start() as client:
        assert await named(client, chat_id) == "claude-sonnet-4-5"
        seen: list[int] = []

        def yes(params: dict[str, Any]) -> dict[str, str]:
            seen.append(len(vendor.requests))
            host = vendor.url.partition("//")[2]
            assert host in params["title"]
            assert params["risk"] == "send"
            assert [one["title"] for one in params["options"]] == [
                f"Send this chat to {host}",
                "Do not send",
                "Stay offline",
            ]
            return {"optionId": "send"}

        client.answers[APPROVAL] = yes
        result = await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "and now?"})
        assert (result["stopReason"], result["model"], seen) == ("finished", "claude-sonnet-4-5", [0])
        assert SECRET in vendor.messages[0].body.decode()
    async with start() as client:  # asked once, also after a restart
        assert (await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "b"}))["stopReason"] == "finished"
        assert client.params(APPROVAL) == []
    assert len(vendor.messages) == 2


async def test_a_chat_can_stay_offline(start: Start, vendor: LoopbackVendor):
    chat_id = await begin_offline(start)
    async with start() as client:
        client.answers[APPROVAL] = option("stay")
        result = await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "and now?"})
        assert (result["stopReason"], result["model"], result["usage"].get("costUsd")) == ("finished", "offline", None)
        assert [notice["code"] for notice in result["notices"]] == ["chat_stays_offline"]
        assert await named(client, chat_id) == "offline"
        again = await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "b"})
        assert (again["model"], len(client.params(APPROVAL)), vendor.requests) == ("offline", 1, [])
        vendor.script = [VendorReply(text=finish("ok"))]
        changed = await client.request("codelaw/chat/update", {"chatId": chat_id, "model": "claude-haiku-4-5"})
        assert changed["model"] == "claude-haiku-4-5"
        await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "c"})
    assert asked(vendor) == ["claude-haiku-4-5"]


@pytest.mark.parametrize("answer", ["cancel", None, "nonsense", RpcError({"code": -32601, "message": "no"})])
async def test_whoever_does_not_say_yes_sends_nothing(start: Start, vendor: LoopbackVendor, answer: Any):
    chat_id = await begin_offline(start)
    async with start() as client:
        client.answers[APPROVAL] = {"optionId": answer} if isinstance(answer, str) else answer
        result = await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "and now?"})
        assert (result["stopReason"], result["error"]["code"]) == ("failed", "not_confirmed")
        assert "--model" in result["error"]["hint"]
        with pytest.raises(RpcError) as refused:
            await client.request("codelaw/context/compact", {"chatId": chat_id})
        assert refused.value.data["code"] == "not_confirmed"
        assert vendor.requests == []
        messages = (await client.request("codelaw/chat/read", {"chatId": chat_id}))["messages"]
        assert "and now?" in json.dumps(messages), "what was written is kept"


async def test_a_stock_client_is_asked_by_a_message(start: Start, vendor: LoopbackVendor):
    chat_id = await begin_offline(start)
    vendor.script = [VendorReply(text=finish("ok"))]
    async with start(STOCK) as client:
        shown: list[Any] = []

        def pick(params: dict[str, Any]) -> dict[str, str]:
            shown.append(params)
            return params["actions"][0]

        client.answers["window/showMessageRequest"] = pick
        result = await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "and now?"})
        assert result["stopReason"] == "finished"
    titles = [action["title"] for action in shown[0]["actions"]]
    assert titles == [f"Send this chat to {vendor.url.partition('//')[2]}", "Do not send", "Stay offline"]
    assert shown[0]["message"].startswith("Send this chat to claude-sonnet-4-5 at ")


async def test_the_question_is_withdrawn_with_the_turn(start: Start, vendor: LoopbackVendor):
    chat_id = await begin_offline(start)
    async with start() as client:
        waiting = asyncio.Event()

        async def hold(params: dict[str, Any]) -> None:
            waiting.set()
            await asyncio.Event().wait()

        client.answers[APPROVAL] = hold
        _, turn = await client.start("codelaw/chat/send", {"chatId": chat_id, "text": "and now?"})
        await waiting.wait()
        assert await client.request("codelaw/chat/cancel", {"chatId": chat_id}) == {"cancelled": True}
        assert result_of(await client.wait_for(turn))["stopReason"] == "cancelled"
        client.answers[APPROVAL] = option("cancel")
        result = await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "again"})
        assert result["error"]["code"] == "not_confirmed", "it was never answered, so it is asked again"
    assert vendor.requests == []


async def test_a_chat_that_falls_back_or_moves_is_told_so(start: Start, vendor: LoopbackVendor):
    vendor.script = [VendorReply(text=finish("ok"))] * 4

    async def codes(options: dict[str, Any] | None, chat_id: str | None) -> tuple[str, list[str]]:
        async with start(options=options) as client:
            result = await client.request(
                "codelaw/chat/send", {"text": "x", **({"chatId": chat_id} if chat_id else {})}
            )
            assert (result["stopReason"], client.params(APPROVAL)) == ("finished", [])
            return result["chatId"], [notice["code"] for notice in result["notices"]]

    chat_id, first = await codes(None, None)
    assert first == []
    assert (await codes(OFFLINE, chat_id))[1] == ["endpoint_changed"], "the key is gone"
    assert (await codes(OFFLINE, chat_id))[1] == [], "told once"
    assert (await codes(None, chat_id))[1] == ["endpoint_changed"]
    other = vendor.url.replace("127.0.0.1", "localhost")
    assert (await codes(key(vendor, baseUrl=other), chat_id))[1] == ["endpoint_changed"]
    assert (await codes(key(vendor, baseUrl=other), chat_id))[1] == []


async def test_a_fork_has_left_as_far_as_its_original(start: Start, vendor: LoopbackVendor):
    chat_id = await begin_offline(start)
    async with start() as client:
        turn_id = (await client.request("codelaw/chat/read", {"chatId": chat_id}))["messages"][0]["turnId"]
        fork = await client.request("codelaw/chat/fork", {"chatId": chat_id, "turnId": turn_id})
        client.answers[APPROVAL] = option("cancel")
        result = await client.request("codelaw/chat/send", {"chatId": fork["id"], "text": "x"})
        assert result["error"]["code"] == "not_confirmed"
        vendor.script = [VendorReply(text=finish("ok"))]
        empty = await client.request("codelaw/chat/fork", {"chatId": chat_id, "turnId": None})
        assert (await client.request("codelaw/chat/send", {"chatId": empty["id"], "text": "x"}))["answer"] == "ok"
    assert len(vendor.messages) == 1


async def terminal(home: Path, root: Path, vendor: LoopbackVendor, *arguments: str) -> tuple[int | None, str]:
    """`codelaw chat` without a terminal: its exit status and what it said aside."""
    env = {
        **os.environ,
        "CODELAW_HOME": str(home),
        "CODELAW_MODEL__BASE_URL": vendor.url,
        "CODELAW_MODEL__API_KEY": "sk-x",
        "CODELAW_MODEL__NAME": "claude-sonnet-4-5",
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "codelaw", "chat", "--workspace", str(root), *arguments),
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    return process.returncode, errors.decode()


async def test_without_a_terminal_nothing_leaves_until_a_model_is_named(
    start: Start, vendor: LoopbackVendor, home: Path, root: Path
):
    chat_id = await begin_offline(start)
    for more in ([], ["--yes"]):
        status, said = await terminal(home, root, vendor, "--chat", chat_id, *more, "and now?")
        assert (status, vendor.requests) == (1, []), more
        assert "Nothing was sent" in said
        assert "--model NAME" in said
    vendor.script = [VendorReply(text=finish("ok"))] * 2
    status, said = await terminal(home, root, vendor, "--chat", chat_id, "--model", "claude-haiku-4-5", "and now?")
    assert (status, asked(vendor)) == (0, ["claude-haiku-4-5"]), said
    status, said = await terminal(home, root, vendor, "--chat", chat_id, "and then?")
    assert (status, asked(vendor)) == (0, ["claude-haiku-4-5"] * 2), said
