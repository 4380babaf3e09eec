"""`codelaw mcp`: what servers there are, seen before they start (X-3)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from codelaw.adapters.mcp.means import login_file
from codelaw.cli.conversation.printing import TurnPrinter
from codelaw.cli.terminal import Screen
from tests.cli.test_commands import codelaw

SECRET = "kA9xT2mQ7vLp4ZrW"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    servers = {
        "desk": {"command": "desk-server", "args": ["a\u202eb"], "env": {"KEY": SECRET, "LEVEL": "debug"}},
        "bad": {},
    }
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return folder


@pytest.mark.needs("bwrap")
def test_servers_are_listed_and_let_start_by_who_has_seen_them(workspace: Path) -> None:
    listed = codelaw("mcp", "list", workspace=workspace)
    assert "desk" in listed.stdout
    assert "needs_trust" in listed.stdout
    assert "would run: desk-server 'a⟨U+202E⟩b' with 'KEY=[redacted: KEY]', LEVEL=debug" in listed.stdout
    assert SECRET not in listed.stdout + listed.stderr
    assert "'bad' is left out" in listed.stderr
    nobody = codelaw("mcp", "enable", "desk", workspace=workspace)
    assert nobody.returncode == 1
    assert "say --yes" in nobody.stderr
    assert codelaw("mcp", "enable", "desk", "--yes", workspace=workspace).returncode == 0
    (one,) = map(json.loads, codelaw("mcp", "list", "--json", workspace=workspace).stdout.splitlines())
    assert (one["state"], one["source"]) == ("off", ".mcp.json")
    assert codelaw("mcp", "disable", "desk", workspace=workspace).returncode == 0
    doctor = codelaw("doctor", workspace=workspace).stdout
    assert "desk of .mcp.json is off: It is switched off." in doctor
    unknown = codelaw("mcp", "enable", "other", "--yes", workspace=workspace)
    assert unknown.returncode == 1
    assert "There is no server 'other'." in unknown.stderr


def test_a_login_is_forgotten_by_its_servers_name(workspace: Path) -> None:
    address = "http://127.0.0.1:1/mcp"
    servers = {"desk": {"url": address}, "far": {"url": "${NO_SUCH_ADDRESS}"}, "own": {"command": "desk-server"}}
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    kept = login_file(Path(os.environ["CODELAW_HOME"]) / "logins", address)
    kept.parent.mkdir(parents=True)
    kept.write_text("{}", encoding="utf-8")
    first = codelaw("mcp", "logout", "desk", workspace=workspace)
    assert (first.returncode, kept.exists()) == (0, False)
    assert "The login to desk is forgotten." in first.stderr
    assert "No login to desk was kept." in codelaw("mcp", "logout", "desk", workspace=workspace).stderr
    assert "No login to own was kept." in codelaw("mcp", "logout", "own", workspace=workspace).stderr
    for name, why in (("other", "There is no server 'other'."), ("far", "The address of far is not known.")):
        refused = codelaw("mcp", "logout", name, workspace=workspace)
        assert refused.returncode == 1
        assert why in refused.stderr


def test_the_servers_that_a_turn_waits_for_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    printer = TurnPrinter(Screen())
    for server, state in (("desk", "starting"), ("desk", "starting"), ("other", "ready"), ("desk", "ready")):
        printer.event({"kind": "mcp", "server": server, "state": state})
    printer.event(
        {"kind": "tool_call", "callId": "c", "tool": "LS", "title": "List .", "status": "completed", "step": 1}
    )
    printer.event({"kind": "mcp", "server": "desk", "state": "starting"})
    captured = capsys.readouterr()
    lines = (captured.out + captured.err).splitlines()
    assert lines == ["… The server desk is starting", "The server desk is ready", "✓ List ."]
