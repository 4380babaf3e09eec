"""`codelaw trust` and `codelaw permissions` (S-1, S-3)."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from codelaw.adapters.stores.opening import open_stores
from codelaw.domain.permissions import Grant
from codelaw.settings.places import account_name
from tests.cli.test_commands import codelaw

RULES = '[permissions]\nallow = ["Bash(make:*)"]\ndeny = ["Read(secrets/**)"]\n[model]\napiKey = "SECRETKEY"\n'


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / ".codelaw").mkdir(parents=True)
    (folder / ".codelaw/config.toml").write_text(RULES)
    return folder


def allowed(workspace: Path) -> list[str]:
    report = json.loads(codelaw("doctor", "--json", workspace=workspace).stdout)
    return report["settings"]["permissions.allow"]["value"]


def test_a_folder_is_trusted_with_the_values_that_were_shown(workspace: Path):
    nobody = codelaw("trust", workspace=workspace)
    assert nobody.returncode == 1
    assert 'permissions.allow = ["Bash(make:*)"]' in nobody.stdout
    assert "permissions.deny" not in nobody.stdout
    assert "SECRETKEY" not in nobody.stdout + nobody.stderr
    assert "--yes" in nobody.stderr
    reported = codelaw("doctor", workspace=workspace).stdout
    assert f"codelaw trust {workspace}" in reported
    assert allowed(workspace) == []

    assert codelaw("trust", str(workspace), "--yes", workspace=workspace.parent).returncode == 0
    assert allowed(workspace) == ["Bash(make:*)"]
    assert "just these values" in codelaw("trust", workspace=workspace).stderr

    (workspace / ".codelaw/config.toml").write_text(RULES.replace("make", "sh"))
    assert allowed(workspace) == []
    assert "has changed since" in codelaw("trust", workspace=workspace).stderr
    assert codelaw("trust", "--yes", workspace=workspace).returncode == 0
    assert allowed(workspace) == ["Bash(sh:*)"]
    assert codelaw("trust", "--revoke", workspace=workspace).returncode == 0
    assert allowed(workspace) == []


@pytest.mark.parametrize(("answer", "trusted"), [("yes", True), ("", False)])
def test_a_person_is_asked(workspace: Path, answer: str, trusted: bool):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-P", "-m", "codelaw", "trust"]
    with subprocess.Popen(command, cwd=workspace, stdin=theirs, stdout=theirs, stderr=theirs) as asking:
        os.close(theirs)
        seen = b""
        while b"[y/N]" not in seen:
            seen += os.read(ours, 4096)
        assert b"Bash(make:*)" in seen
        os.write(ours, answer.encode() + b"\n")
        while True:
            try:
                if not os.read(ours, 4096):
                    break
            except OSError:  # the other side is closed
                break
        assert asking.wait() == (0 if trusted else 1)
    os.close(ours)
    assert allowed(workspace) == (["Bash(make:*)"] if trusted else [])


def test_what_cannot_be_trusted_is_said(workspace: Path):
    assert codelaw("trust", "nowhere", workspace=workspace).returncode == 2
    (workspace / ".codelaw/config.toml").write_text("[permissions")
    broken = codelaw("trust", "--yes", workspace=workspace)
    assert broken.returncode == 1
    assert "config.toml" in broken.stderr
    (workspace / ".codelaw/config.toml").unlink()
    assert "no .codelaw/config.toml to trust" in codelaw("trust", workspace=workspace).stderr


def test_rules_that_match_nothing_are_in_the_doctor_s_report(workspace: Path):
    (workspace / ".codelaw/config.toml").write_text('[permissions]\ndeny = ["Read(/etc/x)"]\n')
    reported = codelaw("doctor", workspace=workspace).stdout
    assert "'Read(/etc/x)': it is about /etc in the workspace, where there is none" in reported


def test_what_is_allowed_for_always_is_listed_and_taken_back(workspace: Path, home: Path):
    rule = "Bash(" + "x" * 200 + ")"
    given = Grant("g1", rule, "always", "/srv/pro\x1bject", account_name())

    async def grant() -> None:
        stores = await open_stores(None, home / "codelaw.db")
        await stores.chats.add_grant(given)
        await stores.chats.close()

    assert "asked about" in codelaw("permissions", "list", workspace=workspace).stderr
    asyncio.run(grant())
    shown = codelaw("permissions", "list", workspace=workspace).stdout
    assert rule in shown
    assert "in /srv/pro" in shown
    assert "\x1b" not in shown
    listed = codelaw("permissions", "list", "--json", workspace=workspace).stdout
    assert json.loads(listed) == dataclasses.asdict(given)
    assert codelaw("permissions", "revoke", "g1", workspace=workspace).returncode == 0
    assert codelaw("permissions", "list", workspace=workspace).stdout == ""
    again = codelaw("permissions", "revoke", "g1", workspace=workspace)
    assert again.returncode == 1
    assert "g1" in again.stderr
