"""A vector for a text that has nothing to be compared by."""

from __future__ import annotations

import struct
from hashlib import shake_128
from math import sqrt

from codelaw.ports.embedder import Vector


def arbitrary(text: str, dimension: int) -> Vector:
    """Of length 1 and nearly at right angles to every other: such a text is like itself, and like nothing else."""
    signs = shake_128(text.encode("utf-8", "surrogatepass")).digest(dimension)
    value = 1 / sqrt(dimension)
    return struct.pack(f"<{dimension}f", *(value if byte & 1 else -value for byte in signs))
