"""What a person types into a real Neovim with the recipe: what answers a question, and what is changed where (S-2, F-1, F-4, F-6)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.editors import driving
from tests.editors.driving import ROOT, Replies, act, finish

README = ROOT / "editor-client" / "README.md"
NOTE = "hidden \u202e\x1b[8m text\n"


LONG = "echo \u200b\xa0start\n" + "# quiet\n" * 100 + "echo END > seen.txt"


def drive(scene: str, tmp_path: Path, replies: Replies, settings: dict[str, Any] | None = None) -> dict[str, Any]:
    """Play a scene in the folder `project`; gives what it told, by name."""
    reported = driving.drive(
        "keys.lua",
        tmp_path,
        tmp_path / "project",
        replies,
        settings=settings,
        DRIVE_OUTSIDE=str(tmp_path / "outside.txt"),
        DRIVE_SCENE=scene,
        DRIVE_STOCK=re.findall(r"```lua\n(.*?)```", README.read_text("utf-8"), re.DOTALL)[-1],
    )
    return {name: values[-1] for name, values in reported.items()}


@pytest.mark.needs("nvim")
def test_what_is_typed_into_another_buffer_answers_no_question(tmp_path: Path, workspace: Path) -> None:
    (workspace / "letter.txt").write_text("a letter\n")
    reported = drive(
        "typing",
        tmp_path,
        [
            act("Write", path="note.txt", content=NOTE) | {"delay": 0.3},
            act("Bash", command="sleep 60"),
            act("Bash", command="echo hello"),
        ],
    )
    assert "note.txt" in reported["question"]
    assert "\u202e" not in reported["question"]
    assert "+hidden ⟨U+202E⟩⟨U+001B⟩[8m text" in reported["question"], "what hides something is seen"
    assert "4  Reject" in reported["question"]
    assert reported["typed"] == "a letter\ndear 1\ny\n3\na\nok\n"
    still_open, running, mode = reported["open"]
    assert still_open
    assert running
    assert mode == {"mode": "n", "blocking": False}

    assert reported["ahead"] == [True, "codelaw-question"], "what was typed before the window was there is dropped"
    assert reported["enter"] is True
    assert reported["back"] == [True, "letter.txt"]
    assert reported["chosen"].startswith("1  Allow")
    assert (workspace / "note.txt").read_text() == NOTE
    assert reported["focus"] == "letter.txt", "the next question does not take the cursor"
    assert "sleep 60" in reported["second"]
    assert "withdrawn" in reported["withdrawn"]
    still_open, name, text = reported["after"]
    assert not still_open
    assert name == "letter.txt"
    assert text == reported["typed"]
    assert reported["result"]["stopReason"] == "cancelled"
    assert ": Allow once" in reported["chat"]
    assert "(not now)" in reported["chat"], "the reason reached the model"
    assert ": withdrawn" in reported["chat"]


@pytest.mark.needs("nvim")
def test_what_is_long_is_seen_whole_before_it_can_be_allowed(tmp_path: Path, workspace: Path) -> None:
    reported = drive("long", tmp_path, [act("Bash", command=LONG, description="List\u202e the files"), finish("ok")])
    assert "Show all of it" in reported["first"]
    assert "2  Reject" in reported["first"]
    assert "Allow" not in reported["first"]
    assert "echo END" not in reported["first"]
    assert reported["whole"].split("\n")[0] == "echo ⟨U+200B⟩⟨U+00A0⟩start"
    assert reported["whole"].endswith("echo END > seen.txt")
    assert "1  Allow once" in reported["second"]
    assert "The model's words for it: “List⟨U+202E⟩ the files”" in reported["second"]
    assert reported["result"] == "finished"
    assert (workspace / "seen.txt").read_text() == "END\n"


@pytest.mark.needs("nvim")
def test_a_message_that_asks_takes_no_keys_either(tmp_path: Path, workspace: Path) -> None:
    (workspace / "letter.txt").write_text("a letter\n")
    (workspace / ".codelaw").mkdir()
    (workspace / ".codelaw" / "config.toml").write_text('[permissions]\nallow = ["Bash"]\n')
    reported = drive("message", tmp_path, [])
    assert "permissions.allow" in reported["question"]
    still_open, text, mode = reported["open"]
    assert still_open
    assert text == "a letter\n1\n2\ny\n"
    assert mode == {"mode": "i", "blocking": False}
    assert reported["answered"] is False


@pytest.mark.needs("nvim")
def test_open_buffers_are_changed_and_not_the_disk_behind_them(tmp_path: Path, workspace: Path) -> None:
    for name in ("plain", "typing", "first", "clean"):
        (workspace / f"{name}.txt").write_text("alpha\nbeta 🦊 gamma\nomega\n")
    (workspace / "big.txt").write_text("x" * (9 * 1024 * 1024))
    (tmp_path / "outside.txt").write_text("secret\n")

    def change(name: str) -> list[dict[str, Any]]:
        edits = [{"old_string": "alpha", "new_string": "ALPHA"}, {"old_string": "gamma\nomega", "new_string": "end"}]
        return [act("Read", path=name), act("MultiEdit", path=name, edits=edits)]

    reported = drive(
        "buffers",
        tmp_path,
        [
            *change("plain.txt"), finish("Changed."),
            *change("typing.txt"), finish("Changed."),
            act("Read", path="folder/new.txt"), act("Read", path="second.txt"), act("Read", path="first.txt"),
            finish("Read."),
            *change("clean.txt"), act("Bash", command="cat clean.txt"), finish("Looked."),
        ],
        {"permissions": {"default": "allow"}},
    )  # fmt: skip
    before = "alpha\nbeta 🦊 gamma\nomega"
    after = "ALPHA\nbeta 🦊 end"
    assert reported["plain"] == [f"mine\n{after}", True], reported["chat"]
    assert (workspace / "plain.txt").read_text() == before + "\n", "the disk is left alone"
    assert reported["undone once"] == f"mine\n{before}"
    assert reported["redone"] == f"mine\n{after}"

    assert reported["typing"] == f"{after}\none two"
    assert reported["typing undone"] == f"{before}\none two", "the change is a step of its own"
    assert reported["typing undone twice"] == before
    assert (workspace / "typing.txt").read_text() == before + "\n"

    assert reported["named"]["answer"] == "Read."
    for shown in ("1-1 of 1 of folder/new.txt", "1-4 of 4 of second.txt", "1-3 of 3 of first.txt"):
        assert f"Lines {shown}." in reported["chat"]
    assert reported["clean"] == [after, False]
    assert (workspace / "clean.txt").read_text() == after + "\n", "saved before the command"
    assert reported["attached"] == ["clean.txt", "new.txt", "plain.txt", "second.txt", "typing.txt"]


@pytest.mark.needs("nvim")
def test_what_the_readme_gives_a_neovim_without_a_plugin(tmp_path: Path, workspace: Path) -> None:
    (workspace / "plain.odd").write_text("alpha\n")
    reported = drive(
        "stock",
        tmp_path,
        [
            act("Read", path="plain.odd"),
            act("Edit", path="plain.odd", old_string="alpha", new_string="ALPHA"),
            finish("Changed."),
        ],
    )
    assert reported["asked"] is True
    assert reported["still asked"] == "c", "neither a digit nor a yes is an answer"
    assert reported["text"] == "mine\nALPHA"
    assert (workspace / "plain.odd").read_text() == "alpha\n"
