"""What can happen to a file that was read × what the agent does next, each an outcome (F-1, F-2, F-3, F-4)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.desk_editor import DeskEditor
from tests.scenarios.conftest import Start
from tests.scenarios.test_edits import desk, edit, observations, read, turn, write

Event = Literal["disk edit", "buffer edit", "own edit", "formatter", "touch", "delete", "rename", "symlink"]
BEFORE, NEXT = "one = 1\ntwo = 2\n", "one = 1\ntwo = 2\nthree = 3\n"
GONE = ("NOT_FOUND", "NOT_FOUND", "made")
"""A file that is not there any more cannot be read or edited; writing it makes a new one."""
STALE = ("noted", "CONFLICT", "CONFLICT")
FINE = ("fine", "made", "made")

OUTCOMES: dict[tuple[Event, bool], tuple[str, str, str]] = {
    ("disk edit", False): STALE,
    ("disk edit", True): FINE,  # the open document is the truth, whatever stands on the disk
    ("buffer edit", False): STALE,
    ("buffer edit", True): STALE,
    ("own edit", False): FINE,
    ("own edit", True): FINE,
    ("formatter", False): FINE,
    ("formatter", True): FINE,
    ("touch", False): FINE,
    ("touch", True): FINE,
    ("delete", False): GONE,
    ("delete", True): FINE,
    ("rename", False): GONE,
    ("rename", True): FINE,
    ("symlink", False): ("ACCESS_DENIED", "ACCESS_DENIED", "ACCESS_DENIED"),
    ("symlink", True): ("ACCESS_DENIED", "ACCESS_DENIED", "ACCESS_DENIED"),
}


async def happen(event: Event, path: Path, editor: DeskEditor, vendor: LoopbackVendor, chat: str) -> None:
    """Let it happen to the file after the agent has read it."""
    document = next((one for one in editor.documents.values() if one.path == path), None)
    match event:
        case "disk edit":
            path.write_text(BEFORE.replace("2", "22"))
        case "buffer edit":
            document = document or await editor.open(path)
            await editor.type(document, 0, 0, "zero = 0\n")
        case "own edit":
            await turn(editor, vendor, edit("one = 1", "one = 1.0", path.name), chat=chat)
        case "formatter":
            opened = document or await editor.open(path)
            await turn(editor, vendor, edit("one = 1", "one   =   1", path.name), chat=chat)
            editor.formatter = lambda text: text.replace("   ", " ")
            await editor.save(opened)
            if document is None:
                await editor.close(opened)
        case "touch":
            os.utime(path, (1, 1))
        case "delete":
            path.unlink()
        case "rename":
            path.rename(path.with_name(f"new_{path.name}"))
        case "symlink":
            outside = path.parent.parent / f"outside_{path.name}"
            outside.write_text(BEFORE)
            path.unlink()
            path.symlink_to(outside)


def outcome(observation: dict[str, Any]) -> str:
    if "error" in observation:
        return observation["error"]["code"]
    if "content" in observation["data"]:
        return "noted" if "modified externally" in json.dumps(observation) else "fine"
    return "made"


@pytest.mark.parametrize(("event", "opened"), OUTCOMES, ids=str)
async def test_what_happened_to_a_file(start: Start, vendor: LoopbackVendor, root: Path, event: Event, opened: bool):
    async with desk(start) as editor:
        found: list[str] = []
        acts: list[tuple[str, VendorReply]] = [
            ("r.py", read("r.py")),
            ("e.py", edit("two = 2", "two = 3", "e.py")),
            ("w.py", write(NEXT, "w.py")),
        ]
        for name, act in acts:
            path = root / name
            path.write_text(BEFORE)
            if opened:
                await editor.open(path)
            chat = (await turn(editor, vendor, read(name)))["chatId"]
            await happen(event, path, editor, vendor, chat)
            await turn(editor, vendor, act, chat=chat)
            found.append(outcome((await observations(editor, chat))[-1]))
        assert tuple(found) == OUTCOMES[event, opened]
        assert all((root.parent / f"outside_{name}").read_text() == BEFORE for name, _ in acts if event == "symlink")


async def test_a_rename_needs_a_read_of_the_new_name(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "a.py").write_text(BEFORE)
    async with desk(start) as editor:
        chat = (await turn(editor, vendor, read("a.py")))["chatId"]
        (root / "a.py").rename(root / "b.py")
        await turn(editor, vendor, edit("two = 2", "two = 3", "b.py"), chat=chat)
        assert outcome((await observations(editor, chat))[-1]) == "CONFLICT"
        await turn(editor, vendor, read("b.py"), edit("two = 2", "two = 3", "b.py"), chat=chat)
        assert (root / "b.py").read_text() == BEFORE.replace("2", "3")


async def test_a_symlink_inside_is_its_file(start: Start, vendor: LoopbackVendor, root: Path):
    (root / "real.py").write_text(BEFORE)
    (root / "link.py").symlink_to("real.py")
    async with desk(start) as editor:
        document = await editor.open(root / "link.py")
        await turn(editor, vendor, read("real.py"), edit("two = 2", "two = 3", "link.py"))
        assert document.text == BEFORE.replace("2", "3"), "the open document stands for the file under either name"
        assert (root / "link.py").is_symlink()
