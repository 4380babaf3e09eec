"""The kinds of subagents at the prompt of `codelaw chat` (X-4)."""

from __future__ import annotations

from tests.cli.driving import STEERING, Terminal


def test_the_kinds_are_listed_with_where_they_come_from_and_what_is_wrong(log):
    terminal = Terminal("plain", log, "chat")
    terminal.until("agent> ")
    terminal.type("/agents\n")
    terminal.until("explore         Finds things out.")
    terminal.until("built in · tools of the mode ask")
    terminal.until("mine            Look ")
    terminal.until("mine.md · tools: Read, Grep · without: LS · model: claude-x · at most 3 steps")
    terminal.until("odd")
    terminal.until("odd.md · tools: none")
    terminal.until("does not count: It is odd ")
    terminal.until("agent> ")
    terminal.type("/help\n")
    terminal.until("/agents ")
    terminal.until("agent> ")
    terminal.type("/quit\n")
    assert terminal.status() == 0
    assert "agents.enabled" not in terminal.text
    shown = terminal.text.replace("\x1b", "").replace("\r", "")
    assert not [mark for mark in STEERING if mark in shown and mark != "\b"]


def test_that_subagents_are_switched_off_is_told(log):
    terminal = Terminal("failed", log, "chat")
    terminal.until("agent> ")
    terminal.type("/agents\n")
    terminal.until("agents.enabled is off: no turn begins a subagent.")
    terminal.until("does not count: It is odd ")
    terminal.type("/quit\n")
    assert terminal.status() == 0
