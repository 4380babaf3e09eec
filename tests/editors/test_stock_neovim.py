"""A real Neovim without plugin or recipe: a code action, its approval, and a chat file (E-3, S-2)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from codelaw.transcript.chat_file.chat_file import parse
from tests.editors.driving import drive

EDIT = json.dumps({"path": "calc.py", "old_string": "a - b", "new_string": "a + b"})
LONG = "\n\n".join(f"Piece {number} of the answer 🦊." for number in range(8))
REPLIES = [
    # No model is there at once, and Emacs 28 overlooks a request that reaches it in one piece with an answer.
    {"text": 'Thought: look\nAction: Read[{"path": "calc.py"}]', "chunk": 1000, "delay": 0.5},
    {"text": f"Thought: mend\nAction: Edit[{EDIT}]"},
    {"text": "Thought: done\nAction: Finish[It is **tested**.]"},
    {"text": f"Thought: tell\nAction: Finish[{LONG}]", "chunk": 6, "delay": 0.05},
]


@pytest.mark.needs("nvim")
@pytest.mark.parametrize("pinned", [True, False])
def test_a_code_action_and_a_chat_file_in_stock_neovim(tmp_path: Path, workspace: Path, *, pinned: bool) -> None:
    (workspace / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    reported = drive("stock.lua", tmp_path, workspace, REPLIES, DRIVE_PINNED="1" if pinned else "0")

    first, second = reported["offered"]
    assert [title for title in first if "codelaw" in title] == first
    assert any("explain" in title for title in first)
    assert any("Send" in title for title in second)
    (question,) = reported["asked"][0]
    assert "calc.py" in question
    assert "a + b" in question
    answer, path = reported["message"][0].rsplit("\n\n", 1)
    assert answer == "It is **tested**."
    assert "Write a test for the function, method or class around line 2" in Path(path).read_text()
    assert reported["code"][0] == "def add(a, b):\n    return a + b"

    chat = parse((workspace / "talk.chat.md").read_text())
    assert chat.text.rstrip("\n") == reported["chat"][0].rstrip("\n")
    assert LONG in chat.text
    assert chat.text.count("typed meanwhile") == 1
    assert chat.question is not None
    assert chat.question.text == "typed meanwhile"
    assert reported["changes"][0] >= 3, "the answer came in pieces"
    assert reported["left"] == [0], "the server went when it was told to"
