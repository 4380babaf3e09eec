"""Which text of a file that codelaw obeys counts, after commands, in the next server, and after an answer (S-8)."""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from codelaw.adapters.processes.quarantine.command_times import TICK, CommandTimes
from codelaw.adapters.workspace.accepted import LARGEST_KEPT, AcceptedTexts
from codelaw.adapters.workspace.disk import DiskWorkspace
from codelaw.domain.safety.redaction import Redaction
from tests.attacks.world import USUAL
from tests.fakes.desk import folder
from tests.fakes.documents import FakeDocuments

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere another clock may count")


class Desk:
    """A server on a workspace, and commands in it."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = folder(base / "ws").root
        self.documents = FakeDocuments()
        self.times = CommandTimes(base / "own/quarantine", USUAL)
        (base / "own").mkdir(exist_ok=True)
        accepted = AcceptedTexts(base / "own/accepted", self.times, Redaction())
        self.workspace = DiskWorkspace([folder(self.root)], self.documents, accepted=accepted)

    async def command(self, does: Callable[[], object]) -> None:
        def run() -> None:
            time.sleep(3 * TICK)
            noted = self.times.begin([self.root])
            does()
            self.times.end(noted)
            time.sleep(3 * TICK)

        await asyncio.to_thread(run)

    async def text(self, path: str = "CODE_LAW.md") -> str | None:
        found = await self.workspace.obeyed.read(path)
        return None if found is None else found.text

    async def answer(self, *, accepted: bool) -> int:
        changes = await self.workspace.obeyed.unseen()
        await self.workspace.obeyed.settle(changes, accepted=accepted)
        return len(changes)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    (made.root / "CODE_LAW.md").write_text("old\n")
    return made


def writes(desk: Desk, text: str, path: str = "CODE_LAW.md") -> Callable[[], object]:
    return lambda: (desk.root / path).write_text(text)


async def test_the_old_text_counts_until_an_answer_also_in_the_next_server(desk: Desk):
    assert await desk.text() == "old\n"
    await desk.command(writes(desk, "new\n"))
    assert await desk.text() == "old\n"
    after = Desk(desk.base)
    assert await after.text() == "old\n"
    assert await after.answer(accepted=False) == 1
    assert (await after.text(), await after.answer(accepted=True)) == ("old\n", 0)
    await after.command(writes(desk, "newer\n"))
    assert await after.text() == "old\n"
    assert await after.answer(accepted=True) == 1
    assert await after.text() == "newer\n"
    assert await desk.text() == "newer\n", "another server has been told"
    await desk.command(writes(desk, "old\n"))
    assert await desk.text() == "newer\n", "what counted once is a change as well"


async def test_an_answer_is_about_what_was_shown(desk: Desk):
    await desk.text()
    await desk.command(writes(desk, "shown\n"))
    await desk.text()
    changes = await desk.workspace.obeyed.unseen()
    await desk.command(writes(desk, "swapped\n"))
    await desk.workspace.obeyed.settle(changes, accepted=True)
    assert await desk.text() == "old\n"


async def test_a_new_file_does_not_count_and_one_that_is_saved_does(desk: Desk):
    await desk.command(writes(desk, "new\n", "AGENTS.md"))
    assert await desk.text("AGENTS.md") is None
    (desk.root / "AGENTS.md").write_text("new\n")
    assert await desk.text("AGENTS.md") == "new\n"
    assert await desk.workspace.obeyed.unseen() == []


async def test_what_was_never_looked_at_and_no_command_touched_counts(desk: Desk):
    await desk.command(writes(desk, "x", "other.txt"))
    assert await desk.text() == "old\n"


async def test_a_file_that_a_command_removes_goes_on_to_count(desk: Desk):
    await desk.text()
    await desk.command((desk.root / "CODE_LAW.md").unlink)
    removed = desk.workspace.obeyed.removed
    found = await removed("CODE_LAW.md")
    assert found is not None
    assert found.text == "old\n"
    (desk.root / "more.txt").write_text("the folder's time is another")
    again = await Desk(desk.base).workspace.obeyed.removed("CODE_LAW.md")
    assert again is not None
    assert await desk.answer(accepted=True) == 1
    assert await removed("CODE_LAW.md") is None
    (desk.root / "CODE_LAW.md").write_text("back\n")
    assert await desk.text() == "back\n"
    (desk.root / "CODE_LAW.md").unlink()
    assert await removed("CODE_LAW.md") is None, "the user has removed it"


async def test_an_editor_that_loads_it_is_not_an_answer_and_typing_before_is(desk: Desk):
    path = desk.root / "CODE_LAW.md"
    desk.documents.open(path, "old\n")
    assert await desk.text() == "old\n"
    desk.documents.edit(path, "typed\n")
    assert await desk.text() == "typed\n"
    await desk.command(lambda: path.write_bytes("new\n".encode("utf-16")))
    assert await desk.text() == "typed\n"
    desk.documents.edit(path, "new\n")
    assert await desk.text() == "old\n"
    path.write_text("new\n")
    assert await desk.text() == "new\n"


async def test_a_large_text_and_one_with_a_key(desk: Desk):
    redaction = Redaction({"k3y-AbC-9f8e7d6c5b4a": "model key"})
    accepted = AcceptedTexts(desk.base / "own/accepted", desk.times, redaction)
    workspace = DiskWorkspace([folder(desk.root)], desk.documents, accepted=accepted)
    (desk.root / "CODE_LAW.md").write_text("use k3y-AbC-9f8e7d6c5b4a\n")
    (desk.root / "AGENTS.md").write_text("x" * (LARGEST_KEPT + 1))
    for name in ("CODE_LAW.md", "AGENTS.md"):
        await workspace.obeyed.read(name)
    assert all(b"k3y-AbC" not in file.read_bytes() for file in (desk.base / "own/accepted").iterdir())
    await desk.command(lambda: shutil.copy(desk.root / "AGENTS.md", desk.root / "CODE_LAW.md"))
    await desk.command(writes(desk, "small\n", "AGENTS.md"))
    found = await workspace.obeyed.read("CODE_LAW.md")
    assert found is not None
    assert found.text == "use k3y-AbC-9f8e7d6c5b4a\n"
    assert await workspace.obeyed.read("AGENTS.md") is None, "the old one is too large to go on"


async def test_a_program_in_a_folder(desk: Desk):
    (desk.root / "guard").mkdir()
    (desk.root / "guard/__main__.py").write_bytes(b"\0binary")
    counts = desk.workspace.obeyed.counts
    assert await counts(str(desk.root / "guard"))
    await desk.command(lambda: (desk.root / "guard/helper.py").write_text("allow"))
    assert not await counts(str(desk.root / "guard"))
    assert await counts(str(desk.root)), "all of the workspace is no program"
    assert await counts("/bin/sh")
    assert await counts(str(desk.root / "missing"))
    assert await desk.answer(accepted=True) == 1
    assert await counts(str(desk.root / "guard"))


async def test_few_are_kept_and_a_cut_one_is_none(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("codelaw.adapters.workspace.accepted.MOST_RECORDS", 2)
    for name in ("a", "b", "c", "d"):
        (desk.root / name).write_text(name)
        assert await Desk(desk.base).text(name) == name
    kept = [*(desk.base / "own/accepted").iterdir()]
    assert len(kept) == 2
    for file in kept:
        file.write_bytes(b'{"dig')
    after = Desk(desk.base)
    assert await after.text("d") == "d"
    await after.command(writes(desk, "new", "c"))
    assert await after.text("c") is None
