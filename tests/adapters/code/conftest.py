"""A workspace, and its index."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from codelaw.adapters.code.index import WorkspaceIndex
from tests.fakes.desk import Desk, folder, make_desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(folder(tmp_path / "work"))


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[WorkspaceIndex]:
    made = WorkspaceIndex(tmp_path / "kept")
    yield made
    await made.close()
