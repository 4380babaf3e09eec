"""A question, an edit and a compaction enter no more files than `scripts/size.toml` says (with room for what runs beside it)."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import trace
from scripts.size import table


@pytest.mark.parametrize("asked", [trace.question, trace.edit, trace.compaction])
async def test_it_enters_few_files(asked, tmp_path: Path) -> None:
    entered = await trace.traced(tmp_path, asked)
    assert 20 < len(entered) <= table()["trace"][asked.__name__], sorted(entered)
