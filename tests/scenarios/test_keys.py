"""Known keys, whoever says them: they reach no store, event, export or request (S-5). Over the real server."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import RawClient, stdio
from tests.scenarios.conftest import act, finish
from tests.scenarios.test_approvals import APPROVAL, option

KEY = "k3y-AbC-9f8e7d6c5b4a"
"""The model's."""
TOKEN = "t0k-XyZ-1a2b3c4d5e6f"
"""In the server's environment."""
FIXTURE = f"sk-ant-api03-{'aB3_' * 8}"
"""Of a test in the workspace, and of nobody."""
MODEL, OURS = "[redacted: model key]", "[redacted: DEPLOY_TOKEN]"

Open = Callable[..., AbstractAsyncContextManager[RawClient]]


@pytest.fixture
def work(vendor: LoopbackVendor, home: Path, server: list[str], root: Path) -> Open:
    @asynccontextmanager
    async def started(**settings: Any) -> AsyncIterator[RawClient]:
        model = {"baseUrl": vendor.url, "apiKey": KEY, "name": "claude-sonnet-4-5", **settings}
        env = {**os.environ, "CODELAW_HOME": str(home), "DEPLOY_TOKEN": TOKEN}
        async with stdio(server, env=env) as client:
            await client.initialize(None, folders=[root], options={"model": model})
            client.answers[APPROVAL] = option("allow_once")
            yield client

    return started


@pytest.fixture(autouse=True)
def project(root: Path) -> None:
    (root / ".env").write_text(f"DEBUG=1\nMODEL_KEY={KEY}\nTOKEN={TOKEN}\nAPI={FIXTURE}\n")
    (root / "test_api.py").write_text(f"KEY = '{FIXTURE}'\nOTHER = 1\n")


def clean(client: RawClient, vendor: LoopbackVendor, home: Path, *more: str) -> None:
    """Nothing that left the server, and nothing that it keeps, holds a known key."""
    places = {"events": json.dumps(client.messages), "requests": json.dumps([sent.json for sent in vendor.messages])}
    places |= {f"more {number}": text for number, text in enumerate(more)}
    kept = [path for path in home.rglob("*") if path.is_file()]
    assert kept
    for name, text in places.items():
        assert KEY not in text, name
        assert TOKEN not in text, name
    for path in kept:
        content = path.read_bytes()
        assert KEY.encode() not in content, path
        assert TOKEN.encode() not in content, path


def call(tool: str, **arguments: Any) -> VendorReply:
    return VendorReply(text=act(tool, json.dumps(arguments)))


async def results(client: RawClient, chat_id: str) -> list[dict[str, Any]]:
    read = await client.request("codelaw/chat/read", {"chatId": chat_id})
    return [json.loads(message["content"]) for message in read["messages"] if message["role"] == "tool"]


@pytest.mark.parametrize("dialect", ["react", "native"])
async def test_a_key_that_is_echoed_read_found_or_pasted_stays_nowhere(
    work: Open, vendor: LoopbackVendor, root: Path, home: Path, dialect: str
):
    def does(tool: str, **arguments: Any) -> VendorReply:
        if dialect == "react":
            return call(tool, **arguments)
        return VendorReply(text=f"I have {KEY}", calls=[{"name": tool, "input": arguments}])

    answer = f"The key is {KEY}, the token {TOKEN}."
    (root / "CODE_LAW.md").write_text(f"Never print {KEY}.\n")
    vendor.script = [
        does("Bash", command="cat .env; echo oops >&2; cat .env >&2"),
        does("Read", path=".env"),
        does("Grep", pattern="KEY"),
        does("Edit", path=".env", old_string="DEBUG=1", new_string="DEBUG=0"),
        does("Bash", command=f"echo {KEY}"),
        VendorReply(text=finish(answer) if dialect == "react" else answer, thinking=f"hm {TOKEN}"),
        VendorReply(text=finish("again") if dialect == "react" else "again"),
    ]
    async with work(dialect=dialect) as client:
        pasted = {"text": f"My key is {KEY}\nand the token {TOKEN}", "attachments": [{"uri": (root / ".env").as_uri()}]}
        sent = await client.request("codelaw/chat/send", pasted)
        assert sent["answer"] == f"The key is {MODEL}, the token {OURS}."
        assert [notice["code"] for notice in sent["notices"]] == ["key_redacted"]
        deltas = [event["event"] for event in client.events(sent["chatId"]) if event["event"]["kind"] == "answer"]
        assert "".join(one["delta"] for one in deltas if one["step"] == sent["steps"]) == sent["answer"]
        await client.request("codelaw/chat/send", {"chatId": sent["chatId"], "text": "and again"})
        seen = await results(client, sent["chatId"])
        for body in (seen[0]["data"]["stdout"], seen[1]["data"]["content"]):
            assert MODEL in body
            assert OURS in body
            assert "[redacted: anthropic key]" in body, "in such a file, and from a command, the shape counts"
        assert "your own" not in json.dumps(seen[4])
        assert seen[4]["error"]["code"] == "INVALID_PARAM", "a mark is not run"
        exports = [
            (await client.request("codelaw/chat/export", {"chatId": sent["chatId"], "format": form}))["text"]
            for form in ("markdown", "json")
        ]
        assert MODEL in exports[0]
        assert FIXTURE not in "".join(exports)
        report = json.dumps(await client.request("codelaw/context/inspect", {"chatId": sent["chatId"]}))
        assert f"DEBUG=0\nMODEL_KEY={KEY}" in (root / ".env").read_text(), "the file keeps its key"
        clean(client, vendor, home, *exports)
        assert MODEL in report
        turn = sent["turnId"]
        undone = await client.request("codelaw/chat/revert", {"chatId": sent["chatId"], "turnId": turn})
        assert undone["conflicts"] == []
        assert f"DEBUG=1\nMODEL_KEY={KEY}" in (root / ".env").read_text(), "an undo writes the key, and no mark"
        clean(client, vendor, home)


