"""The end of the terminal: its window is closed, or the process is asked to end."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

LEAVE_SECONDS = 5.0
"""How long a turn may take to end once nobody can see it any more."""


class TerminalGone(BaseException):
    """The terminal was closed while nothing ran. No `Exception`: nothing in between may swallow it."""


class Hangup:
    """What SIGHUP and SIGTERM do: nothing is written to the terminal any more, and what runs is asked to end.

    A signal that is ignored when the process begins (`nohup`) stays ignored.
    """

    def __init__(self) -> None:
        self.came = False
        self.stop: Callable[[], object] | None = None
        """Ends what runs, so that its result is kept; None while nothing does."""
        self._terminals = [number for number in (1, 2) if os.isatty(number)]
        """Found at the beginning: what is gone is not a terminal any more."""

    def watch(self) -> None:
        """From now on."""
        for number in (signal.SIGHUP, signal.SIGTERM):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._came)

    def _came(self, _number: int, _frame: FrameType | None) -> None:
        first, self.came = not self.came, True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for terminal in self._terminals:
            os.dup2(nowhere, terminal)
        os.close(nowhere)
        if self.stop is None:
            raise TerminalGone
        if first:
            self.stop()


def reopen_closed_streams() -> None:
    """Give each standard stream that is closed (`<&-`) a file without content, for us and what we start."""
    for number, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.dup2(os.open(os.devnull, mode), number)  # what opens gets the lowest free number, which is this one
            os.set_inheritable(number, True)  # noqa: FBT003 - the function takes no keyword
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 - for the whole process
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - as above
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - as above
