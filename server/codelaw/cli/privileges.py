"""With what rights codelaw runs, and who may look into it."""

from __future__ import annotations

import ctypes
import os
import sys

ROOT = "codelaw runs as root, and so do its commands: a sandbox holds root less well; use an ordinary user"
_SET_DUMPABLE = 4


def is_root() -> bool:
    """Whether this is the superuser."""
    return os.name == "posix" and os.geteuid() == 0


def keep_memory() -> bool:
    """Shut `/proc/PID/environ`, `/proc/PID/mem` and debuggers out of this process; whether that could be done (S-5).

    What it holds in memory is nobody else's, whoever of the same user asks. Linux alone offers it. Programs that are
    started afterwards are as open as ever.
    """
    return sys.platform == "linux" and ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0) == 0
