"""A real Emacs with eglot: as it comes, and with the recipe of editor-client (E-3, S-2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from codelaw.transcript.chat_file.chat_file import parse
from tests.editors.driving import EMACS, RECIPES, Replies, act, drive, ended, finish
from tests.editors.test_stock_neovim import EDIT, LONG, REPLIES

TALK: Replies = [
    {"text": "Thought: a wrong beginning", "failure": "overload", "retry_after": 0.05},
    REPLIES[0],
    # Pieces so slow that they cannot all be shown at once.
    {"text": f"Thought: the sign is wrong, as it seems\nAction: Edit[{EDIT}]", "chunk": 6, "delay": 0.04},
    act("Bash", command="sleep 60"),
    finish("It is **mended**."),
    {"text": f'Thought: {"so much to think, " * 60}\nAction: Glob[{{"pattern": "*"}}]', "delay": 0.02},
    finish("In short."),
    act("Bash", command="echo run"),
]


@pytest.fixture
def calc(workspace: Path) -> Path:
    """The folder with a file that has a mistake."""
    (workspace / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    return workspace


@pytest.mark.needs("emacs")
def test_a_code_action_and_a_chat_file_in_emacs_with_eglot(eglot: None, tmp_path: Path, calc: Path) -> None:
    reported = drive("stock.el", tmp_path, calc, REPLIES)
    (_, actions), (question, options), (_, chat_actions) = reported["offered"]
    assert actions == ["codelaw: ask about this…", "codelaw: explain", "codelaw: write a test for this"]
    assert "Edit calc.py" in question
    assert "a + b" in question
    assert "Allow once" in options
    assert chat_actions == ["▶ Send"]
    assert "It is **tested**." in reported["message"][0]
    assert reported["code"][0] == "def add(a, b):\n    return a + b\n"
    assert reported["modified"] == [True], "the edit is in the buffer, not on the disk behind it"

    chat = parse((calc / "talk.chat.md").read_text())
    assert chat.text.rstrip("\n") == reported["chat"][0].rstrip("\n")
    assert LONG in chat.text
    assert chat.text.count("typed meanwhile") == 1
    assert chat.question is not None
    assert chat.question.text == "typed meanwhile"
    assert reported["changes"][0] >= 3, "the answer came in pieces"


@pytest.mark.needs("emacs")
def test_the_recipe_for_emacs_sends_a_chat_file(eglot: None, tmp_path: Path, calc: Path) -> None:
    reported = drive("recipe.el", tmp_path, calc, [REPLIES[3]])
    assert reported["mode"] == ["codelaw-chat-mode"]
    chat = parse((calc / "talk.chat.md").read_text())
    assert LONG in chat.text
    assert [block.running for block in chat.blocks] == [False]


@pytest.mark.needs("emacs")
def test_the_recipe_for_emacs_is_compiled_without_a_warning(eglot: None, tmp_path: Path) -> None:
    copy = tmp_path / "codelaw.el"
    copy.write_bytes(RECIPES[".el"].read_bytes())
    strict = "(progn (package-initialize) (setq byte-compile-error-on-warn t))"
    done = ended(*EMACS, "--eval", "(require 'package)", "--eval", strict, "-f", "batch-byte-compile", str(copy))
    assert done.returncode == 0, done.stderr
    assert copy.with_suffix(".elc").exists()


@pytest.mark.needs("emacs")
def test_a_chat_in_emacs_streams_asks_steers_cancels_and_outlives_its_server(
    eglot: None, tmp_path: Path, calc: Path
) -> None:
    reported = drive("chat.el", tmp_path, calc, TALK, again=[finish("Still here."), finish("Another one.")])

    assert "the sign is" in reported["early"][0]
    assert "as it seems" not in reported["early"][0], "shown before the step was whole"
    assert "## Mend it, please" in reported["asked"][0]
    assert "+    return a + b" in reported["asked"][0]
    assert "1  Allow once" in reported["asked"][0]

    assert "sleep 60" in reported["offered"][0]
    assert "1  Allow once" in reported["offered"][0]
    first = reported["first"][0]
    assert reported["code"][0] == ["def add(a, b):\n    return a + b\n", True]
    assert (calc / "calc.py").read_text() == "def add(a, b):\n    return a - b\n", "the disk is left alone"
    assert "wrong beginning" not in first, "what was asked again is withdrawn"
    assert "as it seems" in first
    assert first.count("- Edit calc.py") == 1
    assert "(completed)" in first
    assert "(it takes too long)" in first
    assert "(rejected)" in first
    assert "It is **mended**." in first

    steered = reported["steered"][0]
    assert "## make it short" in steered
    assert "In short." in steered

    cancelled = reported["cancelled"][0]
    assert "withdrawn" in cancelled
    assert "> cancelled" in cancelled

    same, again = reported["again"][0]
    assert same, "the chat goes on"
    assert [again.count(text) for text in ("## Mend it, please", "In short.", "## Are you there?")] == [1, 1, 1]
    same, other = reported["other"][0]
    assert not same
    assert "## Who are you?" in other
    assert "Mend it" not in other
    same, back = reported["back"][0]
    assert same
    assert [back.count(text) for text in ("## Mend it, please", "In short.", "Still here.")] == [1, 1, 1]
    assert "Who are you?" not in back
