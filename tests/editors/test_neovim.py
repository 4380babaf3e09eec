"""A real Neovim, with the recipe of editor-client, against the real server: streaming, approval, steer, cancel (R-8, S-2)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.editors.driving import act, drive, finish

THOUGHT = "a note is wanted, and a note there will be: short, in a file of its own, and saying hello as notes do"
NOTE = json.dumps({"path": "note.txt", "content": "hello\n"})
WRITE = f"Thought: {THOUGHT}\nAction: Write[{NOTE}]"
SIGN = "Thought: it is signed\nAction: Bash[" + json.dumps({"command": "echo signed >> open.txt"}) + "]"
FINISH = "Thought: the note is written\nAction: Finish[It says **hello**.]"
LONG = "Thought: " + "so much to say, " * 400 + "\nAction: Finish[never]"


# Pieces so slow that they cannot all be told at once.
REPLIES = [
    {"text": WRITE, "chunk": 6, "delay": 0.04},
    {"text": SIGN},
    {"text": FINISH},
    act("Bash", command="sleep 60"),
    finish("Not waited."),
    {"text": LONG, "delay": 0.02},
]


@pytest.mark.needs("nvim")
def test_a_turn_in_neovim(tmp_path: Path, workspace: Path) -> None:
    (workspace / "open.txt").write_text("a letter\n")
    reported = drive("drive.lua", tmp_path, workspace, REPLIES, again=[finish("Still here."), finish("Another one.")])

    first = reported["first"][0]
    assert first["stopReason"] == "finished", first
    assert first["answer"] == "It says **hello**."
    assert (workspace / "note.txt").read_text() == "hello\n"

    assert reported["deltas"][0] > 1, "the thought came in pieces"
    assert "as notes do" not in "\n".join(reported["shown at first delta"][0]), "shown before the step was whole"
    assert len(reported["asked"][0]) == 2
    assert "note.txt" in reported["asked"][0][0]
    assert "+hello" in reported["asked"][0][0]
    assert "4  Reject" in reported["asked"][0][0]

    assert reported["open"][0] == ["a letter", "signed"], "what the agent changed is loaded again"

    shown = "\n".join(reported["buffer"][0])
    assert "## Write a note, please" in shown
    assert THOUGHT in shown
    assert "note.txt" in shown
    assert "(completed)" in shown
    assert "It says **hello**." in shown

    assert reported["refused"][0]["answer"] == "Not waited."
    refused = "\n".join(reported["buffer"][1])
    assert "(rejected)" in refused
    assert "it takes too long" in refused, "the reason is told to the model"

    assert reported["steer"][0]["queued"] is True
    assert reported["cancel"][0] == {"cancelled": True}
    second = reported["second"][0]
    assert second["stopReason"] == "cancelled", second
    cancelled = "\n".join(reported["buffer"][2])
    assert "> not sent, send it again: make it short" in cancelled
    assert "> cancelled" in cancelled

    assert reported["third"][0]["answer"] == "Still here."
    assert reported["third"][0]["chatId"] == first["chatId"]
    again = "\n".join(reported["buffer"][3])
    assert [again.count(text) for text in ("## Write a note", "> cancelled", "## Are you there?")] == [1, 1, 1]
    assert reported["fourth"][0]["chatId"] != first["chatId"]
    other = "\n".join(reported["buffer"][4])
    assert "Another one." in other
    assert "Write a note" not in other
    assert reported["found"][0]
    back = "\n".join(reported["buffer"][5])
    assert [back.count(text) for text in ("## Write a note", "## Are you there?", "Still here.")] == [1, 1, 1]
    assert reported["left"] == [0], "the server went when it was told to"
    started = reported["event"].index("turn_started")
    ended = reported["event"].index("turn_ended")
    assert all(
        started <= place <= ended for place in (reported["event"].index("thought"), reported["event"].index("answer"))
    )
