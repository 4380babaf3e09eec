"""A hook's allow counts where no workspace has a part in it (X-7, S-8)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codelaw.agent.hooks.allowing import not_counted
from tests.agent.conftest import Bench
from tests.agent.test_hooks import calls, hooked, prints
from tests.fakes.editor import User

ALLOW = prints(permissionDecision="allow", permissionDecisionReason="fine")
DENY = prints(permissionDecision="deny", permissionDecisionReason="not here")


async def write(bench: Bench, chat: str | None = None) -> str:
    bench.vendor.reset([bench.act("Write", {"path": "a.py", "content": "x"}), bench.finish("ok", times=0)])
    return (await bench.turn("go", chat)).chat_id


def script(bench: Bench, text: str, name: str = "scripts/check.sh") -> None:
    place = bench.root / name
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(0o755)


@pytest.mark.parametrize("command", ["./scripts/check.sh", "sh scripts/check.sh", "sh -c 'cd scripts && ./check.sh'"])
async def test_one_that_a_file_of_the_workspace_says_is_as_if_it_had_not_been_said(bench: Bench, command: str):
    bench.user = User("reject")
    await hooked(bench, PreToolUse=command)
    script(bench, ALLOW)
    chat = await write(bench)
    assert calls(bench) == [("rejected", "user")]
    (notice,) = bench.kinds("notice")
    assert notice.code == "hook_ignored"
    assert "check.sh lies in the workspace" in notice.message
    await write(bench, chat)
    assert len(bench.kinds("notice")) == 1, "it is told once"
    script(bench, DENY)
    await write(bench, chat)
    assert calls(bench)[-1] == ("rejected", "hook"), "its deny counts"


async def test_one_that_is_said_by_nothing_of_the_workspace_counts(bench: Bench):
    bench.user = User("reject")
    await hooked(bench, PreToolUse=ALLOW)
    await write(bench)
    assert calls(bench) == [("completed", "hook")]


def test_what_has_a_part_in_it(tmp_path: Path):
    ws, out = tmp_path / "ws", tmp_path / "out"
    for folder in (ws / "bin", out / "bin"):
        folder.mkdir(parents=True)
        for name in ("guard", "other"):
            (folder / name).write_text("#!/bin/sh\n")
            (folder / name).chmod(0o755)
    (ws / "rules.json").write_text(json.dumps({}))
    (out / "rules.json").write_text(json.dumps({}))
    (out / "linked").symlink_to(ws / "bin/guard")
    (ws / "leads-out").symlink_to(out / "bin/guard")
    (out / "bin/by-link").symlink_to(ws / "bin/guard")
    (out / "bin/by-links").symlink_to(ws / "leads-out")
    (out / "by-folder").symlink_to(ws / "bin-out")
    (ws / "bin-out").symlink_to(out / "bin")

    def counts(command: str, path: str = str(out / "bin")) -> bool:
        return not not_counted(command, ws, [ws], path)

    assert counts("guard")
    assert counts(f"{out}/bin/guard --strict")
    assert counts(f"guard --rules={out}/rules.json")
    assert counts("guard --rules=missing.json")
    assert not counts("guard --rules=rules.json")
    assert not counts("guard < rules.json")
    assert not counts("guard", path=f"{ws}/bin:{out}/bin")
    assert not counts("guard", path=f"bin:{out}/bin")
    assert not counts("guard", path=f":{ws}/bin")
    assert not counts("by-link")
    assert not counts(f"{out}/linked")
    assert not counts("./leads-out")
    assert not counts(f"cd bin && {out}/../ws/bin/guard")
    assert not counts("python3 -m guard")
    assert not counts("sh missing.sh"), "it may be made"
    assert not counts("guard $RULES")
    assert not counts("git log -1 --format=%s | grep -q fine && echo yes")
    assert not counts("guard", path=f"{tmp_path}/ws2:{ws}/bin")
    assert not counts("by-links"), "a link of the workspace leads on"
    assert not counts("guard", path=str(out / "by-folder"))


@pytest.mark.parametrize(
    "command",
    [
        *("python3.13t -m guard", "python3-dbg -m guard", "ipython -m guard", "ruby3.2 -r./guard {out}/other.rb"),
        *("bun {out}/other.ts", "tsx {out}/other.ts", "Rscript {out}/other.R", "lua5.4 {out}/other.lua", "java Guard"),
        *("awk -f guard", "jq -nf guard", "sed -nfguard", "awk --file=guard"),
    ],
)
def test_what_an_interpreter_loads_that_may_be_made(tmp_path: Path, command: str):
    ws, out = tmp_path / "ws", tmp_path / "out"
    ws.mkdir()
    out.mkdir()
    assert not_counted(command.format(out=out), ws, [ws], "/usr/bin:/bin")


@pytest.mark.parametrize("command", ["python3 -I {out}/guard.py", "awk -f {out}/guard", "node {out}/guard.js --x 1"])
def test_what_lies_elsewhere_counts(tmp_path: Path, command: str):
    (tmp_path / "ws").mkdir()
    assert not not_counted(command.format(out=tmp_path / "out"), tmp_path / "ws", [tmp_path / "ws"], "/usr/bin:/bin")
