"""What this process holds in memory is nobody else's, whoever of the same user asks (S-5)."""

from __future__ import annotations

import ctypes
import sys

_SET_DUMPABLE = 4


def keep_memory() -> bool:
    """Shut `/proc/PID/environ`, `/proc/PID/mem` and debuggers out of this process; whether that could be done.

    Linux alone offers it. Programs that are started afterwards are as open as ever.
    """
    return sys.platform == "linux" and ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0) == 0
