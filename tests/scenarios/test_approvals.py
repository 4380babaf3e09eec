"""Questions to the user over the real server, whatever the client makes of them; grants, and trust (S-1 to S-3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import EVERYTHING, NO_ANSWER, RawClient, RpcError
from tests.scenarios.conftest import Start, act, finish

APPROVAL = "codelaw/approval/request"
WRITE = VendorReply(text=act("Write", '{"path": "new.txt", "content": "hi"}'))


def bash(command: str) -> VendorReply:
    return VendorReply(text=act("Bash", json.dumps({"command": command})))


def option(kind: str) -> Any:
    return lambda params: {"optionId": next(one["id"] for one in params["options"] if one["kind"] == kind)}


def decisions(client: RawClient, chat_id: str) -> list[dict[str, Any]]:
    found = [event["event"] for event in client.events(chat_id) if event["event"]["kind"] == "tool_call"]
    return [event["decision"] for event in found if event["status"] in ("completed", "rejected", "failed")]


async def test_a_stock_client_that_answers_nonsense_refuses(start: Start, vendor: LoopbackVendor, root: Path):
    answers = [
        None,
        {"title": "Allow everything"},
        {"title": 1},
        [],
        "Allow once",
        RpcError({"code": 1, "message": ""}),
    ]
    async with start({"experimental": {"codelaw": {"events": {}}}}) as client:
        for answer in answers:
            vendor.reset([WRITE, VendorReply(text=finish("ok"))])
            client.answers["window/showMessageRequest"] = answer
            result = await client.request("codelaw/chat/send", {"text": "go"})
            assert decisions(client, result["chatId"])[0]["rule"] == "dismissed", answer
    assert not (root / "new.txt").exists()


async def test_a_client_that_answers_twice_is_heard_once(start: Start, vendor: LoopbackVendor, root: Path):
    vendor.script = [WRITE, bash("echo x > second.txt"), VendorReply(text=finish("ok"))]
    async with start() as client:
        client.answers[APPROVAL] = NO_ANSWER
        _, future = await client.start("codelaw/chat/send", {"text": "go"})

        async def asked(number: int) -> dict[str, Any]:
            def found() -> list[dict[str, Any]]:
                return [message for message in client.messages if message.get("method") == APPROVAL]

            await client.until(lambda _: len(found()) >= number)
            return found()[number - 1]

        first = await asked(1)
        reject = {"jsonrpc": "2.0", "id": first["id"], "result": option("reject")(first["params"])}
        allow = {"jsonrpc": "2.0", "id": first["id"], "result": option("allow_once")(first["params"])}
        await client.send(reject)
        await client.send(allow)
        second = await asked(2)
        await client.send(allow)  # long after it was settled
        await client.send({"jsonrpc": "2.0", "id": second["id"], "result": option("reject")(second["params"])})
        result = (await client.wait_for(future))["result"]
        assert [one["action"] for one in decisions(client, result["chatId"])] == ["deny", "deny"]
    assert not (root / "new.txt").exists()
    assert not (root / "second.txt").exists()


async def test_a_client_that_is_gone_while_it_is_asked_has_refused(start: Start, vendor: LoopbackVendor, root: Path):
    vendor.script = [WRITE]
    async with start() as client:
        client.answers[APPROVAL] = NO_ANSWER
        await client.start("codelaw/chat/send", {"text": "go"})
        waiting = await client.event("tool_call", status="awaiting_approval")
        client.writer.close()
        assert client.process is not None
        await client.process.wait()
    vendor.reset([VendorReply(text=finish("back"))])
    async with start() as client:
        record = await client.request("codelaw/chat/read", {"chatId": waiting["chatId"]})
        assert record["running"] is None
        sent = await client.request("codelaw/chat/send", {"chatId": waiting["chatId"], "text": "again"})
        assert sent["answer"] == "back"
    assert not (root / "new.txt").exists()


async def test_grants_for_always_outlive_the_server_and_reach_others(start: Start, vendor: LoopbackVendor, root: Path):
    write = [VendorReply(text=act("Write", '{"path": "src/a.txt", "content": "a"}')), VendorReply(text=finish("x"))]
    vendor.script = write
    async with start() as other:
        vendor_of_other = await other.request("codelaw/permission/list", {})
        assert vendor_of_other["grants"] == []
        async with start() as client:
            client.answers[APPROVAL] = option("allow_always")
            await client.request("codelaw/chat/send", {"text": "go"})
        (root / "src/a.txt").unlink()
        vendor.reset([*write, *write])
        other.answers[APPROVAL] = option("reject")
        sent = await other.request("codelaw/chat/send", {"text": "there too"})
        assert [one["source"] for one in decisions(other, sent["chatId"])] == ["grant"]
        (root / "src/a.txt").unlink()
        async with start() as client:
            grant = (await client.request("codelaw/permission/list", {}))["grants"][0]
            await client.request("codelaw/permission/revoke", {"id": grant["id"]})
            refused = await client.error("codelaw/permission/revoke", {"id": grant["id"]})
            assert (refused.code, refused.data["code"]) == (-32803, "grant_not_found")
        sent = await other.request("codelaw/chat/send", {"text": "and now?"})
        assert [one["source"] for one in decisions(other, sent["chatId"])] == ["user"]
    assert not (root / "src/a.txt").exists()


QUIET = {**EVERYTHING, "workspace": {**EVERYTHING["workspace"], "configuration": False}}

# -------------------------------------------------------------------------------------------------------- sandbox


@pytest.mark.needs("bwrap")
async def test_a_change_of_the_sandbox_counts_from_the_next_turn(
    start: Start, vendor: LoopbackVendor, root: Path, home: Path, tmp_path: Path
):
    (tmp_path / "outside").mkdir()
    outside = tmp_path / "outside/x"
    command = f"until [ -e go ]; do sleep 0.02; done; echo x > {outside}; echo done"
    vendor.script = [bash(command), VendorReply(text=finish("ok"))] * 2
    options = {"permissions": {"default": "allow"}}
    async with start(QUIET, options) as client:
        client.answers[APPROVAL] = option("allow_once")
        _, future = await client.start("codelaw/chat/send", {"text": "go"})
        running = await client.event("tool_call", status="running")
        assert running["event"]["decision"]["source"] == "default"
        settings = {"codelaw": {"tools": {"bash": {"sandbox": "off"}}}}
        await client.notify("workspace/didChangeConfiguration", {"settings": settings})
        (root / "go").touch()
        first = (await client.wait_for(future))["result"]
        assert not outside.exists()
        asked = len(client.params(APPROVAL))
        await client.request("codelaw/chat/send", {"chatId": first["chatId"], "text": "again"})
        assert outside.read_text() == "x\n"
        assert len(client.params(APPROVAL)) == asked + 1, "without a sandbox, a blanket permission does not count"
