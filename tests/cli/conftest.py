"""What tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where the stand-in server writes what it got."""
    return tmp_path / "got.jsonl"
