"""Small lists in the data folder that several servers change: read, changed and put back by one at a time."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def alone(file: Path) -> Generator[None]:
    """No other server changes the list meanwhile; its folder is there. Touches the disk.

    Raises:
        OSError: the folder cannot be written.
    """
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = os.open(f"{file}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def put(file: Path, content: Mapping[str, Any]) -> None:
    """Replace the list by another, whole or not at all. Touches the disk.

    Raises:
        OSError: it cannot be written.
    """
    descriptor, name = tempfile.mkstemp(prefix=f"{file.name}-", dir=file.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as made:
            made.write(json.dumps(content, indent=1) + "\n")
            made.flush()
            os.fsync(made.fileno())
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
