from __future__ import annotations

import json
import os
import signal
import subprocess

import pytest

from tests.cli.driving import PATH, STEERING, Terminal, answers, command, received, run


def test_one_turn_prints_the_answer_and_everything_else_aside(log):
    done = run("plain", log, "chat", "hi")
    assert done.returncode == 0
    assert done.stdout == "Hello.\n"
    for part in ("I think so.", "✓ Run make · 12 lines", "Asking again in 2 s: overloaded", "☑ first", "Mind the gap."):
        assert part in done.stderr
    assert "modified a.py +1 -2" in done.stderr
    assert "2 steps · 21 tokens in (7 cached), 7 out · context 50 % · chat c1" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_on_a_terminal_what_is_said_is_wrapped_at_words(log, monkeypatch):
    monkeypatch.setenv("COLUMNS", "9")
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal("plain", log, "chat", "hi")
    terminal.until("I think\r\nso.\r\n")
    terminal.until("Hello.\r\n")
    assert terminal.status() == 0


def test_a_command_is_shown_and_not_what_the_model_calls_it(log):
    done = run("command", log, "chat", "hi")
    assert "✓ $ rm -r build · Exit code 0." in done.stderr
    assert "List the files" not in done.stderr
    assert "Not a file or folder here: @gone.py" in done.stderr
    assert "2 steps · chat c1" in done.stderr, "no bill was sent"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb"), ("NO_COLOR", "")])
def test_colour_can_be_switched_off(log, monkeypatch, name, value):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv(name, value)
    terminal = Terminal("plain", log, "chat", "hi")
    terminal.until("chat c1")
    assert terminal.status() == 0
    assert ("\x1b[32m✓" in terminal.text) == (not value)
    assert ("\x1b[K" in terminal.text) == (value != "dumb")
    assert "Hello." in terminal.text


def test_what_the_client_says_and_answers(log, tmp_path):
    run(
        "plain",
        log,
        "chat",
        "hi",
        "--effort",
        "low",
        "--model",
        "m",
        "--mode",
        "ask",
        "--strategy",
        "layered",
        "--workspace",
        str(tmp_path),
    )
    (hello,) = received(log, "initialize")
    assert hello["rootUri"] == tmp_path.resolve().as_uri()
    assert hello["capabilities"]["experimental"]["codelaw"] == {"events": {}, "approvals": {}}
    assert isinstance(hello["processId"], int)
    chosen = {"model": "m", "mode": "ask", "strategy": "layered", "effort": "low"}
    assert received(log, "codelaw/chat/create") == [{"kind": "headless"} | chosen]
    assert received(log, "codelaw/chat/send") == [{"chatId": "c1", "text": "hi"} | chosen]
    assert answers(log)[50]["result"] is None
    assert answers(log)[51]["result"] == [None, None]
    assert answers(log)[52]["error"]["code"] == -32601
    assert len(received(log, "shutdown")) == len(received(log, "exit")) == 1


