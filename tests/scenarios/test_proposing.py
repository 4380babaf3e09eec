"""Edits of a selection and messages of commits: turns that propose, over the real server (E-3)."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.pad import Pad, editing
from tests.lsp.raw import RawClient, RpcError
from tests.scenarios.conftest import Start, act, finish
from tests.scenarios.test_any_editor import CODE, span

GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
SUM = "It needs `operator`.\n\n```py\ndef add(a, b):\n    return a + b\n```"


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    done = subprocess.run(["git", *who, *arguments], cwd=root, env=GIT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def showing() -> dict[str, Any]:
    """Capabilities of a client that shows proposals by itself."""
    made = copy.deepcopy(editing())
    made["experimental"] = {"codelaw": {"events": {}, "approvals": {}, "editor": {"proposals": {}}}}
    return made


async def opened(client: RawClient, root: Path, text: str = CODE) -> Pad:
    pad = Pad(client, (root / "calc.py").as_uri(), text)
    await pad.show()
    return pad


async def edit(client: RawClient, pad: Pad, first: int, last: int, **more: Any) -> Any:
    asked = {"uri": pad.uri, "range": span(first, last), "text": "make it add"} | more
    return await client.command("codelaw.editor.edit", asked)


def _answers(sent: dict[str, Any]) -> bool:
    return sent.get("method") == "codelaw/chat/event" and sent["params"]["event"]["kind"] == "answer"


def question(vendor: LoopbackVendor) -> str:
    """All that the user's side says in the newest request."""
    messages = [one for one in vendor.messages[-1].json["messages"] if one["role"] == "user"]
    return "\n".join(part["text"] for message in messages for part in message["content"] if "text" in part)


async def test_an_edit_of_a_selection_is_proposed_and_changes_nothing(start: Start, vendor: LoopbackVendor, root: Path):
    vendor.play(
        VendorReply(text=act("Write", '{"path": "new.py", "content": "x"}')),
        VendorReply(text=finish(SUM)),
        VendorReply(text=finish("```\ndef add(*all):\n    return sum(all)\n```")),
    )
    async with start(showing()) as client:
        pad = await opened(client, root)
        turn = await edit(client, pad, 3, 5, version=1)
        proposal = await client.command("codelaw.editor.proposal", turn)
        assert proposal == {
            "stopReason": "finished",
            "lines": ["def add(a, b):", "    return a + b"],
            "said": "It needs `operator`.",
            "first": 3,
            "before": ["def add(a, b):", "    return a - b  # 🦊"],
        }
        assert (pad.text, pad.edits) == (CODE, [])
        assert not (root / "new.py").exists(), "the turn only reads"
        asked = question(vendor)
        assert "Change lines 4–5 of calc.py like this: make it add" in asked
        assert 'path="calc.py" lines="4-5" version="1">\ndef add(a, b):\n    return a - b  # 🦊' in asked
        assert 'lines="1-3"' in asked
        assert 'lines="6-10"' in asked, "what stands around goes along"

        again = await edit(client, pad, 3, 5, chatId=turn["chatId"], text="take any number")
        assert again["chatId"] == turn["chatId"]
        second = await client.command("codelaw.editor.proposal", again)
        assert second["lines"][1] == "    return sum(all)"
        assert (await client.command("codelaw.editor.proposal", turn))["lines"] == proposal["lines"]
        chat = (await client.request("codelaw/chat/list", {}))["chats"][0]
        assert (chat["kind"], chat["mode"]) == ("inline", "agent"), "who opens the chat goes on as usual"


@pytest.mark.parametrize("mode", ["plan", "ask"])
async def test_an_edit_that_goes_on_with_a_chat_leaves_it_its_mode(
    start: Start, vendor: LoopbackVendor, root: Path, mode: str
):
    write = act("Write", '{"path": "new.py", "content": "x"}')
    vendor.play(VendorReply(text=finish("Hello.")), VendorReply(text=write), VendorReply(text=finish(SUM)))
    async with start(showing()) as client:
        chat_id = (await client.request("codelaw/chat/send", {"text": "Hello", "mode": mode}))["chatId"]
        pad = await opened(client, root)
        turn = await edit(client, pad, 3, 5, chatId=chat_id)
        assert (await client.command("codelaw.editor.proposal", turn))["lines"]
        assert not (root / "new.py").exists(), "the turn only reads"
        assert (await client.request("codelaw/chat/list", {}))["chats"][0]["mode"] == mode


async def test_an_edit_that_is_cancelled_or_answers_without_a_block_proposes_nothing(
    start: Start, vendor: LoopbackVendor, root: Path
):
    vendor.play(VendorReply(text=finish("It is right as it is.")), VendorReply(text=finish("word " * 2000), delay=0.01))
    async with start(showing()) as client:
        pad = await opened(client, root)
        kept = await client.command("codelaw.editor.proposal", await edit(client, pad, 3, 5))
        assert (kept["said"], "lines" in kept) == ("It is right as it is.", False)

        turn = await edit(client, pad, 3, 5)
        await client.until(lambda one: one.get("params", {}).get("turnId") == turn["turnId"] and _answers(one))
        waiting = asyncio.ensure_future(client.command("codelaw.editor.proposal", turn))
        assert (await client.request("codelaw/chat/cancel", {"chatId": turn["chatId"]}))["cancelled"]
        stopped = await waiting
        assert (stopped["stopReason"], "lines" in stopped) == ("cancelled", False)


