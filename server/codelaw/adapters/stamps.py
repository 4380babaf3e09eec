"""By what a file is known again when it is moved, without its content."""

from __future__ import annotations

import os
from pathlib import Path


def content_stamp(facts: os.stat_result) -> int:
    """It stays when the file is moved, and when only its mode is changed; the same in every process."""
    return hash((facts.st_mtime_ns, facts.st_size, facts.st_ino))


def stamp_of(path: Path) -> int | None:
    """The same of a file; None where there is none."""
    try:
        return content_stamp(path.lstat())
    except OSError:
        return None