def test_json_is_all_there_is_on_standard_output(log):
    done = run("plain", log, "chat", "hi", "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["seq"] for line in lines[:-1]] == list(range(1, len(lines)))
    assert lines[0]["event"] == {"kind": "turn_started", "text": "hi", "mentions": [], "mentionsLeftOut": 0}
    assert lines[-1]["stopReason"] == "finished"
    assert "event" not in lines[-1]
    assert done.stderr == ""


@pytest.mark.parametrize("scene", ["nasty", "approval"])
def test_json_stays_pure_whatever_comes(log, scene):
    done = run(scene, log, "chat", "hi", "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[-1]["turnId"] == "t1"
    assert done.stdout.isascii()


def test_nothing_that_was_written_by_others_steers_the_terminal(log):
    done = run("nasty", log, "chat", "hi")
    shown = done.stdout + done.stderr
    assert not [mark for mark in STEERING if mark in shown]
    assert shown.count("⟨U+001B⟩[31mred⟨U+0007⟩") == 5
    assert "⟨U+009B⟩2J" in shown
    assert "⟨U+202E⟩right" in shown


@pytest.mark.parametrize(
    ("scene", "status"),
    [("finished", 0), ("cancelled", 130), ("step_limit", 1), ("refused", 1), ("failed", 1)],
)
def test_the_exit_status_tells_how_the_turn_ended(log, scene, status):
    done = run(scene, log, "chat", "hi")
    assert done.returncode == status
    assert scene != "failed" or "The turn failed. The key is wrong.\nGet another." in done.stderr


def test_a_refusal_is_told_with_its_hint_and_leaves_no_chat(log):
    done = run("refuse", log, "chat", "hi", "--json")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "Busy.\nWait.\n")
    assert received(log, "codelaw/chat/delete") == [{"chatId": "c1"}]
    log.unlink()
    run("refuse", log, "chat", "hi", "--chat", "c1")
    assert received(log, "codelaw/chat/delete") == []


def test_a_server_that_dies_leaves_its_last_words(log):
    done = run("dies", log, "chat", "hi")
    assert done.returncode == 1
    assert "The server ended (exit status 3).\nfirst words\nlast words\n" in done.stderr


def test_a_server_that_talks_rubbish_is_given_up(log):
    done = run("garbage", log, "chat", "hi")
    assert done.returncode == 1
    assert "cannot be read" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["chats", "a", "b"],
        ["chat", "a", "--mode", "ask", "b", "--bogus"],
        ["chat", "--json"],
        ["chat", "x", "--js"],
    ],
)
def test_usage_errors(log, arguments):
    done = run("plain", log, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr


def test_without_a_terminal_approvals_are_refused_and_the_turn_goes_on(log):
    done = run("approval", log, "chat", "hi")
    assert done.returncode == 0
    assert answers(log)[99]["result"]["optionId"] == "reject"
    assert "without a terminal" in answers(log)[99]["result"]["comment"]
    assert "Run make" in done.stderr


def test_yes_allows_once(log):
    assert run("approval", log, "chat", "hi", "--yes").returncode == 0
    assert answers(log)[99]["result"] == {"optionId": "once", "by": "headless"}


def test_yes_does_not_answer_what_is_asked_every_time(log):
    done = run("obeyed", log, "chat", "hi", "--yes")
    assert done.returncode == 0
    assert answers(log)[99]["result"]["optionId"] == "reject"
    assert "--yes does not answer what is asked every time" in done.stderr
    assert "what is asked every time" in answers(log)[99]["result"]["comment"]


def test_a_reader_that_leaves_is_no_crash(log):
    with subprocess.Popen(
        command("flood", log, "chat", "hi", "--json"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": PATH},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(150) == 1
    assert errors == b""


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("A\n", {"optionId": "chat"}),
        ("n: use ninja instead\n", {"optionId": "reject", "comment": "use ninja instead"}),
        ("\x1b[A\x1b[Bok\n", {"optionId": "once"}),
        ("\x04", {"optionId": "reject"}),
    ],
)
def test_a_person_at_the_terminal_is_asked(log, typed, answer):
    terminal = Terminal("approval", log, "chat", "hi")
    terminal.until("? ")
    terminal.type("d\n")
    terminal.until("  79")
    terminal.until("? ")
    terminal.type(typed)
    assert terminal.status() == 0
    assert answers(log)[99]["result"] == answer
    assert "make ⟨U+001B⟩[31mred⟨U+0007⟩" in terminal.text


@pytest.mark.parametrize("typed", ["\x1b[A\x1b[A", "yes please\ny"])
def test_what_is_no_choice_is_asked_again(log, typed):
    terminal = Terminal("approval", log, "chat", "hi")
    terminal.until("? ")
    terminal.type(f"{typed}\n")
    terminal.until("answer")
    terminal.until("? ")
    assert 99 not in answers(log)
    terminal.type("n\n")
    assert terminal.status() == 0
    assert answers(log)[99]["result"] == {"optionId": "reject"}


def test_what_was_typed_before_the_question_is_no_answer(log):
    terminal = Terminal("late_question", log, "chat", "hi")
    terminal.until("Thinking")
    terminal.type("y\ny\nye")
    (log.parent / "typed").touch()
    terminal.until("? ")
    terminal.type("n\n")
    assert terminal.status() == 0
    assert answers(log)[99]["result"] == {"optionId": "reject"}


def test_nothing_is_printed_behind_a_question(log):
    terminal = Terminal("overtaken", log, "chat", "hi")
    terminal.until("? ")
    terminal.type("y\n")
    assert terminal.status() == 0
    shown = terminal.text.replace("\r", "")
    assert shown.index("The thought before.") < shown.index("Bash:") < shown.index("Something else goes on.")
    assert "? \x1b[0my\n" in shown
    assert shown.count("make all") == 1


def test_nothing_is_allowed_before_its_end_was_shown(log):
    terminal = Terminal("approval", log, "chat", "hi")
    terminal.until("? ")
    assert "21 more rows" in terminal.text
    assert "Allow" not in terminal.text
    terminal.type("p\n")
    terminal.until("d shows them.")
    terminal.until("? ")
    assert 99 not in answers(log)
    assert "79" not in terminal.text
    terminal.type("d\n")
    terminal.until("  79")
    terminal.until("Allow")
    terminal.until("? ")
    terminal.type("p\n")
    assert terminal.status() == 0
    assert answers(log)[99]["result"]["optionId"] == "always"


def test_what_the_person_is_told_beside_a_command(log):
    terminal = Terminal("told", log, "chat", "hi")
    terminal.until("? ")
    shown = terminal.text.replace("\r", "")
    assert "\n  rm⟨U+00A0⟩-rf⟨U+200B⟩ ⟨U+202E⟩x" in shown
    assert "more rows" in shown, "a line of many rows is long"
    assert "\n… x" in shown, "a row that goes on is marked"
    assert "The model's words for it: “List⟨U+3164⟩ the files”" in shown
    assert "This is asked every time. git obeys this file." in shown
    assert shown.index("rm⟨U+00A0⟩") < shown.index("List⟨U+3164⟩")
    terminal.type("n\n")
    assert terminal.status() == 0


def test_ctrl_c_cancels_the_turn(log):
    terminal = Terminal("hang", log, "chat", "hi")
    terminal.until("Wait")
    terminal.type("\x03")
    assert terminal.status() == 130
    assert len(received(log, "$/cancelRequest")) == 1
    assert len(received(log, "shutdown")) == 1
    assert "Cancelled." in terminal.text


def test_ctrl_c_before_the_message_has_reached_its_chat_is_a_cancel_too(log):
    terminal = Terminal("early", log, "chat", "hi")
    terminal.until("Still starting")
    terminal.type("\x03")
    assert terminal.status() == 130
    assert "Cancelled before it was sent." in terminal.text
    assert received(log, "codelaw/chat/delete") == [{"chatId": "c1"}], "nothing was said in it"


def test_ctrl_c_in_a_question_withdraws_it(log):
    terminal = Terminal("withdrawn", log, "chat", "hi")
    terminal.until("? ")
    terminal.type("\x03")
    assert terminal.status() == 130
    assert answers(log)[99]["error"]["code"] == -32800


def test_a_second_ctrl_c_leaves_at_once(log):
    terminal = Terminal("deaf", log, "chat", "hi")
    terminal.until("Wait")
    terminal.type("\x03")
    terminal.until("again leaves")
    terminal.type("\x03")
    assert terminal.status() == 130


def test_an_interrupt_signal_without_a_terminal_cancels_too(log):
    with subprocess.Popen(
        command("hang", log, "chat", "hi", "--json"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": PATH},
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline(), process.stdout.readline()]
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=150)
    assert process.returncode == 130
    assert json.loads((lines + rest.splitlines())[-1])["stopReason"] == "cancelled"


def test_a_plan_is_carried_out_where_there_is_one(log):
    terminal = Terminal("plain", log, "chat")
    for typed, shown, mode in (
        ("/go", "There is no plan in this chat", "agent"),
        ("hi", "chat c1", "agent"),
        ("/go", "There is no plan in this chat", "agent"),
        ("/mode plan", "next turns is plan", "plan"),
        ("/go", "There is no plan in this chat", "plan"),
        ("how?", "/go carries out the plan.", "plan"),
        ("/mode ask", "next turns is ask", "ask"),
        ("/effort low", "next turns is low", "ask"),
        ("/effort", "The effort is low; there are default, low", "ask"),
        ("why?", "chat c1", "ask"),
        ("/go", "chat c1", "agent"),
        ("/new", "A new chat.", "agent"),
        ("/go", "There is no plan in this chat", "agent"),
    ):
        terminal.until("> ")
        terminal.type(f"{typed}\n")
        terminal.until(shown)
        terminal.until(mode)
    terminal.until("> ")
    terminal.type("\x04")
    assert terminal.status() == 0
    sent = [(params["text"], params.get("mode"), params.get("effort")) for params in received(log, "codelaw/chat/send")]
    assert sent == [
        ("hi", None, None),
        ("how?", "plan", None),
        ("why?", "ask", "low"),
        ("Carry out the plan.", "agent", "low"),
    ]


def test_a_plan_of_an_earlier_conversation_is_carried_out(log):
    terminal = Terminal("planned", log, "chat", "--chat", "c1")
    terminal.until("agent> ")
    terminal.type("/go\n")
    terminal.until("chat c1")
    terminal.until("agent> ")
    terminal.type("\x04")
    assert terminal.status() == 0
    assert [params["text"] for params in received(log, "codelaw/chat/send")] == ["Carry out the plan."]


def test_a_conversation(log, home):
    terminal = Terminal("plain", log, "chat")
    terminal.until("agent> ")
    terminal.type("first\\\n")
    terminal.until("... ")
    terminal.type("second\n")
    terminal.until("chat c1")
    terminal.until("agent> ")
    terminal.type("/mode plan\n")
    terminal.until("plan> ")
    terminal.type("/help\n/nonsense\n")
    terminal.until("no command /nonsense")
    terminal.until("plan> ")
    terminal.type("/new\n")
    terminal.until("A new chat.")
    terminal.until("plan> ")
    terminal.type('"""\none\n\ntwo\n"""\n')
    terminal.until("chat c1")
    terminal.until("plan> ")
    terminal.type("\x04")
    assert terminal.status() == 0
    sent = received(log, "codelaw/chat/send")
    assert sent == [
        {"chatId": "c1", "text": "first\nsecond"},
        {"chatId": "c1", "text": "one\n\ntwo", "mode": "plan"},
    ]
    assert received(log, "codelaw/chat/create") == [{"kind": "panel"}, {"kind": "panel", "mode": "plan"}]
    assert "first" in (home / "history").read_text("utf-8")
    assert (home / "history").stat().st_mode & 0o777 == 0o600


def test_ctrl_c_at_the_prompt(log):
    terminal = Terminal("plain", log, "chat")
    terminal.until("agent> ")
    terminal.type("half a line")
    terminal.until("half a line")  # the line editor has the terminal
    # Python's readline leaves a signal that comes while it draws until the next key, so it may take more than two.
    assert terminal.status(typing="\x03") == 130
    assert "again leaves" in terminal.text
    assert received(log, "codelaw/chat/send") == []


def test_a_refusal_does_not_end_the_conversation(log):
    terminal = Terminal("refuse", log, "chat")
    terminal.until("agent> ")
    terminal.type("hi\n")
    terminal.until("Busy.")
    terminal.until("agent> ")
    terminal.type("/quit\n")
    assert terminal.status() == 0
