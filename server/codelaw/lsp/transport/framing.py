"""The base protocol's framing, without any I/O: bytes in, messages out (S-6)."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_MESSAGE = 64 << 20
"""Bytes of one message."""
MAX_HEADER = 8 << 10
"""Bytes of one header line."""
HEAD = 512
"""Bytes of an oversized message that are looked at for its id."""

_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,18})[ \t]*", re.IGNORECASE)
_LENGTH_AT_END = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,18})[ \t]*$", re.IGNORECASE)
_ID = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,200}")')


@dataclass(frozen=True, slots=True)
class Oversized:
    """A message over the limit; its body was skipped unread."""

    length: int
    head: bytes

    def request_id(self) -> int | str | None:
        """The id of the request it was, where its first bytes tell."""
        if b'"params"' in self.head.partition(b'"id"')[0]:
            return None
        found = _ID.search(self.head)
        if found is None:
            return None
        text = found[1].decode("utf-8", "replace")
        return text[1:-1] if text.startswith('"') else int(text)


@dataclass(frozen=True, slots=True)
class Unframed:
    """A header block without a usable Content-Length; what follows is searched for the next header."""

    reason: str


Frame = bytes | Oversized | Unframed


class Frames:
    """Cuts a stream of bytes into frames. Header names match in any case; lines may end with LF alone."""

    def __init__(self, limit: int = MAX_MESSAGE) -> None:
        self.limit = limit
        self._buffer = bytearray()
        self._length: int | None = None
        """Of the message whose header or body is being read."""
        self._in_body = False
        self._strange = False
        """The header block holds a line that is not a header."""
        self._skipping = 0
        """Bytes of an oversized body still to come."""
        self._head = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that `data` completes."""
        frames: list[Frame] = []
        self._buffer += data
        while self._step(frames):
            pass
        return frames

    def _step(self, frames: list[Frame]) -> bool:
        if self._skipping:
            return self._skip(frames)
        if self._in_body:
            return self._body(frames)
        return self._line(frames)

    def _skip(self, frames: list[Frame]) -> bool:
        taken = min(self._skipping, len(self._buffer))
        self._head += self._buffer[: min(taken, HEAD - len(self._head))]
        del self._buffer[:taken]
        self._skipping -= taken
        if self._skipping:
            return False
        frames.append(Oversized(self._length or 0, bytes(self._head)))
        self._length = None
        return True

    def _body(self, frames: list[Frame]) -> bool:
        length = self._length or 0
        if len(self._buffer) < length:
            return False
        frames.append(bytes(memoryview(self._buffer)[:length]))
        del self._buffer[:length]
        self._length, self._in_body = None, False
        return True

    def _line(self, frames: list[Frame]) -> bool:
        end = self._buffer.find(b"\n")
        if end < 0:
            if len(self._buffer) > MAX_HEADER:
                # The tail may be the beginning of the next header.
                del self._buffer[:-64]
                self._strange = True
            return False
        line = bytes(self._buffer[:end]).rstrip(b"\r")
        del self._buffer[: end + 1]
        if line.strip():
            self._header(line)
        elif self._length is not None:
            self._begin_body()
        elif self._strange:
            self._strange = False
            frames.append(Unframed("a header block without a usable Content-Length"))
        return True

    def _header(self, line: bytes) -> None:
        # A message with a wrong length runs into the next header: look for that at the end of a strange line.
        found = _LENGTH.fullmatch(line) or _LENGTH_AT_END.search(line[-MAX_HEADER:])
        if found is not None:
            self._length = int(found[1])
        elif not line.lower().startswith(b"content-type"):
            self._strange = True

    def _begin_body(self) -> None:
        self._strange = False
        if (self._length or 0) > self.limit:
            self._skipping = self._length or 0
            self._head.clear()
        else:
            self._in_body = True


def frame(body: bytes) -> bytes:
    """A message with its header."""
    return b"Content-Length: %d\r\n\r\n" % len(body) + body
