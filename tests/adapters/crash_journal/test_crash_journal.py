"""What a killed server leaves is whole or nothing, and the next one cleans it up, and nothing else."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from codelaw.adapters.crash_journal import file_snapshots
from codelaw.adapters.crash_journal.crash_journal import MARK, CrashJournal
from codelaw.adapters.crash_journal.guardian_child import end_marked
from codelaw.domain.chats import Notice
from codelaw.domain.files import Folder, Located
from codelaw.ports.journal import HeldFile, LeftCommand

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")

HOLDING = """
import asyncio, os, signal, sys
from pathlib import Path
from codelaw.adapters.crash_journal import file_snapshots
from codelaw.adapters.crash_journal.crash_journal import CrashJournal
from tests.adapters.crash_journal.test_crash_journal import files, text

left = int(sys.argv[2])

def deadly(real):
    def called(*arguments, **more):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **more)
    return called

async def main():
    leftovers = CrashJournal(Path(sys.argv[1]))
    leftovers.mark()
    os.open, os.replace, os.rename = map(deadly, (os.open, os.replace, os.rename))
    os.fdopen = deadly(os.fdopen)
    await leftovers.hold(("c", "t", "k"), files(), text, 1)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""

WRITING = """
import os, signal, sys
from pathlib import Path
from codelaw.adapters.crash_journal.crash_journal import CrashJournal
from codelaw.adapters.workspace.replacing import replace_file
from codelaw.domain.files import Folder, Located

os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
root = Path(sys.argv[2])
place = Located(root / "new.txt", "new.txt", "file:///new.txt", Folder("work", root, root.as_uri()))
replace_file(place, "text", None, CrashJournal(Path(sys.argv[1])).writing)
"""

CONTENTS = {f"/project/{number}.txt": f"text {number}\udc80\n" * 50 for number in range(4)}


def files() -> list[HeldFile]:
    folder = Folder("work", Path("/project"), "file:///project")
    held = [
        HeldFile(Located(Path(path), path, f"file://{path}", folder), digest(content), 0o644)
        for path, content in CONTENTS.items()
    ]
    return [*held, HeldFile(Located(Path("/project/none"), "none", "file:///project/none", folder), None)]


def digest(content: str) -> str:
    return hashlib.sha256(content.encode("utf-8", "surrogateescape")).hexdigest()


def text(wanted: str) -> str:
    return next(content for content in CONTENTS.values() if digest(content) == wanted)


def run(program: str, *arguments: object) -> int:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)], env=environment, check=False
    ).returncode


@pytest.fixture
def reported() -> list[Notice]:
    return []


@pytest.fixture
async def leftovers(tmp_path: Path, reported: list[Notice]) -> AsyncIterator[CrashJournal]:
    made = CrashJournal(tmp_path / "running", reported.append)
    yield made
    await made.close()


async def taken(leftovers: CrashJournal) -> list[LeftCommand]:
    found: list[LeftCommand] = []

    async def settle(command: LeftCommand) -> bool:
        found.append(command)
        return True

    await leftovers.settle(settle)
    return found


@pytest.mark.parametrize("moment", [1, 2, 3, 6, 10, 13, 15, 16, 1000])
async def test_a_kill_at_any_moment_leaves_the_whole_command_or_nothing(
    leftovers: CrashJournal, tmp_path: Path, moment: int
):
    assert await asyncio.to_thread(run, HOLDING, tmp_path / "running", moment) == -signal.SIGKILL
    found = await taken(leftovers)
    if moment > 15:
        assert len(found) == 1
    for command in found:
        assert (command.chat_id, command.turn_id, command.call_id) == ("c", "t", "k")
        assert [left.file for left in command.files] == files()
        assert [left.text for left in command.files] == [*CONTENTS.values(), None]
    assert await taken(leftovers) == []
    assert [path.name for path in (tmp_path / "running").iterdir() if path.is_dir()] == [leftovers.mark()[:-1]]


async def test_only_the_user_can_read_it_and_it_goes_with_the_server(leftovers: CrashJournal, tmp_path: Path):
    names = [await leftovers.hold(("c", "t", f"k{number}"), files(), text, 1) for number in range(3)]
    kept = list((tmp_path / "running").rglob("*"))
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600, 0o700}
    assert len([path for path in kept if path.parent.name == "texts"]) == len(CONTENTS), "each text once"
    for name in names:
        await leftovers.release(name)
    await leftovers.close()
    assert [*(tmp_path / "running").iterdir()] == []


async def test_what_could_not_be_stored_is_for_the_next_server(leftovers: CrashJournal, tmp_path: Path):
    await leftovers.release(await leftovers.hold(("c", "t", "k"), files(), text, 1), stored=False)
    await leftovers.close()
    other = CrashJournal(tmp_path / "running")
    assert [command.call_id for command in await taken(other)] == ["k"]
    await other.close()


