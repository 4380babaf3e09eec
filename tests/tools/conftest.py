from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.desk import Desk, folder, make_desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(folder(tmp_path / "work"))
