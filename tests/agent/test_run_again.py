"""A command that fails on what other programs obey runs again when the user allows it, and only then (S-8)."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from codelaw.domain.events import ToolCallEvent
from tests.agent.conftest import Bench

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="there is a sandbox on Linux only"),
    pytest.mark.needs("bwrap"),
]


def repository(bench: Bench) -> None:
    subprocess.run(["git", "init", "-q", str(bench.root)], check=True, env={**os.environ, "HOME": str(bench.home)})


def config(bench: Bench) -> str:
    return (bench.root / ".git/config").read_text()


COMMAND = "echo ran >> runs; sh setup.sh"
"""Its words name nothing that is asked about beforehand."""


@pytest.mark.parametrize("allowed", [True, False])
async def test_it_is_asked_once_and_only_for_once(bench: Bench, *, allowed: bool):
    repository(bench)
    (bench.root / "setup.sh").write_text("git config my.key value\n")
    await bench.reopen(permissions={"allow": ["Bash", "Edit"], "default": "allow"})
    bench.user.answer = "allow_once" if allowed else "reject"
    bench.user.comment = "" if allowed else "leave it"
    await bench.turn("go", replies=[bench.act("Bash", {"command": COMMAND}), bench.finish("ok")])
    (question,) = bench.user.asked
    assert question.always_asked
    assert question.title == "Run again what failed, and let it change .git/config"
    assert question.why == "It ran and failed: other programs obey .git/config."
    assert question.command == COMMAND
    assert [option.kind for option in question.options] == ["allow_once", "reject"]
    assert ("my" in config(bench)) == allowed
    assert (bench.root / "runs").read_text() == "ran\n" * (2 if allowed else 1)
    reported = json.dumps(bench.sent(), ensure_ascii=False)
    if allowed:
        assert "It had run before and failed on .git/config" in reported
    else:
        assert "The user did not let it run again to change .git/config." in reported
        assert "leave it" in reported
    states = [event.event.status for event in bench.events if isinstance(event.event, ToolCallEvent)]
    assert states[:4] == ["pending", "running", "awaiting_approval", "running" if allowed else "failed"]


async def test_rules_and_settings_reach_the_sandbox(bench: Bench):
    for name in (".env", "hid", "data/pw"):
        (bench.root / name).parent.mkdir(exist_ok=True)
        (bench.root / name).write_text(f"CANARY{name}")
    await bench.reopen(
        permissions={"allow": ["Bash"], "deny": ["Read(.env)"]}, tools={"bash": {"hidden": ["hid", "data"]}}
    )
    bench.vendor.reset([bench.act("Bash", {"command": "cat .env hid data/pw; echo seen"}), bench.finish("ok")])
    await bench.turn("go")
    reported = json.dumps(bench.sent(), ensure_ascii=False)
    assert "seen" in reported
    assert "CANARY" not in reported


@pytest.mark.parametrize("allowed", [True, False])
async def test_what_a_command_made_comes_back_when_the_user_says_so(bench: Bench, *, allowed: bool):
    repository(bench)
    (bench.root / "setup.sh").write_text("mkdir .idea; echo mine > .idea/x.xml; echo them > .exrc\n")
    await bench.reopen(permissions={"allow": ["Bash", "Edit"], "default": "allow"})
    bench.user.answer = "allow_once" if allowed else "reject"
    bench.user.comment = "" if allowed else "what for"
    await bench.turn("go", replies=[bench.act("Bash", {"command": COMMAND}), bench.finish("ok")])
    (question,) = bench.user.asked
    assert question.always_asked
    assert question.title == "Bring back .idea, .exrc, which the command has made"
    assert question.text == ".idea/x.xml\nmine\n.exrc\nthem"
    assert [option.kind for option in question.options] == ["allow_once", "reject"]
    assert (bench.root / ".idea/x.xml").exists() == (bench.root / ".exrc").exists() == allowed
    assert (bench.root / "runs").read_text() == "ran\n"
    reported = json.dumps(bench.sent(), ensure_ascii=False)
    assert ("The user let .idea, .exrc come back." in reported) == allowed
    assert ("The user did not let .idea, .exrc come back." in reported) == (not allowed)
    assert ("what for" in reported) == (not allowed)
    kept = sorted(path.name for path in bench.home.rglob("quarantine/kept/*/*") if path.name != "about.json")
    assert kept == ([] if allowed else [".exrc", ".idea"])
