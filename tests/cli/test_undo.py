"""Undoing the last turn on the terminal (E-2)."""

from __future__ import annotations

from tests.cli.driving import STEERING, Terminal, received


def test_the_last_turn_is_undone_and_told_file_by_file(log):
    terminal = Terminal("plain", log, "chat", "--chat", "c1")
    terminal.until("agent> ")
    terminal.type("/undo\n")
    terminal.until("undone a ⟨U+001B⟩.py")
    terminal.until("undone /w/c.py")
    terminal.until("left alone: b.py was changed since: ⟨U+001B⟩[31mred⟨U+0007⟩")
    terminal.until("agent> ")
    terminal.type("\x04")
    assert terminal.status() == 0
    assert received(log, "codelaw/chat/revert") == [{"chatId": "c1", "turnId": "t1"}]
    assert "Undone in a.py" not in terminal.text, "the event's words are not said besides"
    shown = terminal.text.replace("\x1b", "").replace("\r", "")
    assert not [mark for mark in STEERING if mark in shown and mark != "\b"]


def test_a_chat_without_a_turn_and_a_turn_that_left_no_trace(log):
    terminal = Terminal("compacts", log, "chat", "--chat", "c1")
    terminal.until("agent> ")
    terminal.type("/undo\n")
    terminal.until("There is no turn to undo yet.")
    terminal.type("/quit\n")
    assert terminal.status() == 0
    assert received(log, "codelaw/chat/revert") == []
    terminal = Terminal("few", log, "chat", "--chat", "c1")
    terminal.until("agent> ")
    terminal.type("/undo\n")
    terminal.until("Every file is as it was before the turn.")
    terminal.type("/quit\n")
    assert terminal.status() == 0
