"""A settings file that cannot be read, in a terminal: what is said, what goes on, and `--ignore-settings` (S-1)."""

from __future__ import annotations

import json
import os
import pty
import sys
from pathlib import Path

import pytest

from tests.cli.driving import PATH, Terminal
from tests.cli.test_commands import codelaw

BROKEN = '[permissions]\ndeny = ["Read(secret.txt)"\n[turn]\n'
GOOD = '[permissions]\ndeny = ["Read(secret.txt)"]\n'


class Talking(Terminal):
    """The real command under a pseudo-terminal."""

    def __init__(self, workspace: Path, *arguments: str) -> None:
        pid, fd = pty.fork()
        if pid == 0:
            os.environ["PYTHONPATH"], os.environ["TERM"] = PATH, "xterm"
            os.chdir(workspace)
            os.execv(sys.executable, [sys.executable, "-P", "-m", "codelaw", "chat", *arguments])
        self._begin(pid, fd)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / ".codelaw").mkdir(parents=True)
    (folder / "secret.txt").write_text("CANARYTEXT\n")
    (folder / "README.md").write_text("# Harmless\n")
    return folder


@pytest.fixture(params=["user", "workspace"])
def file(request: pytest.FixtureRequest, workspace: Path, home: Path) -> Path:
    made = home / "config.toml" if request.param == "user" else workspace / ".codelaw/config.toml"
    made.write_text(BROKEN)
    return made


def test_a_turn_is_refused_with_file_line_and_reason_once(workspace: Path, file: Path):
    done = codelaw("chat", "what is in @secret.txt", "--json", workspace=workspace)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count(f"({file}, line ") == 1
    assert "the file is not TOML: " in done.stderr
    assert "No turn begins and nothing is searched until this is mended" in done.stderr
    assert "`codelaw chat --ignore-settings` talks without it" in done.stderr
    assert codelaw("chats", workspace=workspace).stdout == "", "no chat is left behind"


def test_it_can_be_ignored_for_one_run_and_not_together_with_yes(workspace: Path, file: Path):
    done = codelaw("chat", "what is in @README.md", "--ignore-settings", workspace=workspace)
    assert done.returncode == 0
    assert "Harmless" in done.stdout
    assert f"({file}, line " in done.stderr
    assert "It is left out of this run, and every write and command is asked about." in done.stderr
    events = codelaw("chat", "what is in @README.md", "--ignore-settings", "--json", workspace=workspace).stdout
    assert json.loads(events.splitlines()[-1])["stopReason"] == "finished"
    both = codelaw("chat", "hi", "--ignore-settings", "--yes", workspace=workspace)
    assert both.returncode == 2
    assert "--ignore-settings is not for --yes" in both.stderr


@pytest.mark.parametrize("command", [("context",), ("permissions", "list")])
def test_other_commands_say_so_and_go_on(workspace: Path, file: Path, command: tuple[str, ...]):
    done = codelaw(*command, workspace=workspace)
    assert done.returncode == 0
    assert done.stderr.count(f"({file}, line ") == 1
    assert "No turn begins until this is mended." in done.stderr
    assert "CANARYTEXT" not in done.stdout


def test_nothing_can_be_trusted_in_a_file_that_cannot_be_read(workspace: Path):
    (workspace / ".codelaw/config.toml").write_text(BROKEN)
    done = codelaw("trust", "--yes", workspace=workspace)
    assert done.returncode == 1
    assert "the file is not TOML" in done.stderr


def test_a_conversation_goes_on_when_the_file_is_mended(workspace: Path, file: Path):
    terminal = Talking(workspace)
    terminal.until("agent> ")
    terminal.type("what is in @README.md\r")
    terminal.until("No turn begins")
    terminal.until("agent> ")
    file.write_text(GOOD)
    terminal.type("what is in @README.md\r")
    terminal.until("Harmless")
    terminal.until("agent> ")
    file.write_text(BROKEN)
    terminal.type("what is in @README.md now\r")
    terminal.until("what was read there before stays in force")
    terminal.until("Harmless")
    terminal.until("agent> ")
    assert terminal.status(typing="\x04") == 0
