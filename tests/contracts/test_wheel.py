"""What is installed is whole: the prompts, the data and the console script travel in the wheel."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_every_prompt_and_data_file_is_in_it(wheel: zipfile.ZipFile) -> None:
    inside = set(wheel.namelist())
    wanted = {f"codelaw/prompts/{path.name}" for path in (ROOT / "prompts").glob("*.md")}
    data = ROOT / "server" / "codelaw" / "data"
    wanted |= {f"codelaw/data/{path.name}" for path in data.iterdir() if path.is_file() and path.suffix != ".py"}
    assert len(wanted) > 10
    assert wanted - inside == set()


def test_nothing_else_is_in_it(wheel: zipfile.ZipFile) -> None:
    assert {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" not in name} == {"codelaw"}


def test_it_has_the_console_script(wheel: zipfile.ZipFile) -> None:
    points = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "codelaw = codelaw.cli.main:entry" in wheel.read(points).decode()
