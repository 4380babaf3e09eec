"""What can happen to a file that was read, in a real Neovim: each cell an outcome (F-1 to F-4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.editors.driving import drive
from tests.scenarios.conftest import act, finish
from tests.scenarios.test_freshness_matrix import NEXT, OUTCOMES, STALE, outcome

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


def played(name: str, tmp_path: Path, workspace: Path, wait: float) -> dict[tuple[str, bool], tuple[str, ...]]:
    """The outcomes of all cells in an editor."""
    (workspace / "anchor.py").write_text("")
    cells, replies = plan()
    reported = drive(
        name,
        tmp_path,
        workspace,
        [{**reply, "delay": wait} for reply in replies],
        settings={"permissions": {"default": "allow"}},
        DRIVE_CELLS=json.dumps(cells),
    )
    assert (tmp_path / "outside").read_text() == "one = 1\ntwo = 2\n", "nothing was written outside"
    found = {file: outcome(json.loads(text)) for file, (text,) in reported.items()}
    return {
        row: tuple(found[cell["file"]] for cell in cells[3 * place : 3 * place + 3])
        for place, row in enumerate(OUTCOMES)
    }


@pytest.mark.needs("nvim")
def test_what_happened_to_a_file_in_neovim(tmp_path: Path, workspace: Path) -> None:
    assert played("matrix.lua", tmp_path, workspace, 0) == {**OUTCOMES, **OLD}


@pytest.mark.needs("emacs")
def test_what_happened_to_a_file_in_emacs(eglot: None, tmp_path: Path, workspace: Path) -> None:
    assert played("matrix.el", tmp_path, workspace, 0.1) == OUTCOMES
