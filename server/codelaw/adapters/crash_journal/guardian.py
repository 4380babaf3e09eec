"""The process that outlives a killed server for as long as it takes to end the server's commands (S-4, V-3).

A signal at the parent's death would reach only the first process of a command, and is bound to the thread that started
it. A pipe that ends tells the same, on every system, to somebody who can look for all of them.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from pathlib import Path

from codelaw.adapters.crash_journal import guardian_child as program


class Guardian:
    """Started with the first command that needs it."""

    def __init__(self, mark: str) -> None:
        """`mark` begins a variable of all processes that are to be ended."""
        self._mark = mark
        self._process: subprocess.Popen[bytes] | None = None
        self._groups: set[int] = set()
        self._lock = threading.Lock()

    def begin(self, group: int) -> None:
        """A command runs, as a session and process group of that number.

        Raises:
            OSError: the guardian cannot be started.
        """
        with self._lock:
            self._groups.add(group)
            if self._process is None or self._process.poll() is not None:
                # Somebody has killed it, or it was never there.
                self._end()
                self._process = self._started()
                for known in self._groups:
                    self._report(f"+{known}\n")
            else:
                self._report(f"+{group}\n")

    def end(self, group: int) -> None:
        """The command has ended, and all its processes with it."""
        with self._lock:
            self._groups.discard(group)
            self._report(f"-{group}\n")

    def close(self) -> None:
        """End it and wait for its end: no command runs any more."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with process:  # closes its input and waits
                process.kill()

    def _started(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(  # noqa: S603 - a program of ours
            [sys.executable, "-I", "-S", "-B", str(Path(program.__file__)), self._mark],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            bufsize=0,
            start_new_session=True,
        )
        assert process.stdin is not None  # noqa: S101 - narrowing
        os.set_blocking(process.stdin.fileno(), False)
        return process

    def _report(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            # One that is gone is started anew for the next command.
            with contextlib.suppress(BrokenPipeError, BlockingIOError):
                self._process.stdin.write(line.encode())
