"""A chat is forked and both go on; a chat is exported: through the real server (D-2, L-6)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import RawClient
from tests.scenarios.conftest import Start, act, finish

NASTY = "half \ud83d and \u2028 and DROP TABLE"


async def ask(client: RawClient, chat_id: str | None, text: str) -> dict[str, Any]:
    return await client.request("codelaw/chat/send", {"chatId": chat_id, "text": text})


def bare(value: Any) -> Any:
    """Without the marks that move from request to request."""
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items() if key != "cache_control"}
    return [bare(item) for item in value] if isinstance(value, list) else value


def common(one: list[Any], other: list[Any]) -> int:
    """How many messages both begin with."""
    return next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one))


async def test_both_chats_go_on_and_begin_alike(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "a.py").write_text("FIRSTFILE = 1\n" * 50)
    vendor.script = [
        VendorReply(text=act("Read", '{"path": "a.py"}')),
        VendorReply(text=finish("one")),
        VendorReply(text=finish("two")),
        VendorReply(text=finish("three")),
        VendorReply(text=finish("in the original")),
        VendorReply(text=finish("in the fork")),
        VendorReply(text=finish("after a restart")),
    ]
    async with start() as client:
        first = await ask(client, None, "Read @a.py FIRSTMARK")
        chat_id = first["chatId"]
        second = await ask(client, chat_id, "go on SECONDMARK")
        await ask(client, chat_id, "go on THIRDMARK")
        params = {"chatId": chat_id, "turnId": second["turnId"]}
        fork = await client.request("codelaw/chat/fork", params)
        assert (fork["turns"], fork["running"]) == (2, None)
        assert fork["title"].endswith(" (fork)")
        record = await client.request("codelaw/chat/read", {"chatId": fork["id"]})
        whole = await client.request("codelaw/chat/read", {"chatId": chat_id})
        count = len(record["messages"])
        assert record["messages"] == whole["messages"][:count]
        assert {message["turnId"] for message in record["messages"]} == {first["turnId"], second["turnId"]}
        assert {event["chatId"] for event in record["events"]} == {fork["id"]}
        ends = [item["event"]["result"] for item in record["events"] if item["event"]["kind"] == "turn_ended"]
        assert [(end["chatId"], end["answer"]) for end in ends] == [(fork["id"], "one"), (fork["id"], "two")]
        newest = record["events"][-1]["seq"]

        await ask(client, chat_id, "and now? ORIGINALMARK")
        answered = await ask(client, fork["id"], "and now? FORKMARK")
        assert answered["answer"] == "in the fork"
        original, forked = (bare(vendor.messages[number].json) for number in (4, 5))
        assert original["system"] == forked["system"]
        shared = common(original["messages"], forked["messages"])
        beginning = json.dumps(forked["messages"][:shared])
        assert "FIRSTMARK" in beginning
        assert "SECONDMARK" in beginning
        assert "THIRDMARK" not in json.dumps(forked)
        assert shared >= len(forked["messages"]) - 1, "only its own question is new"
        missed = await client.request("codelaw/chat/read", {"chatId": fork["id"], "sinceSeq": newest})
        assert {event["turnId"] for event in missed["events"]} == {answered["turnId"]}
        assert missed["events"][0]["seq"] > newest
        await client.request("codelaw/chat/delete", {"chatId": chat_id})
    async with start() as client:
        await ask(client, fork["id"], "still there?")
        sent = json.dumps(vendor.messages[-1].json)
        assert all(mark in sent for mark in ("FIRSTMARK", "SECONDMARK", "FORKMARK", "FIRSTFILE"))


async def test_a_running_turn_is_not_forked_from_but_those_before_it_are(start: Start, vendor: LoopbackVendor):
    vendor.script = [VendorReply(text=finish("one")), VendorReply(text=finish("two"), wait=60)]
    async with start() as client:
        first = await ask(client, None, "first")
        chat_id = first["chatId"]
        _, future = await client.start("codelaw/chat/send", {"chatId": chat_id, "text": "second"})
        running = (await client.event("turn_started", text="second"))["turnId"]
        refused = await client.error("codelaw/chat/fork", {"chatId": chat_id, "turnId": running})
        assert (refused.code, refused.data["code"]) == (-32803, "chat_busy")
        assert refused.data["hint"]
        fork = await client.request("codelaw/chat/fork", {"chatId": chat_id, "turnId": first["turnId"]})
        assert (fork["turns"], fork["running"]) == (1, None)
        await client.request("codelaw/chat/cancel", {"chatId": chat_id})
        await client.wait_for(future)


async def test_what_a_turn_did_to_files_is_undone_in_the_original(start: Start, vendor: LoopbackVendor, root: Path):
    write = VendorReply(text=act("Write", '{"path": "new.txt", "content": "x"}'))
    vendor.script = [write, VendorReply(text=finish("ok"))]
    async with start(options={"permissions": {"default": "allow"}}) as client:
        done = await ask(client, None, "write it")
        turn = {"turnId": done["turnId"]}
        fork = await client.request("codelaw/chat/fork", {"chatId": done["chatId"], **turn})
        refused = await client.error("codelaw/chat/revert", {"chatId": fork["id"], **turn})
        assert refused.data["code"] == "nothing_to_undo"
        reverted = await client.request("codelaw/chat/revert", {"chatId": done["chatId"], **turn})
        assert len(reverted["reverted"]) == 1
        assert not (root / "new.txt").exists()


@pytest.mark.parametrize("form", ["markdown", "json"])
async def test_an_export_has_the_whole_chat_and_no_key(start: Start, vendor: LoopbackVendor, root: Path, form: str):
    (root / "a.py").write_text("FIRSTFILE = 1\n")
    vendor.script = [
        VendorReply(text=act("Read", '{"path": "a.py"}', "THOUGHTMARK")),
        VendorReply(text=finish("ANSWERMARK")),
    ]
    async with start() as client:
        done = await ask(client, None, f"QUESTIONMARK {NASTY} @a.py")
        reported = (await client.request("codelaw/chat/export", {"chatId": done["chatId"], "format": form}))["text"]
        assert all(mark in reported for mark in ("QUESTIONMARK", "THOUGHTMARK", "FIRSTFILE", "ANSWERMARK"))
        assert "SECRET" not in reported
        if form == "json":
            document = json.loads(reported)
            record = await client.request("codelaw/chat/read", {"chatId": done["chatId"]})
            assert [item["id"] for item in document["messages"]] == [item["id"] for item in record["messages"]]
            assert [item["seq"] for item in document["events"]] == [item["seq"] for item in record["events"]]
            refs = [item["metadata"]["ref"] for item in document["messages"] if item["metadata"]["ref"]]
            assert refs
            assert all(ref in document["results"] for ref in refs)
