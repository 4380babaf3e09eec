"""What tests of the command line share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.driving import FORKED, INSTALLED
from tests.fakes.warm import warm


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where the stand-in server writes what it got."""
    return tmp_path / "got.jsonl"


@pytest.fixture(scope="session", autouse=True)
def forked() -> Iterator[None]:
    """Have `test_commands.codelaw` fork its commands, and the servers that they start."""
    with warm(
        INSTALLED, "tests.cli.forked:entry", "tests.fakes.rehearsed:wire", "tests.fakes.rehearsed:engine"
    ) as command:
        FORKED[:] = command
        yield
    FORKED.clear()
