"""Which protected path a command failed on, by what it said (S-8)."""

from __future__ import annotations

from pathlib import Path

import pytest

from codelaw.adapters.processes.rules.areas import blocked
from codelaw.adapters.processes.rules.profile import Profile

WS = Path("/w")
FIXED = (WS / ".git/config", WS / ".git/hooks", WS / ".husky")
ABSENT = (WS / ".vscode", WS / ".envrc")
PROFILE = Profile((), WS, network=False, asked=frozenset([*FIXED, *ABSENT]))

SAID = [
    ("git config a b", "error: could not write config file .git/config: Device or resource busy", [".git/config"]),
    ("x", "error: could not write config file /w/.git/config: Device or resource busy", [".git/config"]),
    ("x", "cp: cannot create regular file '.git/hooks/pre-commit': Read-only file system", [".git/hooks"]),
    ("x", "/bin/bash: line 1: .envrc: Permission denied", [".envrc"]),
    ("x", "PermissionError: [Errno 13] Permission denied: './.envrc'", [".envrc"]),
    ("npx husky init", "Error: EROFS: read-only file system, open '/w/.husky/_/h'", [".husky"]),
    ("pre-commit install", "PermissionError: [Errno 30] Read-only file system", [".git/hooks"]),
    ("git -C . remote add o x && ls", "fatal: Device or resource busy", [".git/config"]),
    # What is something else's.
    ("x", "mkdir: cannot create directory ‘.git/hooks’: File exists", []),
    ("x", "cat: /etc/shadow: Permission denied", []),
    ("x", "touch: cannot touch '/usr/x': Read-only file system", []),
    ("git config a b", "error: key does not contain a section: a", []),
    ("x", "mkdir: cannot create directory ‘sub/.vscode’: File exists", []),
    ("x", "reading .git/config and .envrc: fine", []),
]


@pytest.mark.parametrize(("command", "output", "paths"), SAID)
def test_it_is_found_in_the_words_of_the_command(command: str, output: str, paths: list[str]):
    assert blocked(command, f"before\n{output}\nafter", PROFILE) == tuple(WS / path for path in paths)


def test_what_was_taken_away_meanwhile_is_found_whatever_was_said():
    taken = [WS / ".vscode/tasks.json", WS / ".git/commondir"]
    assert blocked("make", "error 1", PROFILE, taken) == (WS / ".vscode",)


def test_what_is_open_in_this_run_is_none():
    opened = Profile(
        (), WS, network=False, asked=frozenset({WS / ".git/config"}), opened=frozenset({WS / ".git/config"})
    )
    assert blocked("git config a b", ".git/config: Device or resource busy", opened) == ()


def test_beside_a_link_that_is_kept_no_name_can_be_made(tmp_path: Path):
    link = tmp_path / "sub/.envrc"
    top = tmp_path / ".vscode"
    profile = Profile((), tmp_path, network=False, asked=frozenset({link, top}), links=frozenset({link, top}))
    said = "touch: cannot touch 'sub/new': Read-only file system"
    assert blocked("touch sub/new", said, profile) == (link,)
    assert blocked("touch new", "touch: cannot touch 'new': Read-only file system", profile) == (top,)
    assert blocked("x", "x: cannot open '/etc/x': Read-only file system", profile) == ()
    assert blocked("x", "x: 'new': Permission denied", profile) == ()
