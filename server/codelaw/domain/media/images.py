"""Pictures: what their bytes say of themselves, and what may be sent to a model (M-6)."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from typing import Literal

MediaType = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]

MOST_BYTES = 5 * 1024 * 1024
"""Of one picture."""
LONGEST_SIDE = 8000
"""Pixels; vendors refuse more."""
SEEN_SIDE = 1568
"""Pixels of the longer side that a model sees; a larger picture is made smaller by the vendor."""
MOST_TOKENS = 1600
MOST_PICTURES = 5
"""With one message, or one result."""
MOST_PICTURE_BYTES = 10 * 1024 * 1024
"""Of them together."""
PIXELS_PER_TOKEN = 750

_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers of a frame header, which holds the size."""
_FILLED = re.compile(rb"\xff+[^\xff]", re.DOTALL)
"""A JPEG marker, which any number of bytes may stand before."""
_MOST_SEGMENTS = 10_000
"""Before the frame header: profiles and previews of cameras take a few hundred."""
_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})
"""JPEG markers without a length."""


class NoImage(ValueError):
    """The bytes are not a picture that can be sent; the text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture; its bytes lie elsewhere, under `digest`."""

    media_type: MediaType
    """What the bytes are, whatever the sender says."""
    width: int
    """Pixels."""
    height: int
    """Pixels."""
    size: int
    """Bytes."""
    digest: str
    """SHA-256 of the bytes, hexadecimal."""

    @property
    def tokens(self) -> int:
        """What the vendor counts for it: a token for every 750 pixels of what the model sees."""
        shrunk = min(1.0, SEEN_SIDE / max(self.width, self.height, 1))
        return min(MOST_TOKENS, math.ceil(self.width * self.height * shrunk * shrunk / PIXELS_PER_TOKEN))


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture and its bytes."""

    image: Image
    content: bytes


def picture_ref(digest: str) -> str:
    """The ref under which a chat's store keeps a picture."""
    return f"image_{digest}"


def image_of(content: bytes) -> Image:
    """A picture by its bytes: kind by the first of them, size by the header.

    Raises:
        NoImage: it is not a PNG, JPEG, GIF or WebP, too large, or its header is torn.
    """
    if len(content) > MOST_BYTES:
        raise NoImage(f"it has {len(content)} bytes, and at most {MOST_BYTES} are taken: make it smaller.")
    media_type, found = _measured(content)
    if found is None or not all(found):
        raise NoImage(f"its header ({media_type}) cannot be read: save it anew.")
    width, height = found
    if max(found) > LONGEST_SIDE:
        raise NoImage(f"it is {width}×{height} pixels, and no side may be over {LONGEST_SIDE}: make it smaller.")
    return Image(media_type, width, height, len(content), hashlib.sha256(content).hexdigest())


def _measured(content: bytes) -> tuple[MediaType, tuple[int, int] | None]:
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png", _png(content)
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg", _jpeg(content)
    if content[:6] in {b"GIF87a", b"GIF89a"}:
        return "image/gif", _pair(content, 6, 2, "little")
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp", _webp(content)
    raise NoImage("it is not a PNG, JPEG, GIF or WebP: save it as one of these.")


def _pair(content: bytes, at: int, size: int, order: Literal["little", "big"]) -> tuple[int, int] | None:
    """Two numbers of `size` bytes, one behind the other; None past the end."""
    if len(content) < at + 2 * size:
        return None
    return int.from_bytes(content[at : at + size], order), int.from_bytes(content[at + size : at + 2 * size], order)


def _png(content: bytes) -> tuple[int, int] | None:
    return _pair(content, 16, 4, "big") if content[12:16] == b"IHDR" else None


def _jpeg(content: bytes) -> tuple[int, int] | None:
    """From segment to segment up to a frame header; its height stands before its width."""
    at = 2
    for _ in range(_MOST_SEGMENTS):
        marked = _FILLED.match(content, at)
        if marked is None:
            return None
        at, marker = marked.end() - 2, content[marked.end() - 1]
        if marker in _ALONE:
            at += 2
        elif marker in _FRAMES:
            found = _pair(content, at + 5, 2, "big")
            return None if found is None else (found[1], found[0])
        else:
            at += 2 + max(2, int.from_bytes(content[at + 2 : at + 4], "big"))
    return None


def _webp(content: bytes) -> tuple[int, int] | None:
    kind = content[12:16]
    if kind == b"VP8 " and content[23:26] == b"\x9d\x01\x2a":
        found = _pair(content, 26, 2, "little")
        return None if found is None else (found[0] & 0x3FFF, found[1] & 0x3FFF)
    if kind == b"VP8L" and content[20:21] == b"\x2f" and len(content) >= 25:
        bits = int.from_bytes(content[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    found = _pair(content, 24, 3, "little") if kind == b"VP8X" else None
    return None if found is None else (found[0] + 1, found[1] + 1)
