"""The messages typed at the prompt, kept for the arrow keys of the next conversation."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

MOST_ENTRIES = 1000
LONGEST_ENTRY = 10_000
"""Characters; a longer message is not kept."""
_WORTH_CUTTING = 2 * MOST_ENTRIES


class History:
    """A file with one JSON string a line, for the user's eyes alone. Several terminals may append to it.

    It is a convenience: where it cannot be read or written, the conversation goes on without it.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def load(self) -> list[str]:
        """The newest entries, oldest first. A file that has grown too long is cut."""
        try:
            lines = self._file.read_text("utf-8", errors="replace").split("\n")
        except OSError:
            return []  # none yet, or not readable
        entries = [entry for line in lines if (entry := _entry(line))]
        if len(entries) > _WORTH_CUTTING:
            self._cut(entries[-MOST_ENTRIES:])
        return entries[-MOST_ENTRIES:]

    def add(self, entry: str) -> None:
        """Keep `entry`; it is on the disk when this returns."""
        if not entry.strip() or len(entry) > LONGEST_ENTRY:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.fchmod(descriptor, 0o600)
                size = os.fstat(descriptor).st_size
                # A line that another terminal could not finish stays a line of its own.
                begin = "\n" if size and os.pread(descriptor, 1, size - 1) != b"\n" else ""
                os.write(descriptor, f"{begin}{json.dumps(entry)}\n".encode())
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError:
            return  # see the class

    def _cut(self, entries: list[str]) -> None:
        try:
            with tempfile.NamedTemporaryFile("w", dir=self._file.parent, delete=False, encoding="utf-8") as new:
                new.write("".join(f"{json.dumps(entry)}\n" for entry in entries))
                new.flush()
                os.fsync(new.fileno())
            Path(new.name).replace(self._file)
        except OSError:
            return  # as above; it is tried again the next time


def _entry(line: str) -> str:
    """What a line says; lines of an older version, which are not JSON, stand for themselves."""
    if line.startswith('"'):
        try:
            return str(json.loads(line))
        except ValueError:
            return line
    return line
