"""Server-sent events cut out of a stream of bytes, whatever it is made of (P-1, S-6)."""

from __future__ import annotations

from collections.abc import Iterator


class TooLarge(ValueError):
    """One event, or what stands between two, has more bytes than any real one."""


class Events:
    """Cuts bytes into events; looks at each byte once. Comments are skipped, and so are events without a name or data.

    `most` is how many bytes may come without an event's end.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0
        """Bytes since the last blank line."""
        self._line: list[bytes] = []
        """The pieces of a line that has not ended."""
        self._name = b""
        self._data: list[bytes] = []
        self._returned = False
        """The last byte was a carriage return: a line feed that follows belongs to it."""

    def feed(self, chunk: bytes) -> Iterator[tuple[str, bytes]]:
        """The name and the data of each event that `chunk` completes.

        Raises:
            TooLarge: an event does not end.
        """
        for line in chunk.splitlines(keepends=True):
            returned, self._returned = self._returned, line.endswith(b"\r")
            if returned and line == b"\n":
                continue
            self._held += len(line)
            if self._held > self._most:
                raise TooLarge(f"an event has more than {self._most} bytes")
            if not line.endswith((b"\n", b"\r")):
                self._line.append(line)
                continue
            whole = (b"".join(self._line) + line if self._line else line).rstrip(b"\r\n")
            self._line.clear()
            if whole:
                self._field(whole)
            else:
                yield from self._end()

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
        elif name == b"event":
            self._name = value.removeprefix(b" ")

    def _end(self) -> Iterator[tuple[str, bytes]]:
        name, data = self._name, b"\n".join(self._data)
        self._held, self._name = 0, b""
        self._data.clear()
        if name and (data or name == b"ping"):
            yield name.decode("utf-8", "replace"), data
