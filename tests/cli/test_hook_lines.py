"""What the terminal says of hooks, of a plan, and of subagents (X-7, X-1, X-4)."""

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


def test_the_help_fits_into_eighty_columns():
    assert [line for line in slash.HELP.splitlines() if len(line) > 79] == []


def test_what_a_subagent_calls_stands_above_the_line_of_its_own_call(capsys: pytest.CaptureFixture[str]):
    usage = {"inputTokens": 1, "cacheReadTokens": 0, "cacheWriteTokens": 0, "outputTokens": 1}
    printer = TurnPrinter(Screen())
    for event in (
        {"kind": "usage", "contextTokens": 10, "contextWindow": 100, "step": 1},
        {"kind": "tool_call", "callId": "t", "tool": "Task", "title": "explore: look", "status": "running", "step": 1},
        {"kind": "usage", "contextTokens": 90, "contextWindow": 100, "step": 1, "parent": "t"},
        {"kind": "tool_call", "callId": "g", "tool": "Grep", "title": "Grep x", "status": "completed", "step": 1,
         "parent": "t"},
        {"kind": "tool_call", "callId": "t", "tool": "Task", "title": "explore: look", "status": "completed", "step": 1},
    ):  # fmt: skip
        printer.event(event)
    printer.result({"stopReason": "finished", "usage": usage, "steps": 1, "chatId": "c"})
    captured = capsys.readouterr()
    lines = (captured.out + captured.err).splitlines()
    assert lines[:2] == ["↳ ✓ Grep x", "✓ explore: look"]
    assert "context 10 %" in lines[-1]
