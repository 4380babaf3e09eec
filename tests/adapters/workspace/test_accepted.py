"""Which text of a file that codelaw obeys counts, after commands, in the next server, and after an answer (S-8)."""

from __future__ import annotations

import asyncio
import mmap
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from codelaw.adapters.processes.quarantine.command_times import TICK, CommandTimes
from codelaw.adapters.texts import MAX_BYTES, Raw
from codelaw.adapters.workspace import obeyed
from codelaw.adapters.workspace.accepted import LARGEST_KEPT, AcceptedTexts
from codelaw.adapters.workspace.disk import DiskWorkspace
from codelaw.agent.turn.laws import find_law
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Located
from codelaw.domain.safety.redaction import Redaction
from codelaw.permissions.policy import denied_to
from codelaw.permissions.rules import parse
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
        self.accepted = AcceptedTexts(base / "own/accepted", self.times, Redaction())
        self.workspace = DiskWorkspace([folder(self.root)], self.documents, accepted=self.accepted)

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


async def test_a_program_that_a_command_has_made_so_that_it_cannot_be_shown(desk: Desk):
    guard, elsewhere = desk.root / "scripts/guard.py", desk.base / "elsewhere.py"
    elsewhere.write_text("allow")
    guard.parent.mkdir()
    (desk.root / ".git").mkdir()
    counts = desk.workspace.obeyed.counts

    def linked(to: Path) -> Callable[[], object]:
        def link() -> None:
            guard.unlink()
            guard.symlink_to(to)

        return link

    guard.symlink_to(elsewhere)
    assert await counts(str(guard)), "the user's own link leads out of the workspace"
    await desk.command(linked(elsewhere))
    assert not await counts(str(guard))
    guard.unlink()
    guard.write_text("deny")
    assert await counts(str(guard))
    await desk.command(lambda: os.truncate(guard, MAX_BYTES + 1))
    assert not await counts(str(guard)), "it is too large to be looked at"
    (desk.root / ".git/guard.py").write_text("allow")
    await desk.command(linked(desk.root / ".git/guard.py"))
    assert not await counts(str(guard))


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


OUT_OF_FORCE: dict[str, Callable[[Path], object]] = {
    "a folder": lambda path: path.mkdir(),
    "a link out": lambda path: path.symlink_to("/etc/passwd"),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a pipe": os.mkfifo,
    "no text": lambda path: path.write_bytes(b"\0"),
    "too large": lambda path: (path.touch(), os.truncate(path, MAX_BYTES + 1)),
    "a denied file": lambda path: path.symlink_to(".env"),
}


@pytest.mark.parametrize("what", OUT_OF_FORCE)
async def test_what_cannot_be_read_puts_no_law_out_of_force(desk: Desk, what: str):
    path = desk.root / "AGENTS.md"
    path.write_text("beside\n")
    (desk.root / ".env").write_text("KEY=1\n")
    denied = denied_to("Read", "reads", [parse("Read(.env)")])

    async def stands(of: Desk) -> bool:
        return "beside" in (await find_law(of.workspace, denied, ["AGENTS.md"])).text

    assert await stands(desk)
    await desk.command(lambda: (path.unlink(), OUT_OF_FORCE[what](path)))
    assert await stands(desk)
    after = Desk(desk.base)
    assert await stands(after)
    assert await after.answer(accepted=True) == 1
    assert not await stands(after), "the user has let it"
    assert not await stands(Desk(desk.base))
    assert await after.answer(accepted=True) == 0


async def test_the_program_of_a_hook_that_becomes_a_link_is_too_large_or_gone(desk: Desk):
    program = desk.root / "check.sh"

    def becomes(made: Callable[[], object]) -> Callable[[], object]:
        return lambda: (program.unlink(), made())

    for made in (
        lambda: program.symlink_to("/usr/bin/true"),
        lambda: (program.touch(), os.truncate(program, 60 << 20)),
        str,
    ):
        program.unlink(missing_ok=True)
        program.write_text("exit 2\n")
        assert await desk.workspace.obeyed.counts(str(program))
        await desk.command(becomes(made))
        assert not await desk.workspace.obeyed.counts(str(program))
    program.symlink_to("/usr/bin/true")
    assert await desk.workspace.obeyed.counts(str(program)), "the user's own link"


def mapped(path: Path) -> None:
    """Written without a system call that writes."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        assert memory[:1]  # the page is there, so that writing it is no fault
        memory[:4] = b"evil"


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is no file system in memory")
async def test_a_mapped_file_whose_time_stays():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as base:
        desk = Desk(Path(base).resolve())
        path = desk.root / "CODE_LAW.md"
        path.write_text("old\n")
        assert await desk.text() == "old\n"
        path.chmod(0o600)  # another time, and the same text
        assert await desk.text() == "old\n"
        await desk.command(lambda: mapped(path))
        assert await desk.text() == "old\n"


async def test_what_follows_a_write_of_ours_at_the_same_time_is_not_ours(desk: Desk):
    def both() -> None:
        asyncio.run(desk.workspace.write(desk.workspace.locate("AGENTS.md"), "ours\n", over=None))
        path = desk.root / "AGENTS.md"
        path.write_text("theirs\n")
        desk.accepted.wrote({path: "ours\n"})  # as one that was faster than our look at the time

    await desk.command(both)
    assert await desk.text("AGENTS.md") is None


async def test_a_text_that_appears_while_it_is_read_is_looked_at(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    real, path = obeyed.read_raw, desk.root / "AGENTS.md"

    def late(place: Located) -> Raw:
        try:
            return real(place)
        finally:
            path.write_text("evil\n")

    monkeypatch.setattr(obeyed, "read_raw", late)

    def looks() -> None:
        with pytest.raises(ToolFailure):
            asyncio.run(desk.workspace.obeyed.read("AGENTS.md"))

    await desk.command(looks)
