"""A file that is too large to be read whole is read in parts, as if it were not (T-4, S-6)."""

from __future__ import annotations

import os
import random
import tracemalloc
from pathlib import Path

import pytest

from codelaw.adapters.texts import MAX_BYTES
from codelaw.adapters.workspace import overlay
from tests.fakes.desk import Desk, folder, make_desk

PIECES = ["x", "words and words ", "é", "😀", "\n", "\n\n", "\r\n", "\r", "\t", "\u2028", "long " * 700, "z" * 1_999]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(folder(tmp_path / "work"))


@pytest.mark.parametrize("seed", range(60))
async def test_a_part_is_what_the_whole_file_would_show(desk: Desk, monkeypatch: pytest.MonkeyPatch, seed: int):
    chance = random.Random(seed)
    text = "".join(chance.choices(PIECES, k=chance.randint(1, 60)))
    bom = "\ufeff" if seed % 7 == 0 else ""
    desk.put("big.log", (bom + text).encode())
    asked = {"path": "big.log", "start_line": chance.randint(1, 30), "limit": chance.randint(1, 20)}
    plain = await desk("Read", **asked)
    monkeypatch.setattr(overlay, "MAX_BYTES", 0)
    monkeypatch.setattr(overlay, "_CHUNK", chance.choice([4, 7, 100, 1 << 20]))
    part = await desk("Read", **asked)
    assert (part.status, part.data, part.error, part.text) == (plain.status, plain.data, plain.error, plain.text)


async def test_a_slice_of_a_file_larger_than_the_bound_costs_little_memory(desk: Desk):
    line = b"a line of a log that somebody keeps\n"
    path = desk.root / "big.log"
    with path.open("wb") as file:
        file.write(line * 1000)
        file.truncate(2 * MAX_BYTES)  # a hole takes no place on the disk
        file.seek(0, os.SEEK_END)
        file.write(b"\nthe last line\n")
    tracemalloc.start()
    try:
        first = await desk("Read", path="big.log", start_line=990, limit=3)
        last = await desk("Read", path="big.log", start_line=1002)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert first.data["content"].count("a line of a log") == 3
    assert first.data["total_lines"] == 1002
    assert last.data["content"] == "1002\tthe last line"
    assert peak < 20_000_000


async def test_it_is_not_changed_and_the_refusal_says_how_it_can_be(desk: Desk):
    path = desk.put("big.log", "x = 1\n")
    with path.open("ab") as file:
        file.truncate(MAX_BYTES + 1)
        file.seek(6)
        file.write(b"\n")
    refused = await desk("Edit", path="big.log", old_string="x = 1", new_string="x = 2")
    assert refused.error is not None
    assert refused.error.code == "INVALID_PARAM"
    assert "only a command changes it" in refused.error.message


async def test_even_parts_have_a_bound_and_binaries_stay_binaries(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(overlay, "MAX_BYTES", 0)
    desk.put("program", b"\x7fELF\0\0")
    refused = await desk("Read", path="program")
    assert refused.error is not None
    assert refused.error.code == "BINARY_FILE"
    monkeypatch.setattr(overlay, "LARGEST", 10)
    desk.put("huge.log", "more than ten bytes\n")
    refused = await desk("Read", path="huge.log")
    assert refused.error is not None
    assert "use Grep" in refused.error.message
