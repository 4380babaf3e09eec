"""What the bytes of a picture say (M-6)."""

from __future__ import annotations

import hashlib
import struct

import pytest

from codelaw.domain.media.images import LONGEST_SIDE, MOST_BYTES, MOST_TOKENS, NoImage, image_of
from tests.domain.pictures import gif, jpeg, png, webp

LOSSY = webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 640 | 1 << 14, 480))
LOSSLESS = webp(b"VP8L", b"\x2f" + struct.pack("<I", 639 | 479 << 14))
EXTENDED = webp(b"VP8X", bytes(4) + (639).to_bytes(3, "little") + (479).to_bytes(3, "little"))


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (png(640, 480), "image/png"),
        (gif(640, 480), "image/gif"),
        (jpeg(640, 480), "image/jpeg"),
        (LOSSY, "image/webp"),
        (LOSSLESS, "image/webp"),
        (EXTENDED, "image/webp"),
    ],
)
def test_kind_and_size_come_from_the_bytes(content: bytes, media_type: str) -> None:
    image = image_of(content)

    assert (image.media_type, image.width, image.height, image.size) == (media_type, 640, 480, len(content))
    assert image.digest == hashlib.sha256(content).hexdigest()


def test_a_header_is_looked_for_among_so_many_parts_and_no_more() -> None:
    frame = jpeg(640, 480)[2:]
    filled = image_of(b"\xff\xd8" + b"\xff" * 4_000_000 + frame)
    assert (filled.width, filled.height) == (640, 480), "what fills up is not part"
    assert image_of(b"\xff\xd8" + b"\xff\xe0\0\2" * 9_000 + frame).width == 640
    with pytest.raises(NoImage, match="cannot be read"):
        image_of(b"\xff\xd8" + b"\xff\xe0\0\2" * 1_000_000 + frame)


@pytest.mark.parametrize("whole", [png(640, 480)[:24], gif(640, 480)[:10], jpeg(640, 480)[:-5], LOSSY, EXTENDED])
def test_a_torn_header_is_refused_wherever_it_ends(whole: bytes) -> None:
    for end in range(len(whole)):
        with pytest.raises(NoImage):
            image_of(whole[:end])


@pytest.mark.parametrize(
    ("content", "reported"),
    [
        (b"", "save it as one of these"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not a PNG, JPEG, GIF or WebP"),
        (b"%PDF-1.7", "not a PNG, JPEG, GIF or WebP"),
        (png(0, 480), "cannot be read"),
        (png(LONGEST_SIDE + 1, 1), "make it smaller"),
        (png(1, 1) + bytes(MOST_BYTES), "make it smaller"),
        (b"\xff\xd8" + b"\xff\xe0\0\0" * 1000, "cannot be read"),
    ],
)
def test_what_cannot_be_sent_is_refused_with_what_to_do(content: bytes, reported: str) -> None:
    with pytest.raises(NoImage, match=reported):
        image_of(content)


def test_tokens_follow_what_the_model_sees() -> None:
    assert image_of(png(750, 100)).tokens == 100
    assert image_of(png(751, 1)).tokens == 2
    assert image_of(png(3136, 100)).tokens == image_of(png(1568, 50)).tokens
    assert image_of(png(8000, 8000)).tokens == MOST_TOKENS
