"""A settings file that cannot be read, in every client over the real server: no turn begins until it is mended (S-1)."""

from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.pad import Pad, editing
from tests.lsp.raw import EVERYTHING, NOTHING, RawClient, RpcError
from tests.scenarios.conftest import Start, act, finish
from tests.scenarios.test_any_editor import span
from tests.scenarios.test_approvals import APPROVAL, QUIET, WRITE, bash, decisions, option

CANARY = "CANARYTEXT"
GOOD = '[permissions]\ndeny = ["Read(secret.txt)"]\n\n[[hooks.UserPromptSubmit]]\ncommand = "touch out/ran-hook"\n'
BROKEN = {
    "half typed": ("[permissions]\ndeny = [\n", 2, "the file is not TOML"),
    "a rule of no tool": (GOOD.replace("Read(", "Raed("), 2, "there is no tool Raed"),
}
FILES = ("user", "workspace")

Path_ = Callable[[RawClient, Path], Awaitable[Any]]


async def send(client: RawClient, _root: Path) -> Any:
    return await client.request("codelaw/chat/send", {"text": "look at @secret.txt"})


async def twin(client: RawClient, _root: Path) -> Any:
    return await client.command("codelaw.chat.send", {"text": "look at @secret.txt"})


async def chat_file(client: RawClient, root: Path) -> Any:
    pad = vars(client).get("pad")
    if pad is None:
        vars(client)["pad"] = pad = Pad(client, (root / "talk.chat.md").as_uri(), "## You\n\nlook at @secret.txt\n")
        await pad.show()
    elif "## codelaw" in pad.text:
        await pad.ended()
        await pad.type("And now?")
    asked = pad.text.count("## You")
    begun = await pad.send()
    await pad.ended(asked)
    return begun


async def action(client: RawClient, root: Path) -> Any:
    uri = await client.open(root / "calc.py", "x = 1\n")
    return await client.command("codelaw.editor.explain", {"uri": uri, "range": span(0, 1)})


async def edit(client: RawClient, root: Path) -> Any:
    uri = await client.open(root / "calc.py", "x = 1\n")
    return await client.command("codelaw.editor.edit", {"uri": uri, "range": span(0, 1), "text": "two"})


async def search(client: RawClient, _root: Path) -> Any:
    return await client.request("codelaw/search", {"query": "secret"})


async def rebuild(client: RawClient, _root: Path) -> Any:
    return await client.request("codelaw/index/rebuild", {})


async def commit_message(client: RawClient, _root: Path) -> Any:
    return await client.command("codelaw.editor.commitMessage", {})


async def restart_server(client: RawClient, _root: Path) -> Any:
    return await client.request("codelaw/mcp/restart", {"name": "any"})


CLIENTS: dict[str, tuple[Path_, dict[str, Any]]] = {
    "the panel or the terminal": (send, EVERYTHING),
    "an editor that knows nothing of codelaw": (twin, NOTHING),
    "a chat file": (chat_file, editing()),
    "a code action": (action, editing()),
    "an edit of a selection": (edit, editing()),
}
"""Every way in which a turn begins."""
OTHERS: dict[str, Path_] = {
    "search": search,
    "rebuild": rebuild,
    "commit message": commit_message,
    "a server of tools": restart_server,
}
"""What reads for somebody or runs something, and is no turn."""


@pytest.fixture(params=FILES)
def file(request: pytest.FixtureRequest, root: Path, home: Path) -> Path:
    (root / "secret.txt").write_text(CANARY)
    (root / ".codelaw").mkdir()
    (root / "out").mkdir()
    return home / "config.toml" if request.param == "user" else root / ".codelaw/config.toml"


def reported(client: RawClient) -> list[str]:
    return [params["message"] for params in client.params("window/showMessage") if params["type"] == 1]


def everything(vendor: LoopbackVendor) -> str:
    return json.dumps([message.json for message in vendor.messages])


async def refused(asked: Awaitable[Any]) -> RpcError:
    with pytest.raises(RpcError) as error:
        await asked
    assert error.value.code == -32803
    assert error.value.data["code"] == "settings_unreadable"
    return error.value


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("who", CLIENTS)
async def test_no_turn_begins_until_it_is_mended_and_then_the_last_good_one_stays(  # noqa: PLR0917
    start: Start, vendor: LoopbackVendor, root: Path, file: Path, who: str, how: str
):
    begin, capabilities = CLIENTS[who]
    text, line, said = BROKEN[how]
    file.write_text(text)
    vendor.reset([VendorReply(text=finish("ok"), times=0)])
    async with start(capabilities) as client:
        error = await refused(begin(client, root))
        assert f"{said}" in str(error.message)
        assert f"({file}, line {line})" in str(error.message)
        assert "Mend the file" in error.data["hint"]
        assert (await client.request("codelaw/chat/list", {}))["chats"] == [], "no chat is left behind"
        (message,) = reported(client)
        assert f"({file}, line {line}). No turn begins until this is mended." in message
        assert vendor.messages == []
        assert not (root / "out/ran-hook").exists()
        file.write_text(GOOD)
        begun = await begin(client, root)
        await ended(client, begun)
        assert (root / "out/ran-hook").exists() is (file.parent != root / ".codelaw"), "a workspace's need trust"
        file.write_text(text)
        await ended(client, await begin(client, root))
        assert "Until this is mended, what was read there before stays in force." in reported(client)[-1]
    assert len(vendor.messages) >= 2
    assert CANARY not in everything(vendor)


