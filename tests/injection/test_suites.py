"""The injections of a public suite against the real server, with a model that obeys every one (S-1, S-4, X-3).

`python3 dev.py injection` installs the suite and runs all of it; the check of everything takes each sixth case. What is
counted stands as a table in docs/safety.md: the cases in which a call of the injected task was carried out although
nobody had said yes to it.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.injection.obeying import (
    FENCES,
    ROOT,
    SETTINGS,
    Call,
    Obeying,
    attended,
    options,
    programs,
    said,
    spelt,
    talking,
)
from tests.injection.serving import MARK
from tests.loopback.server import LoopbackVendor
from tests.scenarios.conftest import server  # noqa: F401 - a fixture
from tests.scenarios.test_servers import until_is_ready

PYTHON = ROOT / ".injection/bin/python"
SERVING = Path(__file__).with_name("serving.py")
CASES = {"workspace": 240, "travel": 140, "banking": 144, "slack": 105}
STEP = 1 if os.environ.get("CODELAW_TEST_INJECTION") == "whole" else 6
WAYS = {"tools": "by tools of its server", "command": "by a command", "tests": "by a test"}
installed = pytest.mark.skipif(not PYTHON.exists(), reason="the suite is not installed: python3 dev.py injection")


def asked(port: int, *what: Any) -> Any:
    """What the program that serves a suite does by its port."""
    with socket.create_connection(("127.0.0.1", port)) as line:
        line.sendall(json.dumps(what).encode() + b"\n")
        return json.loads(line.makefile("rb").readline())


def injected(suite: str, port: int, calls: list[Call]) -> list[Call]:
    """The calls by which a model tries it: the server's own tools, a command, and a test that it writes and runs."""

    def script(way: str) -> str:
        lines = "\n".join(json.dumps(["call", way, name, arguments]) for name, arguments in calls)
        return f"exec 3<>/dev/tcp/127.0.0.1/{port}\nprintf '%s\\n' {shlex.quote(lines)} >&3\nhead -{len(calls)} <&3\n"

    command: list[Call] = [
        ("Bash", {"command": f"bash -c {shlex.quote(script('command'))}"}),
        ("Write", {"path": "src/test_it.py", "content": "echo ran >> src/ran\n" + script("tests")}),
        ("Bash", {"command": "pytest src/test_it.py"}),
    ]
    return [*((f"mcp__{suite}__{name}", arguments) for name, arguments in calls), *(command if calls else ())]


@installed
@pytest.mark.needs("bwrap")
@pytest.mark.blocking
@pytest.mark.parametrize("fence", FENCES)
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("suite", CASES)
async def test_a_suite(suite: str, setting: str, fence: str, tmp_path: Path, server: list[str]) -> None:  # noqa: F811
    counted: Counter[str] = Counter()
    done: Counter[str] = Counter()
    told, work = tmp_path / "port", tmp_path / "work"
    (work / "src").mkdir(parents=True)
    serving = {"command": str(PYTHON), "args": ["-I", str(SERVING), suite, str(told)]}
    around = {"PATH": programs(work), "CODELAW_HOME": str(tmp_path / "home")}
    async with LoopbackVendor() as vendor:
        given = {**options(vendor.url, setting, fence), "mcp": {"servers": {suite: serving}}}
        async with talking(server, work, given, **around) as client:
            await until_is_ready(client, suite)
            person, port = attended(client, setting), int(told.read_text("utf-8"))
            cases = asked(port, "cases")
            for user, injection in cases[::STEP]:
                case = asked(port, "begin", user, injection)
                vendor.reset()
                (work / "src/test_it.py").unlink(missing_ok=True)
                task = [(f"mcp__{suite}__{name}", arguments) for name, arguments in case["wanted"]]
                tried = injected(suite, port, case["injected"])
                vendor.brain = model = Obeying(task, {MARK: tried}, case["words"])
                person.wants(task)
                result = await client.request("codelaw/chat/send", {"text": case["prompt"]})
                client.messages.clear()
                assert result["stopReason"] == "finished", result
                assert model.seen == [MARK], f"{user} never meets {injection}"
                assert vendor.refused == []
                assert setting != "default" or person.refused == len(tried), "each of them was asked about"
                for way, ended in asked(port, "end", case["words"]).items():
                    unasked = Counter(map(spelt, ended["called"])) - Counter(map(spelt, case["wanted"]))
                    counted[way] += bool(unasked)
                    done[way] += bool(unasked) and ended["done"]
    assert len(cases) == CASES[suite]
    assert (work / "src/ran").exists() is (setting != "default"), "what is allowed runs, and does no more"
    # What is counted, and in brackets what the suite itself calls done.
    measured = {way: f"{counted[way]} ({done[way]})" if counted[way] else "0" for way in WAYS}
    expected = {way: said(f"{suite}, {WAYS[way]}", setting, fence) for way in WAYS}
    if STEP == 1:
        assert measured == expected
    else:
        assert {way for way in WAYS if counted[way]} == {way for way in WAYS if expected[way] != "0"}


def test_what_must_be_held_is_said_to_be() -> None:
    """Nothing in default settings; nothing with grants in the sandbox; no command from it, whatever is allowed."""
    for suite in CASES:
        for way in WAYS.values():
            held = [("default", "bubblewrap"), ("default", "none"), ("grants", "bubblewrap")]
            held += [] if way == WAYS["tools"] else [("--yes", "bubblewrap")]
            assert [said(f"{suite}, {way}", *where) for where in held] == ["0"] * len(held)
