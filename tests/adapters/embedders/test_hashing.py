"""The embedder without a model: the same everywhere, and what shares words is near (B-5)."""

from __future__ import annotations

import asyncio
import math
import os
import struct
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.adapters.embedders.hashing import DIMENSION, LONGEST, HashingEmbedder, embed
from codelaw.domain.errors import EmbeddingFailure

SERVER = Path(__file__).parents[3] / "server"
SAMPLE = "def parseConfig(file_path): # reads Größe, naïve café 設定ファイル 3.14\n    return tomllib.loads(file_path)"


def numbers(packed: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(packed) // 4}f", packed)


def alike(one: str, other: str, dimension: int = DIMENSION) -> float:
    return sum(a * b for a, b in zip(numbers(embed(one, dimension)), numbers(embed(other, dimension)), strict=True))


@given(st.text(max_size=300))
def test_every_text_has_a_vector_of_length_one(text: str):
    for dimension in (32, DIMENSION):
        vector = numbers(embed(text, dimension))
        assert len(vector) == dimension
        assert math.sqrt(sum(value * value for value in vector)) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("seed", ["1"])
def test_another_process_makes_the_same_bytes(seed: str):
    code = "import sys; from codelaw.adapters.embedders.hashing import embed; sys.stdout.buffer.write(embed(sys.argv[1], 512))"
    done = subprocess.run(
        [sys.executable, "-c", code, SAMPLE],
        capture_output=True,
        check=True,
        env={"PYTHONPATH": str(SERVER), "PYTHONHASHSEED": seed, "PYTHONUTF8": "1", "PATH": os.environ["PATH"]},
    )
    assert done.stdout == embed(SAMPLE, 512)


def test_the_vectors_of_this_revision_do_not_change_unnoticed():
    # Stored vectors are compared with new ones: another outcome needs another revision in the embedder's name.
    assert HashingEmbedder().name == "hashing-2/512"
    rounded = ",".join(f"{value:.4f}" for value in numbers(embed(SAMPLE, 64)))
    assert sha256(rounded.replace("-0.0000", "0.0000").encode()).hexdigest()[:16] == "bdab464c24ca56f4"


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        (
            "I prefer tabs over spaces in Go files",
            "prefers tabs, not spaces, for Go file",
            "the database runs on port 5432",
        ),
        ("Always run pytest with -x", "always running pytest -x please", "commit messages are in English"),
        (
            "retry failed web requests with backoff",
            "failing requests are retried, with a backoff",
            "the quick brown fox",
        ),
        ("設定ファイルを読む", "設定ファイル", "データベース"),
    ],
)
def test_what_shares_words_is_nearer_than_what_does_not(text: str, near: str, far: str):
    assert alike(text, near) > 0.5 > alike(text, far) + 0.2


def test_texts_without_words_are_like_themselves_only():
    assert alike("!!!", "!!!") == pytest.approx(1, abs=1e-5)
    assert abs(alike("!!!", "???")) < 0.2
    assert abs(alike("", "parser")) < 0.2


async def test_long_texts_are_bounded_and_leave_the_event_loop_free():
    made = HashingEmbedder()
    text = " ".join(f"word{number}x" for number in range(20_000))
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.001)
            ticks += 1

    ticking = asyncio.create_task(tick())
    vector, *_ = await made.embed([text] * 5)
    ticking.cancel()
    assert vector == embed(text[:LONGEST], DIMENSION)
    assert ticks > 0
    await made.close()


@pytest.mark.parametrize("dimension", [31, 8193])
async def test_a_dimension_out_of_bounds_is_told(dimension: int):
    with pytest.raises(EmbeddingFailure, match=r"embedding\.dimension") as caught:
        await HashingEmbedder(dimension).embed(["x"])
    assert caught.value.lasting
