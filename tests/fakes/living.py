"""Which processes live; inside a sandbox a process has another id than outside, so they are known by their words."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4


def command_lines() -> list[bytes]:
    """The command lines of all processes that live."""
    found: list[bytes] = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(entry.read_bytes())
    return found


def own_seconds() -> str:
    """Half a minute, and a fraction that nobody else sleeps."""
    return f"31.{os.getpid()}{uuid4().int % 1_000_000}"


def sleeps(seconds: str) -> bool:
    """Whether somebody still sleeps so long."""
    return any(seconds.encode() in line for line in command_lines())