async def test_what_cannot_be_edited_is_refused_before_a_model_is_asked(
    start: Start, vendor: LoopbackVendor, root: Path
):
    async with start(showing(), {"permissions": {"deny": ["Read(calc.py)"]}}) as client:
        pad = await opened(client, root)
        with pytest.raises(RpcError, match="permission rule"):
            await edit(client, pad, 3, 5)
        with pytest.raises(RpcError, match="has changed"):
            await edit(client, pad, 3, 5, version=7)
        other = Pad(client, (root / "other.py").as_uri(), CODE)
        await other.show()
        for lines in ((100, 101), (5, 3)):
            with pytest.raises(RpcError, match="no such lines"):
                await edit(client, other, *lines)
        with pytest.raises(RpcError, match="not open"):
            await edit(client, pad, 0, 1, uri=(root / "closed.py").as_uri())
        long = Pad(client, (root / "long.py").as_uri(), "x = 1\n" * 3000)
        await long.show()
        with pytest.raises(RpcError, match="characters are selected"):
            await edit(client, long, 0, 3000)
        with pytest.raises(RpcError, match="turn_not_found"):
            await client.command("codelaw.editor.proposal", {"chatId": "c", "turnId": "t"})
    assert vendor.messages == []


async def test_an_editor_that_knows_nothing_of_proposals_asks_and_makes_the_change(
    start: Start, vendor: LoopbackVendor, root: Path
):
    vendor.play(*[VendorReply(text=finish(SUM))] * 3)
    asked: list[dict[str, Any]] = []
    answers = ["Accept", "Reject", "Accept"]
    async with start(editing()) as client:

        async def answer(params: dict[str, Any]) -> Any:
            asked.append(params)
            if len(asked) == 1:
                await pad.type("# typed meanwhile\n", at=0)
            if len(asked) == 3:
                await pad.type(" # mine", after="return a - b")
            return next(action for action in params["actions"] if action["title"] == answers[len(asked) - 1])

        client.answers["window/showMessageRequest"] = answer
        pad = await opened(client, root)
        await edit(client, pad, 3, 5)
        text = await pad.until("a + b")
        assert text == "# typed meanwhile\n" + CODE.replace("a - b  # 🦊", "a + b")
        message = asked[0]["message"]
        assert "Edit calc.py:4-5" in message
        assert "-    return a - b  # 🦊\n+    return a + b" in message
        assert len(pad.edits) == 1, "one step to undo"

        other = await opened(client, root, CODE)
        pad = other
        await edit(client, pad, 3, 5)
        async with asyncio.timeout(120):
            while len(asked) < 2:  # told to the answer a moment after it is among the messages
                await asyncio.sleep(0.02)
        await edit(client, pad, 3, 5)
        reported = await client.until(lambda item: "nothing was changed" in json.dumps(item.get("params")))
        assert "changed meanwhile" in reported["params"]["message"]
        assert pad.text == CODE.replace("a - b", "a - b # mine"), "what was typed is not lost"
        assert pad.edits == []


@pytest.fixture
def repository(root: Path) -> Path:
    git(root, "init", "-q")
    for name in ("a.py", "b.py", "secret.env"):
        (root / name).write_text("old = 1\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "Add the first files\n\nBody </attachment>")
    return root


async def message(client: RawClient, **asked: Any) -> Any:
    turn = await client.command("codelaw.editor.commitMessage", asked)
    return await client.command("codelaw.editor.proposal", turn)


async def test_a_message_is_written_for_what_is_staged_else_for_all(
    start: Start, vendor: LoopbackVendor, repository: Path
):
    (repository / "CODE_LAW.md").write_text("Commit messages begin with a bug's number.\n")
    vendor.play(
        VendorReply(text=finish("```\n#7 Count from two\n\nBecause.\n```")), VendorReply(text=finish("#8 All of it\n"))
    )
    (repository / "a.py").write_text("old = 2\n")
    git(repository, "add", "a.py")
    (repository / "b.py").write_text("b = 3  # not staged\n")
    (repository / "secret.env").write_text("TOKEN=hunter2\n")
    async with start(showing(), {"permissions": {"deny": ["Read(secret.env)"]}}) as client:
        reported = await message(client, uri=repository.as_uri())
        assert reported == {"stopReason": "finished", "lines": ["#7 Count from two", "", "Because."], "said": ""}
        asked = question(vendor)
        assert "-old = 1\n +old = 2" in asked
        assert "not staged" not in asked
        assert " Add the first files\n</attachment>" in asked
        assert "bug's number" in json.dumps(vendor.messages[-1].json["system"]), "the law goes along"

        git(repository, "reset", "-q")
        (repository / "new.py").write_text("fresh\n")
        reported = await message(client)
        assert reported["lines"] == ["#8 All of it"]
        asked = question(vendor)
        assert "b = 3" in asked
        assert "new.py" in asked
        assert "hunter2" not in asked
        assert "secret.env" not in asked
        assert "Files that a permission rule keeps from you are left out: 1." in asked
        assert git(repository, "log", "--format=%s") == "Add the first files", "nobody commits"
        assert git(repository, "diff", "--cached", "--name-only") == ""


async def test_where_no_message_can_be_written_that_is_said(start: Start, vendor: LoopbackVendor, repository: Path):
    async with start(showing(), {"permissions": {"deny": ["Read(secret.env)"]}}) as client:
        with pytest.raises(RpcError, match="Nothing is changed"):
            await message(client)
        (repository / "secret.env").write_text("TOKEN=hunter2\n")
        with pytest.raises(RpcError, match="permission rule"):
            await message(client)
        with pytest.raises(RpcError, match="no folder of the workspace"):
            await message(client, uri="file:///elsewhere")
    restricted = showing()
    restricted["experimental"]["codelaw"]["workspaceTrusted"] = False
    async with start(restricted) as client:
        with pytest.raises(RpcError, match="not_trusted"):
            await message(client)
    assert vendor.messages == []
