"""Hooks over the wire: trusted files, cancels, processes, the terminal's line (X-7, S-3, S-7)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import RawClient
from tests.scenarios.conftest import Start, act, finish
from tests.scenarios.test_approvals import APPROVAL, QUIET, option
from tests.scenarios.test_ends import until

HOOKS = '[[hooks.UserPromptSubmit]]\ncommand = "touch ran-theirs"\n'
MINE = {"hooks": {"UserPromptSubmit": [{"command": "touch ran-mine"}]}}


def theirs(root: Path, text: str = HOOKS) -> None:
    (root / ".codelaw").mkdir(exist_ok=True)
    (root / ".codelaw/config.toml").write_text(text)


def ran(root: Path) -> set[str]:
    return {path.name for path in root.glob("ran-*")}


async def trust(client: RawClient, root: Path) -> None:
    (file,) = (await client.request("codelaw/workspace/settings", {}))["files"]
    wanted = {"folder": str(root), "trusted": True, "digest": file["digest"]}
    assert await client.request("codelaw/workspace/trust", wanted) == {"trusted": True}


async def test_a_workspace_has_hooks_when_it_is_trusted_with_just_them(
    start: Start, vendor: LoopbackVendor, root: Path
):
    theirs(root)
    vendor.reset([VendorReply(text=finish("ok"), times=0)])
    async with start(QUIET, MINE) as client:
        client.answers["window/showMessageRequest"] = {"title": "Not now"}
        question = await client.method("window/showMessageRequest")
        assert 'hooks.UserPromptSubmit = [{"command": "touch ran-theirs"}]' in question["message"]
        await client.request("codelaw/chat/send", {"text": "go"})
        assert ran(root) == {"ran-mine"}
        await trust(client, root)
        (root / "ran-mine").unlink()
        await client.request("codelaw/chat/send", {"text": "go"})
        assert ran(root) == {"ran-mine", "ran-theirs"}, "theirs are added, and take none of mine away"
        for name in ran(root):
            (root / name).unlink()
        theirs(root, HOOKS.replace("theirs", "others"))
        await client.notify(
            "workspace/didChangeWatchedFiles",
            {"changes": [{"uri": (root / ".codelaw/config.toml").as_uri(), "type": 2}]},
        )
        await client.until(lambda message: "ran-others" in json.dumps(message))
        await client.request("codelaw/chat/send", {"text": "go"})
        assert ran(root) == {"ran-mine"}, "a change asks again"


async def test_the_editors_distrust_switches_off_all_hooks(start: Start, vendor: LoopbackVendor, root: Path):
    theirs(root)
    vendor.reset([VendorReply(text=finish("ok"), times=0)])
    async with start(QUIET, MINE) as client:
        client.answers["window/showMessageRequest"] = {"title": "Not now"}
        await trust(client, root)
        await client.notify("codelaw/workspace/editorTrust", {"trusted": False})
        await client.request("codelaw/chat/send", {"text": "go"})
        assert ran(root) == set()
        assert all(event["event"]["kind"] != "hook" for event in client.events())


async def test_a_cancel_ends_a_hook_with_all_that_it_started(start: Start, vendor: LoopbackVendor, root: Path):
    hook = "sleep 71.3 & sleep 71.3"
    options: dict[str, Any] = {
        "hooks": {"PreToolUse": [{"command": hook}]},
        "tools": {"bash": {"sandbox": "off"}},
    }
    (root / "a.py").write_text("x = 1\n")
    vendor.reset([VendorReply(text=act("Read", json.dumps({"path": "a.py"})), times=0)])
    async with start(QUIET, options) as client:
        _, future = await client.start("codelaw/chat/send", {"text": "go"})
        event = await client.event("hook", status="running")
        await until(lambda: len(_named("71.3")) >= 2)
        await client.request("codelaw/chat/cancel", {"chatId": event["chatId"]})
        assert (await client.wait_for(future))["result"]["stopReason"] == "cancelled"
        await until(lambda: not _named("71.3"))


async def test_without_a_sandbox_an_allow_lets_no_command_run(start: Start, vendor: LoopbackVendor, root: Path):
    options: dict[str, Any] = {
        "hooks": {"PreToolUse": [{"command": 'printf \'{"permissionDecision": "allow"}\''}]},
        "tools": {"bash": {"sandbox": "off"}},
    }
    vendor.reset([VendorReply(text=act("Bash", json.dumps({"command": "touch made"}))), VendorReply(text=finish("ok"))])
    async with start(QUIET, options) as client:
        client.answers[APPROVAL] = option("reject")
        await client.request("codelaw/chat/send", {"text": "go"})
        assert len(client.params(APPROVAL)) == 1
        assert not (root / "made").exists()


def _named(word: str) -> list[str]:
    """Processes with that word on their command line that are not a shell's."""
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", word.encode()]:
            found.append(entry.parent.name)
    return found
