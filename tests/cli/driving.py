"""The real command line with a stand-in for its server: as a process, and under a pseudo-terminal."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PATH = os.pathsep.join(sys.path)
INSTALLED = [sys.executable, "-P", "-m", "codelaw"]
"""The command as it is installed."""
FORKED: list[str] = []
"""What starts it in a forked process instead; `forked` of the conftest fills it."""
STEERING = [chr(code) for code in (*range(9), *range(11, 32), *range(0x7F, 0xA0), 0x202E)]
"""What must never reach a terminal."""


def command(scene, log, *arguments):
    return [sys.executable, str(HERE / "launch.py"), scene, str(log), *arguments]


def run(scene, log, *arguments, text=None):
    """Without a terminal, in a process that is forked."""
    return subprocess.run(
        [*FORKED, "--scene", scene, str(log), *arguments],
        input=text,
        stdin=None if text is not None else subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
        env={**os.environ, "PYTHONPATH": PATH},
    )


def run_closed(scene, log, *arguments):
    """With standard input closed, as `<&-` does in a shell."""
    line = shlex.join(command(scene, log, *arguments))
    return subprocess.run(
        ["sh", "-c", f"{line} <&-"],
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
        env={**os.environ, "PYTHONPATH": PATH},
    )


def received(log, method):
    messages = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    return [message.get("params") for message in messages if message.get("method") == method]


def answers(log):
    messages = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    return {message["id"]: message for message in messages if "method" not in message}


class Terminal:
    """The command under a pseudo-terminal."""

    def __init__(self, scene, log, *arguments):
        self.fd, inner = pty.openpty()
        self.name = os.ttyname(inner)
        """Of the end that the command has."""
        self.pid = os.fork()
        if self.pid == 0:
            os.login_tty(inner)
            os.environ["PYTHONPATH"] = PATH
            os.environ["TERM"] = "dumb" if os.environ.get("TERM") == "dumb" else "xterm"
            for number in (signal.SIGINT, signal.SIGHUP):  # a background job is born without, what `nohup` starts too
                signal.signal(number, signal.SIG_DFL)
            os.execv(sys.executable, command(scene, log, *arguments))
        os.close(inner)
        self._begin(self.pid, self.fd)

    def _begin(self, pid, fd):
        self.pid, self.fd, self.text = pid, fd, ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.seen = 0
        """How much of the text was waited for."""

    def until(self, text, seconds=150.0):
        """Wait for `text` behind what was waited for before."""
        end = time.monotonic() + seconds
        while (found := self.text.find(text, self.seen)) < 0:
            assert time.monotonic() < end, f"{text!r} did not come: {self.text!r}"
            if select.select([self.fd], [], [], 0.1)[0] and not self._read():
                break
        assert found >= 0, self.text
        self.seen = found + len(text)

    def type(self, text):
        os.write(self.fd, text.encode())

    def hang_up(self, seconds=150.0):
        """Close the window; gives the exit status."""
        os.close(self.fd)
        end = time.monotonic() + seconds
        while not (ended := os.waitpid(self.pid, os.WNOHANG))[0]:
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                pytest.fail(f"it did not end: {self.text!r}")
            time.sleep(0.05)
        return os.waitstatus_to_exitcode(ended[1])

    def status(self, seconds=150.0, typing=""):
        """The exit status; `typing` is repeated until it is there."""
        end = time.monotonic() + seconds
        while not (ended := os.waitpid(self.pid, os.WNOHANG))[0]:
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                pytest.fail(f"it did not end: {self.text!r}")
            if typing:
                with contextlib.suppress(OSError):  # it has ended meanwhile
                    self.type(typing)
                time.sleep(0.5)
            if select.select([self.fd], [], [], 0.2)[0]:
                self._read()
        while select.select([self.fd], [], [], 0)[0] and self._read():
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(ended[1])

    def _read(self):
        try:
            data = os.read(self.fd, 4096)
        except OSError:  # the other end is closed
            return False
        self.text += self._decoder.decode(data)
        return bool(data)
