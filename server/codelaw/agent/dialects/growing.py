"""A text that arrives in pieces."""

from __future__ import annotations

from io import SEEK_END, StringIO


class GrowingText:
    """Appending takes time in proportion to the piece, reading a part in proportion to that part.

    Joining a string to every piece of a long reply would copy what is there already each time (R-3).
    """

    def __init__(self, text: str = "") -> None:
        self._held = StringIO(newline="")
        self._length = 0
        self.add(text)

    def __len__(self) -> int:
        return self._length

    @property
    def text(self) -> str:
        """All of it."""
        return self._held.getvalue()

    def add(self, piece: str) -> None:
        """Append a piece."""
        self._held.seek(0, SEEK_END)
        self._held.write(piece)
        self._length += len(piece)

    def part(self, begin: int, end: int | None = None) -> str:
        """The characters from `begin` up to `end`, or to the end."""
        self._held.seek(begin)
        return self._held.read(max(0, (self._length if end is None else end) - begin))