async def test_what_runs_elsewhere_is_left_alone(leftovers: CrashJournal, tmp_path: Path):
    await leftovers.hold(("c", "t", "k"), files(), text, 1)
    other = CrashJournal(tmp_path / "running")
    assert await taken(other) == []
    await other.close()


async def test_a_text_that_is_damaged_is_not_taken_for_the_file(tmp_path: Path, leftovers: CrashJournal):
    assert await asyncio.to_thread(run, HOLDING, tmp_path / "running", 1000) == -signal.SIGKILL
    [first, *_] = sorted((tmp_path / "running").glob("*/texts/*"))
    first.write_bytes(first.read_bytes()[:-1])
    [command] = await taken(leftovers)
    assert sum(left.text is None and left.file.digest is not None for left in command.files) == 1


async def test_what_stays_for_the_next_command_makes_room_for_it(
    leftovers: CrashJournal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    put = file_snapshots._put

    def on_a_small_disk(path: Path, content: str) -> None:
        if len([*(tmp_path / "running").glob("*/texts/*")]) >= 2 and path.parent.name == "texts":
            raise OSError(errno.ENOSPC, "No space left on device")
        put(path, content)

    monkeypatch.setattr(file_snapshots, "_put", on_a_small_disk)
    running = await leftovers.hold(("c", "t", "k"), files()[:1], text, 1)
    await leftovers.release(await leftovers.hold(("c", "t", "k"), files()[1:2], text, 1))
    await leftovers.release(await leftovers.hold(("c", "t", "k"), files()[2:3], text, 1))
    kept = {path.read_text("utf-8", "surrogatepass") for path in (tmp_path / "running").glob("*/texts/*")}
    assert kept == {text(file.digest) for file in (files()[0], files()[2]) if file.digest}
    with pytest.raises(OSError, match="No space left"):
        await leftovers.hold(("c", "t", "k"), files()[1:4], text, 1)
    await leftovers.release(running)


async def test_more_that_is_secret_lets_nothing_be_used_again(leftovers: CrashJournal, tmp_path: Path):
    await leftovers.release(await leftovers.hold(("c", "t", "k"), files(), text, 1))
    await leftovers.release(await leftovers.hold(("c", "t", "k"), files(), lambda _: "sealed", 2))
    assert [path.read_text() for path in (tmp_path / "running").glob("*/texts/*")] == ["sealed"]


async def test_a_part_of_a_file_is_removed_and_told(leftovers: CrashJournal, reported: list[Notice], tmp_path: Path):
    root = tmp_path / "work"
    root.mkdir()
    (root / ".codelaw-0123456789ab").write_text("somebody's own")
    assert await asyncio.to_thread(run, WRITING, tmp_path / "running", root) == -signal.SIGKILL
    assert len([*root.iterdir()]) == 2
    await leftovers.clean()
    assert [path.name for path in root.iterdir()] == [".codelaw-0123456789ab"]
    [notice] = reported
    assert notice.code == "parts_removed"
    assert str(root) in notice.message


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="/proc tells whose a process is")
async def test_only_processes_with_the_mark_are_ended():
    marks = ["one-a", "one-b", "other-a", ""]
    children = [
        await asyncio.create_subprocess_exec("sleep", "60", env={**os.environ, **({MARK: mark} if mark else {})})
        for mark in marks
    ]
    try:
        async with asyncio.timeout(150):
            while any(b"sleep" not in Path(f"/proc/{child.pid}/comm").read_bytes() for child in children):
                await asyncio.sleep(0.01)
        assert await asyncio.to_thread(end_marked, [f"{MARK}=one-".encode()]) == ["sleep", "sleep"]
        assert [await children[0].wait(), await children[1].wait()] == [-signal.SIGKILL, -signal.SIGKILL]
        assert [child.returncode for child in children[2:]] == [None, None]
    finally:
        for child in children[2:]:
            child.kill()
            await child.wait()


async def test_every_guardian_is_awaited(leftovers: CrashJournal):
    """Nobody's process is left unread, and no file open: neither at the end, nor where somebody has killed it."""

    def guardian() -> subprocess.Popen[bytes]:
        leftovers.guard(2**22)  # no such group
        assert leftovers._own is not None
        process = leftovers._own[2]._process
        assert process is not None
        return process

    first = await asyncio.to_thread(guardian)
    first.kill()
    await asyncio.to_thread(first.wait, 150)
    second = await asyncio.to_thread(guardian)
    assert second is not first
    await leftovers.close()
    for ended in (first, second):
        assert ended.stdin is not None
        assert (ended.returncode, ended.stdin.closed) == (-signal.SIGKILL, True)
