"""What a person types into a real Emacs in a terminal: what answers a question, and what is changed where (S-2, F-1, F-4, F-6)."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.editors.driving import HERE, act, environment, finish
from tests.editors.test_neovim_keys import LONG, NOTE

PATIENCE_SECONDS = 150


class Emacs:
    """An Emacs in a terminal that is ours."""

    def __init__(self, tmp_path: Path, replies: list[dict[str, Any]], settings: dict[str, Any]) -> None:
        self._out, self._do = tmp_path / "seen.json", tmp_path / "do"
        self._done = 0
        variables = environment(
            tmp_path,
            "keys.el",
            replies,
            settings=settings,
            DRIVE_DO=str(self._do),
            DRIVE_OUT=str(self._out),
            TERM="xterm",
        )
        command = ["emacs", "-nw", "-q", "-l", str(HERE / "keys.el")]
        self._process, self._terminal = pty.fork()
        if not self._process:
            os.chdir(tmp_path / "project")
            os.execvpe(command[0], command, variables)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self._screen = threading.Thread(target=self._read, daemon=True)
        self._screen.start()
        self.until("Emacs", lambda _: True)

    def _read(self) -> None:
        try:
            while os.read(self._terminal, 65536):
                pass
        except OSError:
            pass  # a terminal without its process

    def press(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def run(self, form: str) -> None:
        """Let Emacs evaluate a form, as its timers do, and wait for it."""
        path = Path(f"{self._do}.{self._done}")
        path.with_suffix(".part").write_text(form)
        path.with_suffix(".part").rename(path)
        self._done += 1
        self.until(form, lambda seen: seen["done"] == self._done)

    def seen(self) -> dict[str, Any]:
        seen = json.loads(self._out.read_text("utf-8"))
        assert seen["problem"] is None, seen["problem"]
        return seen

    def until(self, what: str, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (self._out.exists() and holds(self.seen())):
            assert self._screen.is_alive(), "Emacs ended"
            assert time.monotonic() < deadline, f"never: {what}: {self._out.exists() and self.seen()}"
            time.sleep(0.05)
        return self.seen()

    def text(self, name: str, text: str) -> dict[str, Any]:
        return self.until(f"{name}: {text!r}", lambda seen: seen["buffers"].get(name, {}).get("text") == text)

    def end(self) -> None:
        os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        self._screen.join()
        os.close(self._terminal)


Start = Callable[..., Emacs]


@pytest.fixture
def start(eglot: None, tmp_path: Path) -> Iterator[Start]:
    started: list[Emacs] = []

    def begin(replies: list[dict[str, Any]], settings: dict[str, Any] | None = None) -> Emacs:
        started.append(Emacs(tmp_path, replies, settings or {}))
        return started[-1]

    yield begin
    for emacs in started:
        emacs.end()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


@pytest.mark.needs("emacs")
def test_what_is_long_is_seen_whole_before_it_can_be_allowed(start: Start, project: Path) -> None:
    emacs = start([act("Bash", command=LONG, description="List\u202e the files"), finish("ok")])
    emacs.run('(find-file "letter.txt")')
    emacs.run('(codelaw "Run it")')
    seen = emacs.until("a question", lambda seen: seen["asked"] == 1 and seen["question"] is not None)
    assert "1  Show all of it" in seen["question"]
    assert "2  Reject" in seen["question"]
    assert "Allow" not in seen["question"]
    assert "echo END" not in seen["question"]
    emacs.press("\x1bxcodelaw-answer\r")
    emacs.until("the window", lambda seen: seen["selected"].startswith("*codelaw asks*"))
    emacs.press("1\r")
    seen = emacs.until("all answers", lambda seen: "1  Allow once" in (seen["question"] or ""))
    assert seen["selected"] == "*codelaw asks for*"
    assert "The model's words for it: “List⟨U+202E⟩ the files”" in seen["question"]
    emacs.run(f'(with-current-buffer "*codelaw asks for*" (write-region nil nil "{project}/../whole.txt"))')
    whole = (project.parent / "whole.txt").read_text("utf-8")
    assert whole.split("\n")[0] == "echo ⟨U+200B⟩⟨U+00A0⟩start"
    assert whole.endswith("echo END > seen.txt")
    emacs.press("\x1bxcodelaw-answer\r")
    emacs.until("the window", lambda seen: seen["selected"].startswith("*codelaw asks*"))
    emacs.press("1\r")
    emacs.until("the answer", lambda seen: seen["asked"] == 0)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (project / "seen.txt").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (project / "seen.txt").read_text() == "END\n"


@pytest.mark.needs("emacs")
def test_what_is_typed_into_another_buffer_answers_no_question(start: Start, project: Path) -> None:
    (project / "letter.txt").write_text("a letter\n")
    emacs = start(
        [
            act("Write", path="note.txt", content=NOTE) | {"delay": 0.3},
            act("Bash", command="sleep 60"),
            act("Bash", command="echo hello"),
        ]
    )
    emacs.run('(find-file "letter.txt")')
    emacs.run('(codelaw "Write a note")')
    seen = emacs.until("a question", lambda seen: seen["asked"] == 1 and seen["question"] is not None)
    assert seen["selected"] == "letter.txt"
    assert "note.txt" in seen["question"]
    assert "+hidden ⟨U+202E⟩⟨U+001B⟩[8m text" in seen["question"], "what hides something is seen"
    assert "4  Reject" in seen["question"]

    # All that answers a list, a menu or a yes-or-no question somewhere.
    emacs.press("1\ry\r!\rok\r")
    seen = emacs.text("letter.txt", "1\ny\n!\nok\na letter\n")
    assert seen["asked"] == 1
    assert seen["minibuffer"] == 0
    assert not (project / "note.txt").exists()

    # Enter alone chooses nothing; going back leaves the question open.
    emacs.press("\x1bxcodelaw-answer\r")
    emacs.until("the window", lambda seen: seen["selected"].startswith("*codelaw asks*"))
    emacs.press("\r")
    emacs.until("the word", lambda seen: "Choose an answer" in seen["message"])
    emacs.press("q")
    seen = emacs.until("the way back", lambda seen: seen["selected"] == "letter.txt")
    assert seen["asked"] == 1
    emacs.press("\x1bxcodelaw-answer\r")
    emacs.until("the window", lambda seen: seen["selected"].startswith("*codelaw asks*"))
    emacs.press("1")
    emacs.press("\r")
    seen = emacs.until("the second question", lambda seen: "sleep 60" in (seen["question"] or ""))
    assert seen["selected"] == "letter.txt", "the next question is not selected"
    assert (project / "note.txt").read_text() == NOTE

    # A no, with its reason.
    emacs.press("\x1bxcodelaw-answer\r")
    emacs.until("the window", lambda seen: seen["selected"].startswith("*codelaw asks*"))
    emacs.press("4\r")
    emacs.until("the reason", lambda seen: seen["minibuffer"] == 1)
    emacs.press("not now\r")
    seen = emacs.until("the third question", lambda seen: "echo hello" in (seen["question"] or ""))
    assert "(not now)" in seen["chat"]

    # Withdrawn under the hands of the user: the keys that follow reach no other buffer.
    emacs.press("\x1bxcodelaw-answer\r")
    emacs.until("the window", lambda seen: seen["selected"].startswith("*codelaw asks*"))
    emacs.run("(codelaw-cancel)")
    emacs.until("the word", lambda seen: "withdrawn" in (seen["question"] or ""))
    emacs.press("1\r")
    emacs.until("the word", lambda seen: "no such answer" in seen["message"])
    emacs.press("q")
    seen = emacs.until("the end", lambda seen: seen["question"] is None and not seen["running"])
    assert seen["buffers"]["letter.txt"]["text"] == "1\ny\n!\nok\na letter\n"
    assert ": withdrawn" in seen["chat"]


@pytest.mark.needs("emacs")
def test_a_message_that_asks_takes_no_keys_either(start: Start, project: Path) -> None:
    (project / "letter.txt").write_text("a letter\n")
    (project / ".codelaw").mkdir()
    (project / ".codelaw" / "config.toml").write_text('[permissions]\nallow = ["Bash"]\n')
    emacs = start([finish("Hello.")])
    emacs.run('(find-file "letter.txt")')
    emacs.run('(codelaw "Hello")')
    seen = emacs.until("a question", lambda seen: seen["question"] is not None)
    assert "permissions.allow" in seen["question"]
    emacs.press("1\r\r")
    seen = emacs.text("letter.txt", "1\n\na letter\n")
    assert seen["asked"] == 1
    assert seen["minibuffer"] == 0
