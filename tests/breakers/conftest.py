"""The scenarios' server, vendor and folder, for servers that are broken on purpose."""

from __future__ import annotations

import pytest

from tests.lsp import raw
from tests.scenarios.conftest import root, server, start, vendor  # noqa: F401 - fixtures for every test here


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight servers on a machine that has others to serve take their time."""
    monkeypatch.setattr(raw, "PATIENCE", 300.0)
