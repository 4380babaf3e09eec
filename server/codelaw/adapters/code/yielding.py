"""How soon a thread that computes lets others go on, the event loop first of all (X-5)."""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager

SECONDS = 0.0005
"""Python's own time is ten times that, and a turn that begins beside an index waits for it many times."""


MANY = 5_000
"""Files whose rows and digests are worth being kept from the garbage collector."""


class _Interpreter:
    """What this process has done about its threads and its collector."""

    by = 0
    before = 0.0
    spared = 0


@contextmanager
def yielding() -> Generator[None]:
    """While much is read in a thread; for the event loop's thread."""
    if not _Interpreter.by:
        _Interpreter.before = sys.getswitchinterval()
        sys.setswitchinterval(min(_Interpreter.before, SECONDS))
    _Interpreter.by += 1
    try:
        yield
    finally:
        _Interpreter.by -= 1
        if not _Interpreter.by:
            sys.setswitchinterval(_Interpreter.before)


def spare(files: int) -> None:
    """What there is of so many files stays, and the garbage collector need not visit it, which stops every thread.

    Does something each time there are `MANY` more than ever before, as what else is there stays with them. What is held
    of a file is in no circle, so that it is freed without the collector.
    """
    if files >= _Interpreter.spared + MANY:
        _Interpreter.spared = files
        gc.freeze()
