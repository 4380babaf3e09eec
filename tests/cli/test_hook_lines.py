"""What the terminal says of hooks, and of a plan (X-7, X-1)."""

from __future__ import annotations

from typing import Any

import pytest

from codelaw.cli.conversation import slash
from codelaw.cli.conversation.printing import TurnPrinter
from codelaw.cli.terminal import Screen


def printed(capsys: pytest.CaptureFixture[str], *events: dict[str, Any]) -> str:
    printer = TurnPrinter(Screen())
    for event in events:
        printer.event({"kind": "hook", "id": "h", "name": "./check.sh", "event": "PreToolUse", **event})
    captured = capsys.readouterr()
    return captured.out + captured.err


def test_a_run_is_one_line_with_what_it_says(capsys: pytest.CaptureFixture[str]):
    said = printed(
        capsys,
        {"status": "running", "seconds": 0.0},
        {"status": "blocked", "seconds": 0.42, "message": "not on a Friday"},
    )
    assert "Hook PreToolUse: ./check.sh · blocked, 0.4 s: not on a Friday" in said
    assert said.count("blocked") == 1


def test_a_plan_is_carried_out_by_a_command():
    assert slash.read("/go") == slash.Command("go")
    assert isinstance(slash.read("/go on"), slash.Mistake)
    assert "/go " in slash.HELP
