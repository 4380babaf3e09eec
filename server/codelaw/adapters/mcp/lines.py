"""Lines out of a stream that nobody can be trusted to end (S-6)."""

from __future__ import annotations

import re
from collections import deque

LINE_BYTES = 8_000_000
"""Of one message: five megabytes of an image, as text, and what stands around it."""
VALUES = 150_000
"""Of one message: a value costs the more memory the less there is in it."""
OBJECTS = 30_000
"""Of one message, which cost ten times as much as other values."""
HELD_BYTES = 1_000_000
"""Of whole lines that nobody has taken yet, before the stream is to wait."""
_LIGHT_BYTES = 250_000
_WHOLE = re.compile(
    rb"(?:[^\\]++|\\(?!u[dD][89a-fA-F]).|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?!))*+",
    re.DOTALL,
)
"""Of JSON, up to half a character that stands without its other half.

The last alternative matches nothing: before Python 3.11.5 the loop would keep what another had read before it failed.
"""
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_HALF_BYTES = 6
_MOST_HALVES = 10_000
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')


class Lines:
    """Puts lines together. `too_long` is set once one has more than `bound` bytes, and from then on nothing comes."""

    def __init__(self, bound: int = LINE_BYTES) -> None:
        self._bound = bound
        self._part = bytearray()
        self._whole: deque[bytes] = deque()
        self.held = 0
        """Bytes of the lines that wait to be taken."""
        self.too_long = False

    def feed(self, data: bytes) -> None:
        if self.too_long:
            return
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._part += data[start:end]
            self._end_line()
            start = end + 1
        self._part += data[start:]
        self._judge(len(self._part))

    def take(self) -> bytes | None:
        """The next whole line, without its end; blank ones are left out."""
        if not self._whole:
            return None
        line = self._whole.popleft()
        self.held -= len(line)
        return line

    def _end_line(self) -> None:
        self._judge(len(self._part))
        if self._part.strip() and not self.too_long:
            self._whole.append(bytes(self._part))
            self.held += len(self._part)
        self._part = bytearray()

    def _judge(self, size: int) -> None:
        if size > self._bound:
            self.too_long = True
            self._part = bytearray()


def too_rich(text: bytes) -> bool:
    """Whether a JSON text has more values than may be read into memory."""
    if len(text) < _LIGHT_BYTES or not _over(text):
        return False
    return _over(_STRING.sub(b"", text))


def _over(text: bytes) -> bool:
    objects = text.count(b"{")
    return objects > OBJECTS or objects + text.count(b",") + text.count(b"[") > VALUES


def mended(text: bytes) -> bytes:
    """A JSON text with U+FFFD for halves of characters, and for bytes that are none: programs cut texts anywhere."""
    known = text.decode("utf-8", "replace").encode()
    if _HALF.search(known) is None:
        return known
    pieces: list[bytes] = []
    at = 0
    for _ in range(_MOST_HALVES):
        run = _WHOLE.match(known, at)
        assert run is not None  # noqa: S101 - it fits nothing too
        pieces.append(run[0])
        if run.end() == len(known):
            break
        pieces.append(rb"\ufffd")
        at = run.end() + _HALF_BYTES
    else:
        return text
    return b"".join(pieces)
