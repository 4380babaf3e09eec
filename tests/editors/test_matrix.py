"""What can happen to a file that was read, in a real Neovim: each cell an outcome (F-1 to F-4)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.conftest import act, finish
from tests.scenarios.test_freshness_matrix import NEXT, OUTCOMES, STALE, outcome

ROOT = Path(__file__).parents[2]
SERVER = [sys.executable, "-m", "codelaw", "serve"]
TOOLS = ("Read", "Edit", "Write")
OLD: dict[tuple[str, bool], tuple[str, str, str]] = {
    # Neovim 0.7 does not say that it is about to save, so that a formatter looks like a person.
    ("formatter", False): STALE,
    ("formatter", True): STALE,
}


def call(tool: str, path: str) -> str:
    more: dict[str, Any] = {
        "Read": {},
        "Edit": {"old_string": "two = 2", "new_string": "two = 3"},
        "Write": {"content": NEXT},
    }[tool]
    return act(tool, json.dumps({"path": path, **more}))


def plan() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The cells, and what the model says in them."""
    cells: list[dict[str, Any]] = []
    replies: list[str] = []
    for event, opened in OUTCOMES:
        for tool in TOOLS:
            file = f"{event.replace(' ', '_')}_{'open' if opened else 'closed'}_{tool}.py"
            cells.append({"file": file, "event": event, "opened": opened})
            replies += [call("Read", file), finish("read")]
            if event in {"own edit", "formatter"}:
                spaces = {"path": file, "old_string": "one = 1", "new_string": "one   =   1"}
                replies += [act("Edit", json.dumps(spaces)), finish("edited")]
            replies += [call(tool, file), finish("done")]
    return cells, [{"text": text, "chunk": 1000} for text in replies]


def played(tmp_path: Path, command: list[str], wait: float) -> dict[tuple[str, bool], tuple[str, ...]]:
    """The outcomes of all cells in an editor."""
    workspace = tmp_path / "project"
    workspace.mkdir()
    (workspace / "anchor.py").write_text("")
    cells, replies = plan()
    script, out = tmp_path / "script.json", tmp_path / "told.jsonl"
    script.write_text(json.dumps({"replies": [{**reply, "delay": wait} for reply in replies]}))
    settings = {"model": {"provider": "scripted", "script": str(script)}, "permissions": {"default": "allow"}}
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "server"),
        "DRIVE_OUT": str(out),
        "DRIVE_SERVER": json.dumps(SERVER),
        "DRIVE_WORKSPACE": str(workspace),
        "DRIVE_CELLS": json.dumps(cells),
        "DRIVE_SETTINGS": json.dumps(settings),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
    }
    done = subprocess.run(
        command, cwd=workspace, env=environment, capture_output=True, text=True, check=False, timeout=600,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    told = {entry["name"]: entry["value"] for entry in map(json.loads, out.read_text().splitlines())}
    assert "error" not in told, (told["error"], done.stderr[-2000:])
    assert (tmp_path / "outside").read_text() == "one = 1\ntwo = 2\n", "nothing was written outside"
    found = {file: outcome(json.loads(text)) for file, text in told.items()}
    return {
        row: tuple(found[cell["file"]] for cell in cells[3 * place : 3 * place + 3])
        for place, row in enumerate(OUTCOMES)
    }


@pytest.mark.needs("nvim")
def test_what_happened_to_a_file_in_neovim(tmp_path: Path) -> None:
    lua = Path(__file__).with_name("matrix.lua")
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {lua}"]
    assert played(tmp_path, command, 0) == {**OUTCOMES, **OLD}


@pytest.mark.needs("emacs")
def test_what_happened_to_a_file_in_emacs(eglot: None, tmp_path: Path) -> None:
    lisp = str(Path(__file__).with_name("matrix.el"))
    assert played(tmp_path, ["emacs", "--batch", "-q", "-l", lisp], 0.1) == OUTCOMES
