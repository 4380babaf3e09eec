"""A real Emacs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REQUIRED


def emacs(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run Emacs to its end, without anybody's own settings."""
    patient = "(with-eval-after-load 'jsonrpc (setq jsonrpc-default-request-timeout 150))"
    return subprocess.run(
        ["emacs", "--batch", "-q", "--eval", patient, *arguments],
        capture_output=True, text=True, check=False, timeout=600, stdin=subprocess.DEVNULL, **more,
    )  # fmt: skip


@pytest.fixture
def eglot(tmp_path: Path) -> None:
    """Emacs before version 29 has no eglot of its own."""
    look = "(progn (package-initialize) (require 'eglot))"
    if emacs("--eval", "(require 'package)", "--eval", look, env=os.environ | {"HOME": str(tmp_path)}).returncode:
        if "emacs" in REQUIRED:
            pytest.fail("this Emacs has no eglot", pytrace=False)
        pytest.skip("this Emacs has no eglot")
