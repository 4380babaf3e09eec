"""What a setting that names no number takes from the machine."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def usual_memory() -> int:
    """Three quarters of the memory that this machine, or the container, has; in megabytes."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            pages = min(pages, int(Path("/sys/fs/cgroup", name).read_text("ascii")))
    return pages * 3 // 4 // (1 << 20)
