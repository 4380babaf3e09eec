"""Exact counts by o200k_base, from data in the package and never from the network (W-4).

It is not Claude's tokenizer, and it holds tens of megabytes: turns use the estimates of `context.tokens`; reports and
benchmarks may ask for this.
"""

from __future__ import annotations

import asyncio
import base64
import lzma
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

Counter = Callable[[str], int]

SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""tiktoken's own constant for the ranks."""

_PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"\s*[\r\n]+",
    r"\s+(?!\S)",
    r"\s+",
)


def counter() -> Counter:
    """As `load_counter`, for who has no event loop to hold up."""
    encoding = _encoding()
    return lambda text: len(encoding.encode_ordinary(text))


async def load_counter() -> Counter:
    """A counter of tokens, loaded once, in a thread.

    Raises:
        ImportError: tiktoken is not installed.
        ValueError: the data is not what it should be.
    """
    return await asyncio.to_thread(counter)


@cache
def _encoding() -> Encoding:
    from tiktoken import Encoding  # noqa: PLC0415 - heavy, and needed here only

    return Encoding("o200k_base", pat_str="|".join(_PATTERN), mergeable_ranks=_ranks(), special_tokens={})


def _ranks() -> dict[bytes, int]:
    packed = files("codelaw").joinpath("data", "o200k_base.tiktoken.xz").read_bytes()
    data = lzma.decompress(packed)
    if sha256(data).hexdigest() != SHA256:
        message = "o200k_base.tiktoken.xz is damaged"
        raise ValueError(message)
    rows = (line.split() for line in data.splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in rows}
