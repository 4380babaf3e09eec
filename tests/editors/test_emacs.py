"""A real Emacs with eglot: as it comes, and with the recipe of editor-client (E-3, S-2)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from codelaw.transcript.chat_file.chat_file import parse
from tests.editors.conftest import emacs
from tests.editors.test_neovim import ROOT, SERVER
from tests.editors.test_stock_neovim import EDIT, LONG, REPLIES

RECIPE = ROOT / "editor-client" / "emacs" / "codelaw.el"
TALK: list[dict[str, Any]] = [
    {"text": "Thought: a wrong beginning", "failure": "overload", "retry_after": 0.05},
    REPLIES[0],
    # Pieces so slow that they cannot all be shown at once.
    {"text": f"Thought: the sign is wrong, as it seems\nAction: Edit[{EDIT}]", "chunk": 6, "delay": 0.04},
    {"text": 'Thought: see\nAction: Bash[{"command": "sleep 60"}]'},
    {"text": "Thought: no then\nAction: Finish[It is **mended**.]"},
    {"text": f'Thought: {"so much to think, " * 60}\nAction: Glob[{{"pattern": "*"}}]', "delay": 0.02},
    {"text": "Thought: short\nAction: Finish[In short.]"},
    {"text": 'Thought: run\nAction: Bash[{"command": "echo run"}]'},
]
AGAIN: list[dict[str, Any]] = [
    {"text": "Thought: hm\nAction: Finish[Still here.]"},
    {"text": "Thought: hm\nAction: Finish[Another one.]"},
]


def drive(
    name: str, tmp_path: Path, workspace: Path, replies: list[dict[str, Any]], again: list[dict[str, Any]] | None = None
) -> str:
    """Run a script in Emacs; gives what it printed. A second server plays `again`."""
    script, next_script = tmp_path / "script.json", tmp_path / "again.json"
    script.write_text(json.dumps({"replies": replies}))
    next_script.write_text(json.dumps({"replies": again or []}))
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "server"),
        "DRIVE_OUT": str(tmp_path / "told.jsonl"),
        "DRIVE_RECIPE": str(RECIPE),
        "DRIVE_SERVER": json.dumps(SERVER),
        "DRIVE_WORKSPACE": str(workspace),
        "DRIVE_SETTINGS": json.dumps({"model": {"provider": "scripted", "script": str(script)}}),
        "DRIVE_SETTINGS_AGAIN": json.dumps({"model": {"provider": "scripted", "script": str(next_script)}}),
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
    }
    done = emacs("-l", str(Path(__file__).with_name(name)), cwd=workspace, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def told_by(tmp_path: Path) -> dict[str, list[Any]]:
    """What a script told, by name, in order."""
    told: dict[str, list[Any]] = {}
    for line in (tmp_path / "told.jsonl").read_text().splitlines():
        entry = json.loads(line)
        told.setdefault(entry["name"], []).append(entry["value"])
    assert "error" not in told, (told["error"], told.get("messages"))
    return told


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    return folder


@pytest.mark.needs("emacs")
def test_a_code_action_and_a_chat_file_in_emacs_with_eglot(eglot: None, tmp_path: Path, workspace: Path) -> None:
    drive("stock.el", tmp_path, workspace, REPLIES)
    told = told_by(tmp_path)
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


@pytest.mark.needs("emacs")
def test_the_recipe_for_emacs_is_compiled_without_a_warning(eglot: None, tmp_path: Path) -> None:
    copy = tmp_path / "codelaw.el"
    copy.write_bytes(RECIPE.read_bytes())
    strict = "(progn (package-initialize) (setq byte-compile-error-on-warn t))"
    done = emacs("--eval", "(require 'package)", "--eval", strict, "-f", "batch-byte-compile", str(copy))
    assert done.returncode == 0, done.stderr
    assert copy.with_suffix(".elc").exists()


@pytest.mark.needs("emacs")
def test_a_chat_in_emacs_streams_asks_steers_cancels_and_outlives_its_server(
    eglot: None, tmp_path: Path, workspace: Path
) -> None:
    drive("chat.el", tmp_path, workspace, TALK, AGAIN)
    told = told_by(tmp_path)

    assert "the sign is" in told["early"][0]
    assert "as it seems" not in told["early"][0], "shown before the step was whole"
    assert "## Mend it, please" in told["asked"][0]
    assert "+    return a + b" in told["asked"][0]
    assert "1  Allow once" in told["asked"][0]

    assert "sleep 60" in told["offered"][0]
    assert "1  Allow once" in told["offered"][0]
    first = told["first"][0]
    assert told["code"][0] == ["def add(a, b):\n    return a + b\n", True]
    assert (workspace / "calc.py").read_text() == "def add(a, b):\n    return a - b\n", "the disk is left alone"
    assert "wrong beginning" not in first, "what was asked again is withdrawn"
    assert "as it seems" in first
    assert first.count("- Edit calc.py") == 1
    assert "(completed)" in first
    assert "(it takes too long)" in first
    assert "(rejected)" in first
    assert "It is **mended**." in first

    steered = told["steered"][0]
    assert "## make it short" in steered
    assert "In short." in steered

    cancelled = told["cancelled"][0]
    assert "withdrawn" in cancelled
    assert "> cancelled" in cancelled

    same, again = told["again"][0]
    assert same, "the chat goes on"
    assert [again.count(text) for text in ("## Mend it, please", "In short.", "## Are you there?")] == [1, 1, 1]
    same, other = told["other"][0]
    assert not same
    assert "## Who are you?" in other
    assert "Mend it" not in other
    same, back = told["back"][0]
    assert same
    assert [back.count(text) for text in ("## Mend it, please", "In short.", "Still here.")] == [1, 1, 1]
    assert "Who are you?" not in back
