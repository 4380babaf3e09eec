"""Open documents without an editor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codelaw.domain.files import Buffer


class FakeDocuments:
    """Implements `OpenDocuments`; tests open, edit and close."""

    def __init__(self) -> None:
        self.buffers: dict[str, Buffer] = {}

    def open(self, path: Path | str, text: str, version: int = 1) -> Buffer:
        """Open a file, or with a string an `untitled:` document; opening again replaces the text."""
        uri = path if isinstance(path, str) else path.as_uri()
        buffer = Buffer(uri, None if isinstance(path, str) else path, text, version)
        self.buffers[uri] = buffer
        return buffer

    def edit(self, path: Path | str, text: str) -> Buffer:
        uri = path if isinstance(path, str) else path.as_uri()
        return self.open(path, text, self.buffers[uri].version + 1)

    def close(self, path: Path | str) -> None:
        del self.buffers[path if isinstance(path, str) else path.as_uri()]

    def at(self, path: Path) -> Buffer | None:
        return next((buffer for buffer in self.buffers.values() if buffer.path == path), None)

    def all(self) -> Sequence[Buffer]:
        return tuple(self.buffers.values())

    def saves(self, path: Path) -> int:
        del path
        return 0

    def formed(self, path: Path) -> Sequence[tuple[str, str]]:
        del path
        return ()
