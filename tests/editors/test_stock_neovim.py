"""A real Neovim without plugin or recipe: a code action, its approval, and a chat file (E-3, S-2)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from codelaw.transcript.chat_file.chat_file import parse
from tests.editors.test_neovim import ROOT, SERVER

EDIT = json.dumps({"path": "calc.py", "old_string": "a - b", "new_string": "a + b"})
LONG = "\n\n".join(f"Piece {number} of the answer 🦊." for number in range(8))
REPLIES = [
    # No model is there at once, and Emacs 28 overlooks a request that reaches it in one piece with an answer.
    {"text": 'Thought: look\nAction: Read[{"path": "calc.py"}]', "chunk": 1000, "delay": 0.5},
    {"text": f"Thought: mend\nAction: Edit[{EDIT}]"},
    {"text": "Thought: done\nAction: Finish[It is **tested**.]"},
    {"text": f"Thought: tell\nAction: Finish[{LONG}]", "chunk": 6, "delay": 0.05},
]


def drive(tmp_path: Path, workspace: Path, *, pinned: bool) -> dict[str, list[Any]]:
    """Run the script in Neovim; gives what it told, by name, in order."""
    script, out = tmp_path / "script.json", tmp_path / "told.jsonl"
    script.write_text(json.dumps({"replies": REPLIES}))
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "server"),
        "DRIVE_OUT": str(out),
        "DRIVE_SERVER": json.dumps(SERVER),
        "DRIVE_WORKSPACE": str(workspace),
        "DRIVE_PINNED": "1" if pinned else "0",
        "DRIVE_SETTINGS": json.dumps({"model": {"provider": "scripted", "script": str(script)}}),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    lua = Path(__file__).with_name("stock.lua")
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {lua}"]
    done = subprocess.run(
        command, cwd=workspace, env=environment, capture_output=True, text=True, check=False, timeout=600,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    told: dict[str, list[Any]] = {}
    for line in out.read_text().splitlines():
        entry = json.loads(line)
        told.setdefault(entry["name"], []).append(entry["value"])
    assert "error" not in told, (told["error"], told.get("chat"), done.stderr[-2000:])
    return told


@pytest.mark.needs("nvim")
@pytest.mark.parametrize("pinned", [True, False])
def test_a_code_action_and_a_chat_file_in_stock_neovim(tmp_path: Path, *, pinned: bool) -> None:
    workspace = tmp_path / "project"
    workspace.mkdir()
    (workspace / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    told = drive(tmp_path, workspace, pinned=pinned)

    first, second = told["offered"]
    assert [title for title in first if "codelaw" in title] == first
    assert any("explain" in title for title in first)
    assert any("Send" in title for title in second)
    (question,) = told["asked"][0]
    assert "calc.py" in question
    assert "a + b" in question
    answer, path = told["message"][0].rsplit("\n\n", 1)
    assert answer == "It is **tested**."
    assert "Write a test for the function, method or class around line 2" in Path(path).read_text()
    assert told["code"][0] == "def add(a, b):\n    return a + b"

    chat = parse((workspace / "talk.chat.md").read_text())
    assert chat.text.rstrip("\n") == told["chat"][0].rstrip("\n")
    assert LONG in chat.text
    assert chat.text.count("typed meanwhile") == 1
    assert chat.question is not None
    assert chat.question.text == "typed meanwhile"
    assert told["changes"][0] >= 3, "the answer came in pieces"
    assert told["left"] == [0], "the server went when it was told to"
