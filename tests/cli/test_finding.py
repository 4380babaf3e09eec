"""`codelaw search` and `codelaw index` against the real server (X-5)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.driving import Terminal
from tests.cli.test_commands import codelaw, installed


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "basket.py").write_text("class Basket:\n    def total_price(self):\n        return 0\n")
    (tmp_path / "pay.py").write_text("def pay(basket):\n    return basket.total_price()\n")
    (tmp_path / "logo.png").write_bytes(b"\x89PNG\0")
    return tmp_path


def test_places_are_printed_as_path_and_line(work: Path) -> None:
    done = codelaw("search", "total", "price", workspace=work)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "basket.py:2: function total_price: def total_price(self):",
        "pay.py:1: function pay: def pay(basket):",
    ]
    one = codelaw("search", "total price", "--kind", "use", "--json", "--limit", "1", workspace=work)
    assert json.loads(one.stdout)["path"] == "pay.py"
    assert "Nothing" in codelaw("search", "zebra", workspace=work).stderr
    missing = codelaw("search", "total", "--path", "nowhere", workspace=work)
    assert missing.returncode == 1
    assert "nowhere" in missing.stderr


def test_the_index_tells_on_a_terminal_how_far_it_is(tmp_path: Path) -> None:
    terminal = Terminal("plain", tmp_path / "log", "index")
    terminal.until("looking at the files")
    terminal.until("12 files are indexed, 38 wait")
    terminal.until("50 files in 60 pieces, read in 1.0 s: ready")
    terminal.until("1 commit says which files a change needed")
    assert terminal.status() == 0


def test_missing_packages_are_told_with_what_they_change_and_how_they_are_added(
    work: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    broken = tmp_path_factory.mktemp("broken")
    for name in ("tree_sitter", "mcp"):
        (broken / f"{name}.py").write_text("raise ImportError\n")
    path = {"PYTHONPATH": os.pathsep.join([str(broken), *filter(None, sys.path)])}
    grammars, mcp = installed("index", workspace=work, **path).stderr.splitlines()
    assert grammars.startswith("Missing: grammars. tree_sitter cannot be imported, so the code search ")
    assert grammars.endswith("-m pip install 'tree-sitter>=0.25'`")
    assert mcp.endswith("-m pip install 'mcp<3,>=2.3'`")
    reported = json.loads(installed("doctor", "--json", workspace=work, **path).stdout)["findings"]
    lacking = {one["name"]: one["state"] for one in reported}
    assert (lacking["grammars"], lacking["mcp"]) == ("lacking", "lacking")
    assert "basket.py:2" in installed("search", "total price", workspace=work, **path).stdout


def test_the_index_is_told_and_made_anew(work: Path) -> None:
    done = codelaw("index", workspace=work)
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert first.startswith("2 files in 2 pieces")
    assert first.endswith(": ready")
    assert rest == ["1 left out: binary"]
    for words in (
        ["init", "-q"],
        ["add", "pay.py"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "Pay"],
    ):
        subprocess.run(["git", *words], cwd=work, check=True)
    assert "1 commit says which files a change needed" in codelaw("index", workspace=work).stdout.splitlines()
    anew = json.loads(codelaw("index", "--rebuild", "--json", workspace=work).stdout)
    assert (anew["files"], anew["state"], anew["pending"]) == (2, "ready", 0)
    assert anew["seconds"] > 0
