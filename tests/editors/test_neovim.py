"""A real Neovim, with the recipe of editor-client, against the real server: streaming, approval, steer, cancel (R-8, S-2)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SERVER = [sys.executable, "-m", "codelaw", "serve"]
THOUGHT = "a note is wanted, and a note there will be: short, in a file of its own, and saying hello as notes do"
NOTE = json.dumps({"path": "note.txt", "content": "hello\n"})
WRITE = f"Thought: {THOUGHT}\nAction: Write[{NOTE}]"
SIGN = "Thought: it is signed\nAction: Bash[" + json.dumps({"command": "echo signed >> open.txt"}) + "]"
FINISH = "Thought: the note is written\nAction: Finish[It says **hello**.]"
LONG = "Thought: " + "so much to say, " * 400 + "\nAction: Finish[never]"


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.json"
    # Pieces so slow that they cannot all be told at once.
    replies = [
        {"text": WRITE, "chunk": 6, "delay": 0.04},
        {"text": SIGN},
        {"text": FINISH},
        {"text": 'Thought: wait\nAction: Bash[{"command": "sleep 60"}]'},
        {"text": "Thought: no then\nAction: Finish[Not waited.]"},
        {"text": LONG, "delay": 0.02},
    ]
    path.write_text(json.dumps({"replies": replies}))
    return path


def of_the_next_server(tmp_path: Path) -> Path:
    """A server that takes the place of another plays its script from the beginning: this one adds to the first."""
    path = tmp_path / "again.json"
    answers = ("Still here.", "Another one.")
    replies = [{"text": f"Thought: hm\nAction: Finish[{answer}]"} for answer in answers]
    path.write_text(json.dumps({"replies": replies}))
    return path


def drive(script: Path, workspace: Path, out: Path) -> dict[str, list[Any]]:
    """Run the script in Neovim; gives what it told, by name, in order."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT / "server"),
        "CODELAW_DRIVE_OUT": str(out),
        "CODELAW_RECIPE": str(ROOT / "editor-client" / "neovim" / "codelaw.lua"),
        "CODELAW_SERVER": json.dumps(SERVER),
        "CODELAW_WORKSPACE": str(workspace),
        "CODELAW_SETTINGS": json.dumps({"model": {"provider": "scripted", "script": str(script)}}),
        "CODELAW_SETTINGS_AGAIN": json.dumps(
            {"model": {"provider": "scripted", "script": str(of_the_next_server(out.parent))}}
        ),
        "XDG_STATE_HOME": str(out.parent / "state"),
        "XDG_CACHE_HOME": str(out.parent / "cache"),
    }
    drive = Path(__file__).with_name("drive.lua")
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {drive}"]
    done = subprocess.run(
        command, cwd=workspace, env=environment, capture_output=True, text=True, check=False, timeout=600,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    told: dict[str, list[Any]] = {}
    for line in out.read_text().splitlines():
        entry = json.loads(line)
        told.setdefault(entry["name"], []).append(entry["value"])
    assert "error" not in told, (told["error"], done.stderr)
    return told


@pytest.mark.needs("nvim")
def test_a_turn_in_neovim(script: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "project"
    workspace.mkdir()
    (workspace / "open.txt").write_text("a letter\n")
    told = drive(script, workspace, tmp_path / "told.jsonl")

    first = told["first"][0]
    assert first["stopReason"] == "finished", first
    assert first["answer"] == "It says **hello**."
    assert (workspace / "note.txt").read_text() == "hello\n"

    assert told["deltas"][0] > 1, "the thought came in pieces"
    assert "as notes do" not in "\n".join(told["shown at first delta"][0]), "shown before the step was whole"
    assert len(told["asked"][0]) == 2
    assert "note.txt" in told["asked"][0][0]
    assert "+hello" in told["asked"][0][0]
    assert "4  Reject" in told["asked"][0][0]

    assert told["open"][0] == ["a letter", "signed"], "what the agent changed is loaded again"

    shown = "\n".join(told["buffer"][0])
    assert "## Write a note, please" in shown
    assert THOUGHT in shown
    assert "note.txt" in shown
    assert "(completed)" in shown
    assert "It says **hello**." in shown

    assert told["refused"][0]["answer"] == "Not waited."
    refused = "\n".join(told["buffer"][1])
    assert "(rejected)" in refused
    assert "it takes too long" in refused, "the reason is told to the model"

    assert told["steer"][0]["queued"] is True
    assert told["cancel"][0] == {"cancelled": True}
    second = told["second"][0]
    assert second["stopReason"] == "cancelled", second
    cancelled = "\n".join(told["buffer"][2])
    assert "> not sent, send it again: make it short" in cancelled
    assert "> cancelled" in cancelled

    assert told["third"][0]["answer"] == "Still here."
    assert told["third"][0]["chatId"] == first["chatId"]
    again = "\n".join(told["buffer"][3])
    assert [again.count(text) for text in ("## Write a note", "> cancelled", "## Are you there?")] == [1, 1, 1]
    assert told["fourth"][0]["chatId"] != first["chatId"]
    other = "\n".join(told["buffer"][4])
    assert "Another one." in other
    assert "Write a note" not in other
    assert told["found"][0]
    back = "\n".join(told["buffer"][5])
    assert [back.count(text) for text in ("## Write a note", "## Are you there?", "Still here.")] == [1, 1, 1]
    assert told["left"] == [0], "the server went when it was told to"
    started = told["event"].index("turn_started")
    ended = told["event"].index("turn_ended")
    assert all(started <= place <= ended for place in (told["event"].index("thought"), told["event"].index("answer")))
