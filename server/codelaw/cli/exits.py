"""Exit statuses of the terminal commands, and the end of the process."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from typing import NoReturn

FINISHED, FAILED, USAGE, CANCELLED = 0, 1, 2, 130


def leave(status: int) -> NoReturn:
    """End this process at once, with `status`: run what waits for the end, flush, and go (V-3).

    By itself the interpreter would now join every thread and free every module and object. That takes a loaded server
    0.3 s, and seconds on a busy machine, while nothing can bound it any more; the kernel gives the same back in a few
    milliseconds. It is right only at the very end of an entry: `main` has closed what it opened, and no `finally` above
    it is still to run. Functions registered with `atexit` do run, so logging is shut down, and what measures a process
    (coverage, a profiler) writes its file.

    Output that cannot be flushed is told on standard error, and 0 becomes 1: a full disk must not look like success.
    """
    try:
        atexit._run_exitfuncs()  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - nothing public runs them
        status = _flushed(status)
    finally:
        os._exit(status & 0xFF)


def _flushed(status: int) -> int:
    try:
        if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison] - a closed stream is None
            sys.stdout.flush()
    except BrokenPipeError:
        status = status or FAILED  # nobody reads it any more, and nobody wants to hear of it
    except OSError as error:
        status = status or FAILED
        os.write(2, f"codelaw: the output could not be written: {error.strerror or error}\n".encode())
    with suppress(OSError):  # there is nowhere left to tell it
        if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] - as above
            sys.stderr.flush()
    return status