async def test_a_model_that_says_a_key_in_pieces_of_any_size(work: Open, vendor: LoopbackVendor, home: Path):
    said = f"{KEY[:9]}{KEY} and {KEY}{TOKEN}. {TOKEN[:-1]}"
    expected = f"{KEY[:9]}{MODEL} and {MODEL}{OURS}. {TOKEN[:-1]}"
    async with work() as client:
        for size in range(1, len(KEY) + 4):
            reply = f"Thought: {said}\nAction: Finish[{said}]"
            vendor.reset([VendorReply(text=reply, thinking=said, chunk=size)])
            mark = len(client.messages)
            sent = await client.request("codelaw/chat/send", {"text": "go"})
            assert sent["answer"] == expected, size
            events = [one["event"] for one in client.events(sent["chatId"])]
            reported = {
                kind: "".join(one["delta"] for one in events if one["kind"] == kind) for kind in ("thought", "answer")
            }
            assert reported["answer"] == expected, size
            assert reported["thought"].count(expected) == 2, size
            assert mark < len(client.messages)
        clean(client, vendor, home)


@pytest.mark.parametrize("how", ["max_tokens", "reset"])
async def test_a_reply_that_is_cut_inside_a_key_never_joins_to_one(
    work: Open, vendor: LoopbackVendor, home: Path, how: str
):
    whole = finish(f"It is {KEY}, truly.")
    place = whole.index(KEY)
    async with work() as client:
        for cut in range(place, place + len(KEY) + 1, 3):
            first, rest = whole[:cut], whole[cut:]
            if how == "max_tokens":
                replies = [VendorReply(text=first, stop_reason="max_tokens")]
            else:
                replies = [VendorReply(text=first + first, chunk=len(first), broken="reset")]
            # What is gone on with is what was told: a model repeats the beginning that it is not shown.
            vendor.reset([*replies, VendorReply(text=rest), VendorReply(text=finish("ok"), times=0)])
            sent = await client.request("codelaw/chat/send", {"text": "go"})
            assert sent["stopReason"] == "finished", cut
        clean(client, vendor, home)


async def test_a_mark_is_neither_written_nor_taken_for_the_text(
    work: Open, vendor: LoopbackVendor, root: Path, home: Path
):
    (root / "manual.md").write_text(f"It shows {MODEL} then.\n")
    before = (root / ".env").read_text()
    vendor.script = [
        call("Read", path=".env"),
        call("Edit", path=".env", old_string=f"MODEL_KEY={MODEL}", new_string="MODEL_KEY=x"),
        call("Edit", path=".env", old_string="DEBUG=1", new_string=f"DEBUG={OURS}"),
        call("Write", path=".env", content=f"MODEL_KEY={MODEL}\n"),
        call("Write", path="other.env", content=f"MODEL_KEY={MODEL}\n"),
        call("Edit", path=".env", old_string="DEBUG=1\n", new_string="DEBUG=2\n"),
        call("Read", path="manual.md"),
        call("Edit", path="manual.md", old_string=f"It shows {MODEL} then.", new_string=f"You see {MODEL} then."),
        VendorReply(text=finish("ok")),
    ]
    async with work() as client:
        sent = await client.request("codelaw/chat/send", {"text": "go"})
        seen = await results(client, sent["chatId"])
        refused = [one["error"]["code"] for one in seen[1:5]]
        assert refused == ["INVALID_PARAM"] * 4
        assert "stands for a key" in seen[1]["error"]["message"]
        assert [one["status"] for one in seen[5:]] == ["success"] * 3
        clean(client, vendor, home)
    assert (root / ".env").read_text() == before.replace("DEBUG=1", "DEBUG=2")
    assert not (root / "other.env").exists()
    assert (root / "manual.md").read_text() == f"You see {MODEL} then.\n"
