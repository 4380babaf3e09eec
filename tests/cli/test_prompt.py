"""What is typed and pasted at the prompt: messages, blocks, commands, and the history of them."""

from __future__ import annotations

import json
import os
import select
import signal

import pytest

from codelaw.cli.conversation import slash
from tests.cli.driving import Terminal, received

PASTE = "\x1b[200~{}\x1b[201~"
CODE = 'def f():\n    """\n    A docstring.\n    """\n    return 1\n"""\nnot the end'


def texts(log):
    return [params["text"] for params in received(log, "codelaw/chat/send")]


def prompt(log, scene="plain"):
    terminal = Terminal(scene, log, "chat")
    terminal.until("agent> ")
    return terminal


def leave(terminal):
    terminal.until("agent> ")
    terminal.type("\x04")
    return terminal.status()


def test_a_paste_is_one_message(log):
    terminal = prompt(log)
    assert "\x1b[?2004h" in terminal.text, "the terminal was asked to mark pastes"
    lines = "\n".join(f"line {number} 漢字" for number in range(200))
    terminal.type(PASTE.format(lines.replace("\n", "\r")))
    terminal.until("199")
    assert texts(log) == []
    terminal.type("\r")
    terminal.until("chat c1")
    assert leave(terminal) == 0
    assert texts(log) == [lines]


def test_lines_that_come_together_are_one_message_without_marks_too(log, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    terminal = prompt(log)
    lines = "\n".join(f"line {number}" for number in range(200))
    terminal.type(f"{lines}\n")
    terminal.until("chat c1")
    assert leave(terminal) == 0
    assert texts(log) == [lines]


def test_a_block_ends_at_a_mark_that_is_typed(log):
    terminal = prompt(log)
    terminal.type('"""\r')
    terminal.until("... ")
    terminal.type(PASTE.format(CODE) + "\r")
    terminal.until("not the end")
    terminal.until("... ")
    terminal.type('    """\r')
    terminal.until("... ")
    terminal.type('"""\r')
    terminal.until("chat c1")
    assert leave(terminal) == 0
    assert texts(log) == [f'{CODE}\n    """']


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("/mode wild", "Usage: /mode [agent|ask|plan]."),
        ("/effort most", "Usage: /effort [default|low|medium|high|xhigh|max]."),
        ("/new chat", "Usage: /new."),
        ("/restore a b", "Usage: /restore [ID]."),
        ("/etc/hosts says what?", "There is no command /etc/hosts"),
        ("/", "There is no command /"),
    ],
)
def test_what_begins_like_a_command_is_no_message(typed, shown):
    mistake = slash.read(typed)
    assert isinstance(mistake, slash.Mistake)
    assert mistake.hint.startswith(shown)
    assert "begin it with //" in mistake.hint
    assert slash.read(f"/{typed}") == typed
    assert slash.read(f" {typed}") == f" {typed}"


def test_a_command_of_the_users_and_a_skill_are_sent_and_listed(log):
    terminal = prompt(log)
    terminal.type("/help\n")
    terminal.until("/review [path]")
    terminal.until("/pdf ")
    terminal.until("agent> ")
    assert "\x1b[31mred" not in terminal.text, "what a file says moves no cursor"
    assert (terminal.text.count("/review"), terminal.text.count("/pdf"), "/odd" in terminal.text) == (1, 1, False)
    terminal.type("/review src/a.py\n")
    terminal.until("chat c1")
    terminal.type("/pdf fill it\n")
    terminal.until("chat c1")
    assert leave(terminal) == 0
    assert texts(log) == ["/review src/a.py", "/pdf fill it"]


def test_the_history_outlives_a_window_that_is_closed(log, home):
    terminal = prompt(log)
    terminal.type(PASTE.format("one\rtwo") + "\r")
    terminal.until("chat c1")
    terminal.until("agent> ")
    assert terminal.hang_up() == 130
    assert len(received(log, "shutdown")) == 1
    again = prompt(log)
    again.type("\x1b[A")
    again.until("two")
    again.type("\n")
    again.until("chat c1")
    assert leave(again) == 0
    assert texts(log) == ["one\ntwo", "one\ntwo"]
    assert (home / "history").stat().st_mode & 0o777 == 0o600


def test_a_window_that_is_closed_cancels_the_turn_and_keeps_it(log):
    terminal = prompt(log, "hang")
    terminal.type("hi\n")
    terminal.until("Wait")
    assert terminal.hang_up() == 130
    assert len(received(log, "$/cancelRequest")) == 1
    assert len(received(log, "shutdown")) == 1


def queued(terminal):
    """Wait until the terminal has something to read for the command."""
    slave = os.open(terminal.name, os.O_RDONLY | os.O_NOCTTY)
    try:
        assert select.select([slave], [], [], 150)[0]
    finally:
        os.close(slave)


def typed_in_a_turn(log, typed):
    """A conversation in which that was typed while a turn ran, and the turn then stopped."""
    terminal = prompt(log, "hang")
    terminal.type("hi\n")
    terminal.until("Wait")
    terminal.type(typed)
    queued(terminal)
    os.kill(terminal.pid, signal.SIGINT)
    terminal.until("chat c1")
    return terminal


def test_an_end_that_is_typed_while_a_turn_runs_ends_the_conversation_behind_it(log):
    terminal = typed_in_a_turn(log, "\x04")
    terminal.until("Ctrl-D was typed meanwhile")
    assert terminal.status() == 0
    assert len(received(log, "shutdown")) == 1


def test_text_that_is_typed_while_a_turn_runs_stays_whatever_is_typed_behind_it(log):
    terminal = typed_in_a_turn(log, "and\x04")
    terminal.until("agent> ")
    terminal.type(" more\n")
    terminal.until("Wait")
    os.kill(terminal.pid, signal.SIGINT)
    terminal.until("chat c1")
    assert leave(terminal) == 0
    assert texts(log) == ["hi", "and more"]


def test_answers_to_questions_are_no_history(log, home):
    terminal = prompt(log, "approval")
    terminal.type("run it\n")
    terminal.until("? ")
    terminal.type("n: a secret reason\n")
    terminal.until("chat c1")
    assert leave(terminal) == 0
    assert (home / "history").read_text() == '"run it"\n'


def test_the_history_has_a_bound(log, home):
    home.mkdir(parents=True, exist_ok=True)
    (home / "history").write_text("".join(f'"old {number}"\n' for number in range(2500)))
    terminal = prompt(log)
    terminal.type("x" * 20_000 + "\n")
    terminal.until("chat c1")
    terminal.until("agent> ")
    terminal.type("new\n")
    terminal.until("chat c1")
    assert leave(terminal) == 0
    kept = [json.loads(line) for line in (home / "history").read_text().splitlines()]
    assert kept == [*(f"old {number}" for number in range(1500, 2500)), "new"]
    assert (home / "history").stat().st_mode & 0o777 == 0o600
