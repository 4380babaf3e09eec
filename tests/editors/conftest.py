"""The folder of the editors' tests, and whether Emacs has what it needs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import REQUIRED
from tests.editors.driving import EMACS, ended


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """The folder that is worked in."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def eglot(tmp_path: Path) -> None:
    """Emacs before version 29 has no eglot of its own."""
    look = "(progn (package-initialize) (require 'eglot))"
    if ended(
        *EMACS, "--eval", "(require 'package)", "--eval", look, env=os.environ | {"HOME": str(tmp_path)}
    ).returncode:
        if "emacs" in REQUIRED:
            pytest.fail("this Emacs has no eglot", pytrace=False)
        pytest.skip("this Emacs has no eglot")
