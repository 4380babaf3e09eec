"""The settings of hooks (X-7, S-3)."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from codelaw.app.hooking import declared
from codelaw.domain.errors import Refusal
from codelaw.hooks.matching import Hook
from codelaw.settings.effective import load_settings


def found(**layers: Any) -> tuple[Hook, ...]:
    return declared(load_settings(environ={}, **layers).value.hooks)


def test_hooks_are_tables_by_moment(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text(
        '[[hooks.PreToolUse]]\nmatcher = "Edit|Write"\ncommand = "./check.sh"\ntimeoutSeconds = 5\n'
        '[[hooks.PreToolUse]]\ncommand = "./other.sh"\n'
        '[[hooks.Stop]]\ncommand = "make test"\n'
    )
    assert found(user_file=file) == (
        Hook("PreToolUse", "./check.sh", "Edit|Write", 5.0),
        Hook("PreToolUse", "./other.sh", "", 60.0),
        Hook("Stop", "make test", "", 60.0),
    )


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("./check.sh", "expected is a list"),
        ([{"matcher": "Bash"}], "`command` is a line for the shell"),
        ([{"command": " "}], "`command` is a line for the shell"),
        ([{"command": "x", "timeoutSeconds": 601}], "`timeoutSeconds` is a number from 1 to 600"),
        ([{"command": "x", "timeoutSeconds": True}], "`timeoutSeconds` is a number from 1 to 600"),
        ([{"command": "x", "matcher": "^Bash$"}], "the matcher '^Bash$' may hold names"),
        ([{"command": "x", "type": "command"}], "no `type`"),
        ([{"command": "x"}] * 21, "at most 20 hooks"),
        (["x"], "each hook is a table"),
    ],
)
def test_what_is_no_hook_is_told_and_no_turn_begins(given: Any, why: str):
    client = {"hooks": {"PreToolUse": given, "Stop": [{"command": "fine"}]}}
    effective = load_settings(environ={}, client=client)
    with pytest.raises(Refusal, match="No turn begins"):
        effective.for_a_turn()
    assert declared(effective.value.hooks) == ()
    assert declared(load_settings(environ={}, client=client, ignoring=True).value.hooks)[-1] == Hook("Stop", "fine")
    (problem,) = effective.problems
    assert problem.code == "bad_setting"
    assert problem.message.startswith("hooks.PreToolUse")
    assert why in problem.message


def test_a_trusted_workspace_adds_hooks_and_takes_none_away(tmp_path: Path):
    mine, theirs = tmp_path / "mine.toml", tmp_path / "theirs.toml"
    mine.write_text('[[hooks.Stop]]\ncommand = "mine"\n[[hooks.PreToolUse]]\ncommand = "guard"\n')
    theirs.write_text(
        '[[hooks.Stop]]\ncommand = "theirs"\n[[hooks.Stop]]\ncommand = "mine"\n[hooks]\nPreToolUse = []\n'
    )
    layers: dict[str, Any] = {"user_file": mine, "workspace_files": [theirs]}
    trusted = {theirs: hashlib.sha256(theirs.read_bytes()).hexdigest()}
    commands = [hook.command for hook in found(**layers, trusted=trusted)]
    assert commands == ["guard", "mine", "theirs"]
    assert [hook.command for hook in found(**layers)] == ["guard", "mine"]
    assert [hook.command for hook in found(**layers, trusted=trusted, restricted=True)] == ["guard", "mine"]
    shown = load_settings(environ={}, **layers).files[0].held
    assert shown["hooks.Stop"] == '[{"command": "theirs"}, {"command": "mine"}]', "what is shown before it is trusted"
