"""Subagents through the real server: told on the wire, killed in the middle, forked and exported (X-4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.scenarios.conftest import Start, act, finish
from tests.scenarios.test_killed_commands import allowing, bash, killed, running, until

SLEEP = 31415.926


def task(kind: str, prompt: str) -> VendorReply:
    return VendorReply(text=act("Task", json.dumps({"kind": kind, "prompt": prompt})))


def children(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [message for message in messages if "parent" in message["metadata"]]


async def test_a_server_killed_inside_a_child_leaves_its_steps_and_an_interrupted_call(
    start: Start, vendor: LoopbackVendor, root: Path
):
    (root / "a.txt").write_text("FOUNDMARK\n")
    command = f"echo changed > a.txt; touch begun; sleep {SLEEP}"
    async with start(options=allowing(command, "auto")) as client:
        vendor.play(
            task("general", "Do it"), VendorReply(text=act("Read", '{"path": "a.txt"}', "I look")), bash(command)
        )
        await client.start("codelaw/chat/send", {"text": "go"})
        started = await client.event("turn_started")
        await until((root / "begun").exists)
        await killed(client)
    await until(lambda: not running(str(SLEEP)))
    vendor.reset()
    async with start() as client:
        chat_id, turn_id = started["chatId"], started["turnId"]
        whole = await client.request("codelaw/chat/read", {"chatId": chat_id})
        inner = children(whole["messages"])
        assert [message["role"] for message in inner] == ["user", "assistant", "tool", "assistant", "tool"]
        assert "FOUNDMARK" in inner[2]["content"]
        assert "interrupted" in inner[4]["content"]
        own = [message for message in whole["messages"] if "parent" not in message["metadata"]]
        assert [message["role"] for message in own] == ["user", "assistant", "tool", "assistant"]
        assert "interrupted" in own[2]["content"]
        parent = own[1]["metadata"]["calls"][0]["id"]
        assert {message["metadata"]["parent"] for message in inner} == {parent}
        ends = {
            (event["event"]["tool"], event["event"].get("parent")): event["event"]["status"]
            for event in whole["events"]
            if event["event"]["kind"] == "tool_call"
        }
        assert ends == {("Task", None): "interrupted", ("Read", parent): "completed", ("Bash", parent): "interrupted"}
        vendor.play(VendorReply(text=finish("I go on.")))
        result = await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "and now?"})
        assert result["answer"] == "I go on."
        sent = json.dumps(vendor.messages[-1].json["messages"])
        assert "FOUNDMARK" not in sent
        assert sent.count("interrupted") >= 1
        undone = await client.request("codelaw/chat/revert", {"chatId": chat_id, "turnId": turn_id})
        assert (root / "a.txt").as_uri() in undone["reverted"]
        assert (root / "a.txt").read_text() == "FOUNDMARK\n"


async def test_a_child_is_in_the_record_the_fork_and_the_export(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "a.txt").write_text("FOUNDMARK\n")
    vendor.play(
        task("explore", "Find it"),
        VendorReply(text=act("Grep", '{"pattern": "FOUNDMARK"}', "I search")),
        VendorReply(text=finish("It is in a.txt")),
        VendorReply(text=finish("There.")),
    )
    async with start() as client:
        result = await client.request("codelaw/chat/send", {"text": "where?"})
        assert (result["answer"], result["steps"]) == ("There.", 2)
        chat_id = result["chatId"]
        whole = await client.request("codelaw/chat/read", {"chatId": chat_id})
        usages = [event["event"] for event in whole["events"] if event["event"]["kind"] == "usage"]
        assert ["parent" in usage for usage in usages] == [False, True, True, False]
        assert result["usage"]["totalTokens"] == sum(usage["totalTokens"] for usage in usages)
        page = await client.request("codelaw/chat/read", {"chatId": chat_id, "turns": 1})
        assert page["messages"] == whole["messages"]
        fork = await client.request("codelaw/chat/fork", {"chatId": chat_id, "turnId": result["turnId"]})
        copied = await client.request("codelaw/chat/read", {"chatId": fork["id"]})
        assert copied["messages"] == whole["messages"]
        assert len(children(copied["messages"])) == 4
        markdown = (await client.request("codelaw/chat/export", {"chatId": chat_id, "format": "markdown"}))["text"]
        assert "#### ↳ " in markdown
        reported = json.loads(
            (await client.request("codelaw/chat/export", {"chatId": chat_id, "format": "json"}))["text"]
        )
        assert [message["metadata"]["parent"] is not None for message in reported["messages"]].count(True) == 4
        found = await client.request("codelaw/chat/list", {"query": "I search"})
        assert chat_id in {chat["id"] for chat in found["chats"]}
        report = await client.request("codelaw/context/inspect", {"chatId": fork["id"], "text": "next"})
        assert "FOUNDMARK" not in report["text"]
        assert "It is in a.txt" in report["text"]
        assert "steps of subagents" in {dropped["name"] for dropped in report["dropped"]}
