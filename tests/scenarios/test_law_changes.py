"""A law that changes while a chat goes on applies at the next step, and is announced (E-5, L-4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import RawClient
from tests.scenarios.conftest import Start, act, finish

BASH = '{"command": "true"}'


def reported(result: dict[str, Any]) -> list[str]:
    return [notice["message"] for notice in result["notices"] if notice["code"] == "law_changed"]


async def typed(client: RawClient, uri: str, version: int, text: str) -> None:
    await client.notify(
        "textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]}
    )


async def test_an_unsaved_edit_in_mid_turn_applies_at_the_next_step_and_is_told_once(
    start: Start, vendor: LoopbackVendor, root: Path
):
    path = root / "CODE_LAW.md"
    path.write_text("- OLDMARK rule\n- a second rule\n")
    vendor.script = [
        VendorReply(text=act("Bash", BASH)),
        VendorReply(text=act("LS", "{}")),
        VendorReply(text=finish("one")),
        VendorReply(text=finish("two")),
        VendorReply(text=finish("three")),
    ]
    async with start() as client:
        uri = await client.open(path, path.read_text(), 1)

        async def approve(params: dict[str, Any]) -> dict[str, str]:
            # The user edits the law while the question stands; nothing is saved.
            await typed(client, uri, 2, "- NEWMARK rule\n- a second rule\n- a third rule\n")
            return {"optionId": params["options"][0]["id"]}

        client.answers["codelaw/approval/request"] = approve
        first = await client.request("codelaw/chat/send", {"text": "go"})
        (message,) = reported(first)
        assert message.startswith("CODE_LAW.md has changed, +2 -1 lines, now about ")
        assert message.endswith(" tokens. It applies from this step on.")
        (event,) = [e["event"] for e in client.events() if e["event"].get("code") == "law_changed"]
        assert (event["step"], event["level"]) == (2, "info")
        laws = [json.dumps(request.json["system"]) for request in vendor.messages]
        assert ["OLDMARK" in law for law in laws] == [True, False, False]
        assert ["NEWMARK" in law for law in laws] == [False, True, True]
        assert path.read_text().startswith("- OLDMARK"), "never saved"

        chat = {"chatId": first["chatId"]}
        assert reported(await client.request("codelaw/chat/send", {**chat, "text": "again"})) == []
        await client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        path.unlink()
        last = await client.request("codelaw/chat/send", {**chat, "text": "and now"})
        assert reported(last) == ["CODE_LAW.md is gone. It applies from this step on."]
        assert "rule" not in json.dumps(vendor.messages[-1].json["system"][1:])


async def test_a_client_without_events_finds_it_in_its_log(start: Start, vendor: LoopbackVendor, root: Path):
    path = root / "CODE_LAW.md"
    path.write_text("- one\n")
    vendor.script = [VendorReply(text=finish("ok"), times=0)]
    async with start({}) as client:
        begun = await client.command("codelaw.chat.send", {"text": "go"})
        await client.method("window/showMessage")  # the answer
        path.with_suffix(".new").write_text("- two\n")
        path.with_suffix(".new").replace(path)  # in one step: nobody finds it empty
        await client.request("codelaw/chat/send", {"chatId": begun["chatId"], "text": "go on"})
        logged = await client.method("window/logMessage")
        assert logged["message"].startswith("codelaw: CODE_LAW.md has changed, +1 -1 lines")
        assert not any("CODE_LAW" in params["message"] for params in client.params("window/showMessage"))
