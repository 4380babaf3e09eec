"""What a command made of files that codelaw itself obeys counts only once the user has seen it (S-8)."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import RawClient
from tests.scenarios.conftest import Start, act, finish
from tests.scenarios.test_killed_commands import killed, until

APPROVAL = "codelaw/approval/request"
MARK = "MADEMARK"
RUN = "sh conftest.sh"
"""What the user has allowed; what it runs says what it does."""


def allowed(sandbox: str = "auto", **more: Any) -> dict[str, Any]:
    return {"tools": {"bash": {"sandbox": sandbox}}, "permissions": {"allow": [f"Bash({RUN})"]}, **more}


def bash() -> VendorReply:
    return VendorReply(text=act("Bash", json.dumps({"command": RUN})))


def read(path: str) -> VendorReply:
    return VendorReply(text=act("Read", json.dumps({"path": path})))


def done() -> VendorReply:
    return VendorReply(text=finish("ok"))


def option(kind: str) -> Any:
    return lambda params: {"optionId": next(one["id"] for one in params["options"] if one["kind"] == kind)}


def does(root: Path, text: str) -> None:
    (root / "conftest.sh").write_text(text + "\n")


def law(vendor: LoopbackVendor, at: int = -1) -> str:
    return json.dumps(vendor.messages[at].json["system"])


def told(vendor: LoopbackVendor, at: int = -1) -> str:
    return json.dumps(vendor.messages[at].json)


async def send(client: RawClient, vendor: LoopbackVendor, *script: VendorReply, **more: Any) -> dict[str, Any]:
    vendor.reset(list(script))
    return await client.request("codelaw/chat/send", {"text": "go", **more})


def codes(result: dict[str, Any]) -> list[str]:
    return [notice["code"] for notice in result["notices"]]


@pytest.mark.parametrize("sandbox", ["auto", "off"])
@pytest.mark.parametrize("name", ["CODE_LAW.md", "AGENTS.md", "CLAUDE.md"])
async def test_a_rewritten_law_goes_on_as_it_was_and_is_asked_about_once(
    start: Start, vendor: LoopbackVendor, root: Path, name: str, sandbox: str
):
    (root / name).write_text("- OLDMARK\n")
    does(root, f"echo '- {MARK}' > {name}")
    async with start(options=allowed(sandbox)) as client:
        client.answers[APPROVAL] = option("reject")
        result = await send(client, vendor, bash(), done())
        [question] = client.params(APPROVAL)
        assert question["alwaysAsked"] is True
        assert [one["kind"] for one in question["options"]] == ["allow_once", "reject"]
        assert f"-- OLDMARK\n+- {MARK}" in question["preview"]["diff"]
        assert "unseen_change" in codes(result)
        await send(client, vendor, done())
        assert len(client.params(APPROVAL)) == 1, "the user has said so"
        assert "OLDMARK" in law(vendor)
        assert MARK not in law(vendor)
        assert (root / name).read_text() == f"- {MARK}\n"
    async with start(options=allowed(sandbox)) as client:
        client.answers[APPROVAL] = option("allow_once")
        result = await send(client, vendor, done())
        assert "law_changed" not in codes(result), "this server has shown no other"
        assert MARK in law(vendor)
    async with start(options=allowed(sandbox)) as client:
        await send(client, vendor, done())
        assert client.params(APPROVAL) == []
        assert MARK in law(vendor)


async def test_what_the_user_lets_count_counts_at_the_next_step(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "CODE_LAW.md").write_text("- OLDMARK\n")
    does(root, f"echo '- {MARK}' > CODE_LAW.md")
    async with start(options=allowed()) as client:
        client.answers[APPROVAL] = option("allow_once")
        result = await send(client, vendor, bash(), done())
        assert codes(result).count("law_changed") == 1
        assert ["OLDMARK" in law(vendor, at) for at in (0, 1)] == [True, False]
        assert MARK in law(vendor, 1)


async def test_nobody_is_there_to_answer(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "CODE_LAW.md").write_text("- OLDMARK\n")
    does(root, f"echo '- {MARK}' > CODE_LAW.md")
    async with start(options=allowed()) as client:

        async def alone(params: dict[str, Any]) -> dict[str, Any]:
            return {"optionId": params["options"][0]["id"], "by": "headless"}

        client.answers[APPROVAL] = alone
        for number in (1, 2):
            result = await send(client, vendor, *([bash()] if number == 1 else []), done())
            assert codes(result).count("unseen_change") == 1
            assert MARK not in law(vendor)
            assert len(client.params(APPROVAL)) == number, "it is asked again at the next turn"
        (root / "CODE_LAW.md").write_text(f"- {MARK}\n- and MINE\n")
        result = await send(client, vendor, done())
        assert len(client.params(APPROVAL)) == 2, "who saves it has seen it"
        assert "MINE" in law(vendor)


async def test_a_law_that_is_new_or_gone(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "CLAUDE.md").write_text("- OLDMARK\n")
    does(root, f"echo '- {MARK}' > AGENTS.md; echo '- {MARK}' > code_law.md; rm CLAUDE.md")
    async with start(options=allowed()) as client:
        client.answers[APPROVAL] = {"cancelled": True}
        await send(client, vendor, bash(), done())
        [question] = client.params(APPROVAL)
        assert all(name in question["title"] for name in ("AGENTS.md", "code_law.md", "CLAUDE.md"))
        (root / "other.txt").write_text("the folder has changed since\n")
    async with start(options=allowed()) as client:
        client.answers[APPROVAL] = {"cancelled": True}
        await send(client, vendor, done())
        assert "OLDMARK" in law(vendor)
        assert MARK not in law(vendor)
        client.answers[APPROVAL] = option("allow_once")
        await send(client, vendor, done())
        assert "OLDMARK" not in law(vendor)
        assert law(vendor).count(MARK) >= 1


async def test_the_law_of_a_folder_also_by_a_folder_that_was_moved(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "kept").mkdir()
    (root / "kept/AGENTS.md").write_text("- OLDMARK\n")
    (root / "mine").mkdir()
    (root / "mine/AGENTS.md").write_text(f"- {MARK} of the user's own, elsewhere\n")
    (root / "kept/a.txt").write_text("a\n")
    (root / "mine/a.txt").write_text("a\n")
    does(root, f"mkdir -p made; echo '- {MARK}' | tee kept/AGENTS.md > made/AGENTS.md; cp kept/a.txt made")
    async with start(options=allowed()) as client:
        client.answers[APPROVAL] = {"cancelled": True}
        await send(client, vendor, read("kept/a.txt"), bash(), read("kept/a.txt"), done())
        assert MARK not in told(vendor)
        await asyncio.sleep(0.1)
        does(root, "mv made src; mv mine lib; ln -s ../lib/AGENTS.md src/CLAUDE.md")
    async with start(options=allowed()) as client:
        client.answers[APPROVAL] = {"cancelled": True}
        await send(client, vendor, bash(), read("src/a.txt"), read("lib/a.txt"), read("kept/a.txt"), done())
        assert MARK not in told(vendor)
        assert "OLDMARK" in told(vendor)


async def test_skills_commands_and_agents(start: Start, vendor: LoopbackVendor, root: Path):
    skill = root / ".agents/skills/ready/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: ready\ndescription: OLDMARK skill\n---\nbody OLDBODY\n")
    made = {
        ".agents/skills/ready/SKILL.md": f"---\nname: ready\ndescription: {MARK}\n---\n{MARK}\n",
        ".agents/skills/new/SKILL.md": f"---\nname: new\ndescription: {MARK}\n---\n{MARK}\n",
        ".github/prompts/new.prompt.md": f"{MARK}\n",
        ".codelaw/agents/new.md": f"---\nname: new\ndescription: {MARK}\n---\n{MARK}\n",
    }
    for path, text in made.items():
        (root / "from" / path).parent.mkdir(parents=True)
        (root / "from" / path).write_text(text)
    does(root, "cp -r from/.agents from/.github .; mv from/.codelaw .")
    load = VendorReply(text=act("load_skill", '{"name": "ready"}'))
    async with start(options=allowed("off")) as client:
        client.answers[APPROVAL] = {"cancelled": True}
        await send(client, vendor, bash(), load, done())
        assert "OLDBODY" in told(vendor)
        result = await send(client, vendor, load, done())
        assert "OLDMARK" in law(vendor)
        assert MARK not in told(vendor)
        [question] = client.params(APPROVAL)[-1:]
        assert question["preview"]["diff"].count("+++ b/") == 3, "of commands only what is called is read"
        result = await send(client, vendor, done(), text="/new and more")
        assert "command_left_out" in codes(result)
        assert MARK not in told(vendor)
        client.answers[APPROVAL] = option("allow_once")
        await send(client, vendor, done())
        await send(client, vendor, done(), text="/new and more")
        assert MARK in law(vendor)
        assert told(vendor).count(MARK) >= 3


async def test_the_program_of_a_hook(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "check.sh").write_text("exit 2\n")
    does(root, "echo 'exit 0' > check.sh")
    hooks = {"PreToolUse": [{"matcher": "LS", "command": "sh ./check.sh"}]}
    look = VendorReply(text=act("LS", "{}"))
    async with start(options=allowed(hooks=hooks)) as client:
        client.answers[APPROVAL] = option("reject")
        await send(client, vendor, look, bash(), look, done())
        questions = client.params(APPROVAL)
        assert [one["tool"] for one in questions] == ["LS", "Review"], [one["why"] for one in questions]
        assert "A hook failed: a command has changed" in questions[0]["why"]
        assert "-exit 2" in questions[1]["preview"]["diff"]


async def test_a_server_that_is_killed_while_the_command_runs(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "CODE_LAW.md").write_text("- OLDMARK\n")
    does(root, f"echo '- {MARK}' > CODE_LAW.md; touch begun; sleep 600")
    async with start(options=allowed()) as client:
        vendor.reset([bash()])
        await client.start("codelaw/chat/send", {"text": "go"})
        await until((root / "begun").exists)
        await killed(client)
    async with start(options=allowed()) as client:
        client.answers[APPROVAL] = {"cancelled": True}
        await send(client, vendor, done())
        assert len(client.params(APPROVAL)) == 1
        assert "OLDMARK" in law(vendor)
        assert MARK not in law(vendor)


def git(root: Path, *words: str) -> None:
    who = ["-c", "user.name=A User", "-c", "user.email=a@user.example", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


@pytest.mark.parametrize("sandbox", ["auto", "off"])
async def test_what_a_branch_held_before_counts_at_once(start: Start, vendor: LoopbackVendor, root: Path, sandbox: str):
    git(root, "init", "-q")
    (root / "a.txt").write_text("a\n")
    git(root, "add", "a.txt")
    git(root, "commit", "-qm", "without")
    git(root, "branch", "without")
    (root / "CODE_LAW.md").write_text("- OLDMARK\n")
    git(root, "add", "CODE_LAW.md")
    git(root, "commit", "-qm", "old")
    git(root, "checkout", "-qb", "other")
    (root / "CODE_LAW.md").write_text("- BRANCHMARK\n")
    git(root, "commit", "-qam", "other")
    git(root, "checkout", "-q", "main")
    does(root, "git checkout -q other")
    async with start(options=allowed(sandbox)) as client:
        result = await send(client, vendor, bash(), done())
        assert client.params(APPROVAL) == []
        assert codes(result).count("law_changed") == 1
        assert "BRANCHMARK" in law(vendor)
        does(root, "git checkout -q without")
        await send(client, vendor, bash(), done())
        assert client.params(APPROVAL) == []
        assert "MARK" not in law(vendor)
        # What a command has committed by itself no ref held before.
        commit = "git -c user.name=a -c user.email=a@a.example commit -qm x"
        does(root, f"echo '- {MARK}' > CODE_LAW.md; git add CODE_LAW.md; {commit}; git checkout -q main")
        client.answers[APPROVAL] = {"cancelled": True}
        await send(client, vendor, bash(), done())
        assert client.params(APPROVAL) == []
        does(root, "git checkout -q without")
        await send(client, vendor, bash(), done())
        assert len(client.params(APPROVAL)) == 1
        assert MARK not in law(vendor)


async def test_what_the_user_changes_meanwhile_by_the_editor_counts(start: Start, vendor: LoopbackVendor, root: Path):
    path = root / "CODE_LAW.md"
    path.write_text("- OLDMARK\n")
    does(root, "touch begun; while [ ! -e over ]; do sleep 0.05; done")
    async with start(options=allowed()) as client:
        uri = await client.open(path, path.read_text(), 1)
        vendor.reset([bash(), done()])
        sent = asyncio.ensure_future(client.request("codelaw/chat/send", {"text": "go"}))
        await until((root / "begun").exists)
        change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "- TYPEDMARK\n"}]}
        await client.notify("textDocument/didChange", change)
        (root / "over").touch()
        await sent
        assert client.params(APPROVAL) == []
        assert "TYPEDMARK" in law(vendor)


async def test_what_an_editor_loads_from_the_disk_is_not_typed(start: Start, vendor: LoopbackVendor, root: Path):
    path = root / "CODE_LAW.md"
    path.write_text("- OLDMARK\n")
    does(root, f"printf -- '- {MARK} \\377\\n' > CODE_LAW.md")
    async with start(options=allowed()) as client:
        uri = await client.open(path, path.read_text(), 1)
        client.answers[APPROVAL] = {"cancelled": True}
        await send(client, vendor, bash(), done())
        text = path.read_bytes().decode("latin-1")
        change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": text}]}
        await client.notify("textDocument/didChange", change)
        await send(client, vendor, done())
        assert "OLDMARK" in law(vendor)
        assert MARK not in law(vendor)


async def test_the_user_changes_it_between_commands(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "CODE_LAW.md").write_text("- OLDMARK\n")
    (root / "lib").mkdir()
    does(root, "touch some.txt lib/other.txt")
    async with start(options=allowed()) as client:
        await send(client, vendor, bash(), done())
        await asyncio.sleep(0.1)
        shutil.copy2(root / "CODE_LAW.md", root / "copy")
        (root / "CODE_LAW.md").write_text("- MINEMARK\n")
        (root / "lib/AGENTS.md").write_text("- LIBMARK\n")
        await send(client, vendor, bash(), read("lib/other.txt"), done())
        assert client.params(APPROVAL) == []
        assert "MINEMARK" in law(vendor)
        assert "LIBMARK" in told(vendor)


async def test_an_edit_of_ours_counts_whatever_follows_it(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "CODE_LAW.md").write_text("- OLDMARK\n")
    does(root, "true")
    write = VendorReply(text=act("Write", json.dumps({"path": "AGENTS.md", "content": "- WROTEMARK\n"})))
    both = VendorReply(text=f"{write.text}\nAction: Bash[{json.dumps({'command': RUN})}]")
    async with start(options=allowed()) as client:
        client.answers[APPROVAL] = option("allow_once")
        await send(client, vendor, both, done())
        assert [one["tool"] for one in client.params(APPROVAL)] == ["Write"]
        assert "WROTEMARK" in law(vendor)