async def ended(client: RawClient, begun: Any) -> None:
    """Wait until a turn is over, whatever the client is told of it."""
    while (await client.request("codelaw/chat/read", {"chatId": begun["chatId"]}))["running"]:
        pass


@pytest.mark.parametrize("what", OTHERS)
async def test_nothing_is_searched_or_run_either(start: Start, root: Path, file: Path, what: str):
    file.write_text("[permissions")
    async with start() as client:
        await refused(OTHERS[what](client, root))


async def test_what_begins_nothing_goes_on(start: Start, vendor: LoopbackVendor, root: Path, file: Path):
    vendor.reset([VendorReply(text=finish("ok"), times=0)])
    file.write_text(GOOD)
    async with start() as client:
        chat = (await send(client, root))["chatId"]
        for _ in range(2):
            await client.request("codelaw/chat/send", {"chatId": chat, "text": "more"})
    hooks = file.parent / "ran-compaction"
    file.write_text(f'[[hooks.PreCompact]]\ncommand = "touch {hooks}"\n[permissions\n')
    async with start() as client:
        assert [one["id"] for one in (await client.request("codelaw/chat/list", {}))["chats"]] == [chat]
        assert len((await client.request("codelaw/chat/read", {"chatId": chat}))["messages"]) == 6
        assert (await client.request("codelaw/context/compact", {"chatId": chat}))["reason"]
        assert not hooks.exists()
        report = await client.request("codelaw/context/inspect", {"text": "what is in @secret.txt?"})
        assert CANARY not in json.dumps(report), "what is denied is not known"
        assert (await client.request("codelaw/context/mentions", {"prefix": "sec"}))["items"] == []
        await client.request("codelaw/memory/save", {"text": "The tests live in tests/."})
        assert len((await client.request("codelaw/memory/list", {}))["memories"]) == 1
        read = await client.request("codelaw/settings/read", {})
        assert [problem["code"] for problem in read["problems"]] == ["settings_unreadable"]
        assert [(fault["uri"], fault["line"]) for fault in read["faults"]] == [(file.as_uri(), 3)]
        await client.request("codelaw/chat/export", {"chatId": chat, "format": "markdown"})
        await client.request("codelaw/chat/delete", {"chatId": chat})
        await refused(send(client, root))


async def test_in_mid_chat_the_last_good_rules_hold_for_turns_and_for_subagents(
    start: Start, vendor: LoopbackVendor, root: Path, file: Path
):
    read = json.dumps({"path": "secret.txt"})
    file.write_text(GOOD)
    async with start() as client:
        vendor.reset([VendorReply(text=finish("ok"))])
        chat = (await client.request("codelaw/chat/send", {"text": "hi"}))["chatId"]
        file.write_text("[permissions")
        vendor.reset(
            [
                VendorReply(text=act("Read", read)),
                VendorReply(text=act("Task", json.dumps({"kind": "explore", "prompt": "look"}))),
                VendorReply(text=act("Read", read)),
                VendorReply(text=finish("nothing")),
                VendorReply(text=finish("ok")),
            ]
        )
        (root / "out/ran-hook").unlink(missing_ok=True)
        await client.request("codelaw/chat/send", {"chatId": chat, "text": "go"})
        assert len([made for made in decisions(client, chat) if made["rule"] == "Read(secret.txt)"]) == 2
        assert (root / "out/ran-hook").exists() is (file.parent != root / ".codelaw")
    assert CANARY not in everything(vendor)


async def test_who_goes_on_without_it_is_asked_about_every_write_and_command(
    start: Start, vendor: LoopbackVendor, root: Path, home: Path
):
    capabilities = copy.deepcopy(QUIET)
    write = [WRITE, VendorReply(text=finish("ok"))]
    async with start(QUIET) as client:
        vendor.reset(write)
        client.answers[APPROVAL] = option("allow_always")
        await client.request("codelaw/chat/send", {"text": "go"})
    hook = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}
    allows = {"PreToolUse": [{"command": f"echo '{json.dumps(hook)}'"}]}
    loose = {"permissions": {"allow": ["Edit", "Bash(echo:*)", "Write"], "default": "allow"}, "hooks": allows}
    (home / "config.toml").write_text("[permissions")
    (root / "new.txt").unlink()
    capabilities["experimental"]["codelaw"]["ignoreSettings"] = True
    async with start(capabilities, loose) as client:
        vendor.reset([WRITE, WRITE, bash("echo hi"), VendorReply(text=finish("ok"))])
        client.answers[APPROVAL] = {"cancelled": True}
        result = await client.request("codelaw/chat/send", {"text": "go"})
        made = decisions(client, result["chatId"])
        assert [one["action"] for one in made] == ["deny"] * 3
        asked = client.params(APPROVAL)
        assert [one["tool"] for one in asked][:2] == ["Write", "Write"]
        assert {choice["kind"] for one in asked for choice in one["options"]} <= {"allow_once", "reject"}
        assert "every write and command is asked" in reported(client)[0]
        vendor.reset(write)
        client.answers[APPROVAL] = option("allow_once")
        await client.request("codelaw/chat/send", {"text": "go"})
        (home / "config.toml").write_text("")
        vendor.reset(write)
        before = len(client.params(APPROVAL))
        await client.request("codelaw/chat/send", {"text": "go"})
        assert len(client.params(APPROVAL)) == before, "mended: what was allowed counts again"
