"""The matrix of F-2, F-3 and F-5: what happened between two Reads × what is told."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable

import pytest

from tests.fakes.desk import Desk

NOTE = "Note: a.py was modified externally."


async def nothing(_desk: Desk) -> None:
    """Leave it alone."""


async def touch(desk: Desk) -> None:
    os.utime(desk.root / "a.py", (1, 1))


async def own_write(desk: Desk) -> None:
    assert (await desk("Edit", path="a.py", old_string="one", new_string="1")).status == "success"


async def own_overwrite(desk: Desk) -> None:
    assert (await desk("Write", path="a.py", content="other\n")).status == "success"


async def external_write(desk: Desk) -> None:
    desk.put("a.py", "changed\n")


async def buffer_edit(desk: Desk) -> None:
    desk.documents.open(desk.root / "a.py", "one\ntwo and more\n")


async def buffer_open(desk: Desk) -> None:
    desk.documents.open(desk.root / "a.py", "one\ntwo\n")


async def removal(desk: Desk) -> None:
    (desk.root / "a.py").unlink()


Happening = Callable[[Desk], Awaitable[None]]
QUIET = [nothing, touch, own_write, own_overwrite, buffer_open]
CHANGING = [external_write, buffer_edit]


@pytest.fixture
async def read(desk: Desk) -> Desk:
    desk.put("a.py", "one\ntwo\n")
    first = await desk("Read", path="a.py")
    assert "note" not in first.data
    return desk


@pytest.mark.parametrize("happening", QUIET)
async def test_no_note_when_nobody_else_changed_the_content(read: Desk, happening: Happening):
    await happening(read)
    assert await read.environment.ledger.external_changes(read.workspace) == []
    again = await read("Read", path="a.py")
    assert "note" not in again.data
    assert "Note" not in again.text


@pytest.mark.parametrize("happening", CHANGING)
async def test_a_note_when_somebody_changed_the_content(read: Desk, happening: Happening):
    await happening(read)
    again = await read("Read", path="a.py")
    assert again.data["note"] == NOTE
    assert NOTE in again.text
    assert "note" not in (await read("Read", path="a.py")).data


@pytest.mark.parametrize("happening", [*CHANGING, removal])
async def test_a_change_is_told_once_and_still_conflicts(read: Desk, happening: Happening):
    ledger = read.environment.ledger
    await happening(read)
    assert await ledger.external_changes(read.workspace) == ["a.py"]
    assert await ledger.external_changes(read.workspace) == []
    edit = await read("Edit", path="a.py", old_string="one", new_string="1")
    assert edit.status == "error"
    assert edit.error is not None
    assert edit.error.code == ("NOT_FOUND" if happening is removal else "CONFLICT")


async def test_own_write_below_an_open_clean_buffer_is_not_external(read: Desk):
    path = read.root / "a.py"
    read.documents.open(path, "one\ntwo\n", version=3)
    await own_write(read)
    # The editor has not reloaded yet: its old text is neither truth nor a change.
    assert await read.environment.ledger.external_changes(read.workspace) == []
    assert (await read("Read", path="a.py")).data["content"].startswith("1\t1\n")
    read.documents.edit(path, "1\ntwo\n")
    assert await read.environment.ledger.external_changes(read.workspace) == []
    read.documents.edit(path, "typed\n")
    assert await read.environment.ledger.external_changes(read.workspace) == ["a.py"]


async def test_what_a_command_changed_is_told_with_the_command(read: Desk):
    result = await read("Bash", command="echo formatted > a.py")
    assert result.data["changed"] == ["a.py"]
    assert await read.environment.ledger.external_changes(read.workspace) == []
    assert (await read("Edit", path="a.py", old_string="formatted", new_string="x")).status == "error"
