"""Files that other programs obey, over the real server: asked about every time, whatever is allowed (S-8)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.scenarios.conftest import Start, act, finish

APPROVAL = "codelaw/approval/request"
LOOSE = {"permissions": {"allow": ["Edit(**)", "Edit", "Bash", "Bash(touch:*)"], "default": "allow"}}


def call(tool: str, **arguments: Any) -> VendorReply:
    return VendorReply(text=act(tool, json.dumps(arguments)))


def option(kind: str) -> Any:
    return lambda params: {"optionId": next(one["id"] for one in params["options"] if one["kind"] == kind)}


@pytest.fixture(autouse=True)
def folder(root: Path) -> None:
    (root / ".vscode").mkdir()
    (root / "notes.txt").symlink_to(".vscode/tasks.json")


@pytest.mark.parametrize("path", [".vscode/tasks.json", "notes.txt", "sub/.ENVRC", "HEAD"])
async def test_a_file_tool_asks_every_time(start: Start, vendor: LoopbackVendor, root: Path, path: str):
    vendor.script = [
        call("Write", path="plain.txt", content="x"),
        call("Write", path=path, content="one"),
        call("Write", path=path.replace("tasks", "other").replace("notes.txt", "sub/../.vscode/x"), content="two"),
        VendorReply(text=finish("ok")),
    ]
    async with start(options=LOOSE) as client:
        client.answers[APPROVAL] = option("reject")
        await client.request("codelaw/chat/send", {"text": "go"})
        asked = client.params(APPROVAL)
    assert (root / "plain.txt").read_text() == "x"
    assert len(asked) == 2
    for question in asked:
        assert question["alwaysAsked"] is True
        assert [one["kind"] for one in question["options"]] == ["allow_once", "reject"]
    assert sorted(one.name for one in root.iterdir() if one.name not in {".git", "src"})[:2] == [".vscode", "notes.txt"]
    assert list((root / ".vscode").iterdir()) == []


@pytest.mark.needs("bwrap")
async def test_a_command_that_was_allowed_is_asked_once(start: Start, vendor: LoopbackVendor, root: Path):
    vendor.script = [
        call("Bash", command="echo x > .envrc && echo y > .vscode/tasks.json"),
        VendorReply(text=finish("ok")),
    ]
    async with start(options=LOOSE) as client:
        client.answers[APPROVAL] = option("allow_once")
        await client.request("codelaw/chat/send", {"text": "go"})
        assert len(client.params(APPROVAL)) == 1
    assert (root / ".envrc").read_text() == "x\n"
    assert (root / ".vscode/tasks.json").read_text() == "y\n"


@pytest.mark.needs("bwrap")
async def test_what_the_allowed_command_did_not_name_is_asked_about_and_on_record(
    start: Start, vendor: LoopbackVendor, root: Path
):
    (root / "make.sh").write_text("echo x > .exrc && echo y > .mcp.json\n")
    vendor.script = [
        call("Bash", command="echo x > .envrc && sh make.sh"),
        VendorReply(text=finish("ok")),
    ]
    async with start(options=LOOSE) as client:
        client.answers[APPROVAL] = option("allow_once")
        sent = await client.request("codelaw/chat/send", {"text": "go"})
        titles = [one["title"] for one in client.params(APPROVAL)]
        audit = await client.request("codelaw/permission/audit", {"chatId": sent["chatId"]})
    assert titles[1:] == ["Bring back .exrc, .mcp.json, which the command has made"]
    assert (root / ".envrc").read_text() == (root / ".exrc").read_text() == "x\n"
    assert (root / ".mcp.json").read_text() == "y\n"
    entries = [(one["kind"], one["detail"]) for one in audit["entries"]]
    assert any(kind == "violation" and detail.startswith(".exrc is ") for kind, detail in entries)
    assert any(kind == "call" and detail.startswith("To bring back .exrc, .mcp.json\n") for kind, detail in entries)


@pytest.mark.needs("bwrap")
async def test_what_a_setting_keeps_no_approval_opens(start: Start, vendor: LoopbackVendor, root: Path):
    (root / ".envrc").write_text("as it was")
    vendor.script = [call("Bash", command="echo x > .envrc"), VendorReply(text=finish("ok"))]
    kept = {**LOOSE, "tools": {"bash": {"readOnly": [".envrc"]}}}
    async with start(options=kept) as client:
        client.answers[APPROVAL] = option("allow_once")
        await client.request("codelaw/chat/send", {"text": "go"})
        assert len(client.params(APPROVAL)) == 1
    assert (root / ".envrc").read_text() == "as it was"
