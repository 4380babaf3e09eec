"""A real Emacs with eglot: as it comes, and with the recipe of editor-client (E-3, S-2)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from codelaw.transcript.chat_file import parse
from tests.editors.conftest import emacs
from tests.editors.test_neovim import ROOT, SERVER
from tests.editors.test_stock_neovim import LONG, REPLIES


def drive(name: str, tmp_path: Path, workspace: Path, replies: list[Any]) -> str:
    """Run a script in Emacs; gives what it printed."""
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"replies": replies}))
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "server"),
        "DRIVE_OUT": str(tmp_path / "told.jsonl"),
        "DRIVE_RECIPE": str(ROOT / "editor-client" / "emacs" / "codelaw.el"),
        "DRIVE_SERVER": json.dumps(SERVER),
        "DRIVE_WORKSPACE": str(workspace),
        "DRIVE_SETTINGS": json.dumps({"model": {"provider": "scripted", "script": str(script)}}),
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
    }
    done = emacs("-l", str(Path(__file__).with_name(name)), cwd=workspace, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    return folder


@pytest.mark.needs("emacs")
def test_a_code_action_and_a_chat_file_in_emacs_with_eglot(eglot: None, tmp_path: Path, workspace: Path) -> None:
    drive("stock.el", tmp_path, workspace, REPLIES)
    told: dict[str, list[Any]] = {}
    for line in (tmp_path / "told.jsonl").read_text().splitlines():
        entry = json.loads(line)
        told.setdefault(entry["name"], []).append(entry["value"])
    assert "error" not in told, (told["error"], told.get("messages"))

    (_, actions), (question, options), (_, chat_actions) = told["offered"]
    assert actions == ["codelaw: ask about this…", "codelaw: explain", "codelaw: write a test for this"]
    assert "Edit calc.py" in question
    assert "a + b" in question
    assert "Allow once" in options
    assert chat_actions == ["▶ Send"]
    assert "It is **tested**." in told["message"][0]
    assert told["code"][0] == "def add(a, b):\n    return a + b\n"
    assert told["modified"] == [True], "the edit is in the buffer, not on the disk behind it"

    chat = parse((workspace / "talk.chat.md").read_text())
    assert chat.text.rstrip("\n") == told["chat"][0].rstrip("\n")
    assert LONG in chat.text
    assert chat.text.count("typed meanwhile") == 1
    assert chat.question is not None
    assert chat.question.text == "typed meanwhile"
    assert told["changes"][0] >= 3, "the answer came in pieces"


@pytest.mark.needs("emacs")
def test_the_recipe_for_emacs_sends_a_chat_file(eglot: None, tmp_path: Path, workspace: Path) -> None:
    printed = drive("recipe.el", tmp_path, workspace, [REPLIES[3]])
    assert printed.strip() == "codelaw-chat-mode"
    chat = parse((workspace / "talk.chat.md").read_text())
    assert LONG in chat.text
    assert [block.running for block in chat.blocks] == [False]
