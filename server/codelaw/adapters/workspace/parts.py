"""Some lines of a file that is too large to be read whole (T-4, S-6)."""

from __future__ import annotations

import os

from codelaw.adapters.texts import MAX_BYTES, opened, visible
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import FilePart, Located

LARGEST = 4 << 30
"""Bytes of the largest file whose lines are counted; that takes seconds."""
_CHUNK = 1 << 20
_BOM = b"\xef\xbb\xbf"
_CONTINUATIONS = bytes(range(0x80, 0xC0))


def part_at(located: Located, first: int, count: int, width: int) -> FilePart | None:
    """See `Workspace.part`.

    Raises:
        ToolFailure: NOT_FOUND, IS_DIRECTORY, ACCESS_DENIED, BINARY_FILE; INVALID_PARAM when it is too large for this.
    """
    with opened(located) as (descriptor, facts):
        size = facts.st_size
        if size <= MAX_BYTES:
            return None
        if size > LARGEST:
            raise ToolFailure(
                "INVALID_PARAM", f"{located.shown} has {size} bytes; of more than {LARGEST} nothing is read: use Grep."
            )
        if b"\0" in os.pread(descriptor, 8192, 0):
            raise ToolFailure("BINARY_FILE", f"{located.shown} is a binary file ({size} bytes).")
        lines = _LineCounter(first, count, width)
        left = size
        # What is appended meanwhile is another Read's.
        while left > 0 and (chunk := os.read(descriptor, min(_CHUNK, left))):
            lines.take(chunk.removeprefix(_BOM) if left == size else chunk)
            left -= len(chunk)
    texts = lines.end()
    shown = tuple(visible(text) for text in texts)
    return FilePart(
        lines=shown,
        lengths=tuple(lines.lengths),
        total_lines=lines.number - 1,
        mtime=facts.st_mtime,
        size=size,
        replaced=shown != texts,
    )


class _LineCounter:
    """Counts lines and keeps the wanted ones, of each no more than is shown."""

    def __init__(self, first: int, count: int, width: int) -> None:
        self.number = 1
        """Of the line that is being read."""
        self.lengths: list[int] = []
        """Characters of the wanted lines."""
        self._wanted = range(first, first + count)
        self._width = width
        self._texts: list[str] = []
        self._line = bytearray()
        self._length = 0
        self._begun = False
        self._returned = False
        """The line so far ends with a carriage return, which belongs to the break if that comes now."""

    def take(self, chunk: bytes) -> None:
        """Go on with the next bytes of the file."""
        breaks = chunk.count(b"\n")
        if self.number + breaks < self._wanted.start or self.number >= self._wanted.stop:
            self.number += breaks
            self._begun = not chunk.endswith(b"\n")
            return
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            self._more(piece)
            self._ended()
        self._more(rest)
        self._begun = self._begun if not chunk else bool(rest)

    def end(self) -> tuple[str, ...]:
        """The file has ended; gives the wanted lines, each cut to the width."""
        if self._begun:
            self._ended()
        return tuple(self._texts)

    def _more(self, piece: bytes) -> None:
        if self.number in self._wanted:
            # A character has at most four bytes.
            self._line += piece[: max(0, 4 * self._width + 1 - len(self._line))]
            self._length += len(piece.translate(None, _CONTINUATIONS))
            self._returned = piece.endswith(b"\r") if piece else self._returned

    def _ended(self) -> None:
        if self.number in self._wanted:
            text = self._line.decode("utf-8", "surrogateescape")
            whole = len(self._line) <= 4 * self._width
            self._texts.append((text[:-1] if self._returned and whole else text)[: self._width + 1])
            self.lengths.append(self._length - self._returned)
        self._line.clear()
        self._length = 0
        self._returned = False
        self.number += 1
