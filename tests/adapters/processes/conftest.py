"""A workspace with a world around it, for every test that runs commands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.world import World, world


@pytest.fixture
def around(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path / "world") as made:
        yield made
