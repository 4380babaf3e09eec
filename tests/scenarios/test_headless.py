"""The test that docs/headless.md shows is one that passes, in a project of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_what_the_page_shows_passes_as_it_stands(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "headless.md").read_text("utf-8")
    shown = dict(re.findall(r"```(python|json)\n(.*?)```", page, re.DOTALL))
    (tmp_path / "test_agent.py").write_text(shown["python"], "utf-8")
    (tmp_path / "script.json").write_text(shown["json"], "utf-8")
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "codelaw").write_text(f'#!/bin/sh\nexec {sys.executable} -m codelaw "$@"\n', "utf-8")
    (programs / "codelaw").chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "server"),
        "CODELAW_MODEL__DIALECT": "auto",
    }
    options = ["-q", "-o", "asyncio_default_fixture_loop_scope=function", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "."],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
