"""What commands changed is told by the time of its last change, whoever looks at it and whenever (S-8)."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codelaw.adapters.processes.path_fds import folder_at
from codelaw.adapters.processes.quarantine import command_times
from codelaw.adapters.processes.quarantine.command_times import CommandTimes
from codelaw.adapters.processes.quarantine.keeping import Keeping, begin_note
from tests.adapters.processes.conftest import Fenced
from tests.attacks.world import USUAL, World

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere another clock may count")
KINDS = (pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap")), "landlock", "none")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    return tmp_path / "own"


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return (tmp_path / "ws").resolve()


def times_of(own: Path) -> CommandTimes:
    """As a server has them, or another one."""
    return CommandTimes(own, USUAL)


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=A User", "-c", "user.email=a@user.example", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def pause() -> None:
    """Longer than the clock of files lags behind."""
    time.sleep(3 * command_times.TICK)


def command(times: CommandTimes, ws: Path, *names: str) -> None:
    pause()
    noted = times.begin([ws])
    for name in names:
        (ws / name).write_text("made\n")
    times.end(noted)
    pause()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_command_in_whatever_sandbox(around: World, fenced: Fenced, kind: str):
    times = CommandTimes(around.own / "quarantine", around.environment)
    sandbox, means = await fenced("bubblewrap" if kind == "none" else kind, times=times)
    processes = around.processes(sandbox, None if kind == "none" else means)
    (around.ws / "mine").write_text("x")
    pause()
    line = "echo x > AGENTS.md; touch -d 2001-01-01 AGENTS.md; chmod 600 a.txt"
    await processes.run(line, cwd=around.ws, timeout=150)
    pause()
    (around.ws / "later").write_text("x")
    found = {name: await asyncio.to_thread(times.changed_by, around.ws / name) for name in ("AGENTS.md", "a.txt")}
    assert None not in found.values()
    assert await asyncio.to_thread(times.changed_by, around.ws / "mine") is None
    assert await asyncio.to_thread(times.changed_by, around.ws / "later") is None


def test_another_server_knows_it_also_while_the_command_runs(own: Path, ws: Path):
    mine, other = times_of(own), times_of(own)
    noted = mine.begin([ws])
    (ws / "a").write_text("a")
    assert other.changed_by(ws / "a") is not None
    mine.end(noted)
    assert times_of(own).changed_by(ws / "a") is not None
    pause()
    (ws / "a").write_text("b")
    assert other.changed_by(ws / "a") is None


def test_a_command_whose_server_is_dead_ran_until_another_looks(own: Path, ws: Path):
    note = begin_note(own / "times" / "running", {"folders": [str(ws)], "begun": time.time(), "refs": "none"})
    os.close(note.descriptor)
    (ws / "a").write_text("a")
    times = times_of(own)
    assert times.changed_by(ws / "a") is not None
    pause()
    (ws / "b").write_text("b")
    assert times.changed_by(ws / "b") is None
    assert times_of(own).changed_by(ws / "a") is not None
    assert not note.file.exists()


def test_folders_and_links_on_the_way_count_and_the_workspace_itself_does_not(own: Path, ws: Path):
    for folder in ("theirs", "mine"):
        (ws / folder).mkdir()
        (ws / folder / "AGENTS.md").write_text("x")
    (ws / "law").write_text("x")
    times = times_of(own)
    pause()
    noted = times.begin([ws])
    (ws / "theirs").rename(ws / "src")
    (ws / "CODE_LAW.md").symlink_to("law")
    (ws / "linked").symlink_to("mine")
    times.end(noted)
    found = ("src/AGENTS.md", "CODE_LAW.md", "linked/AGENTS.md", "mine/AGENTS.md", "law")
    assert [times.changed_by(ws / name) is not None for name in found] == [True, True, True, False, False]
    (ws / "round").symlink_to("round")
    with pytest.raises(OSError, match="Too many levels"):
        times.changed_by(ws / "round" / "x")


def test_what_is_gone_and_other_folders(own: Path, ws: Path, tmp_path: Path):
    (ws / "sub").mkdir()
    other = (tmp_path / "other").resolve()
    other.mkdir()
    times = times_of(own)
    pause()
    noted = times.begin([ws])
    (ws / "sub/a").write_text("a")
    (ws / "sub/a").unlink()
    (other / "a").write_text("a")
    times.end(noted)
    assert times.changed_by(ws / "sub/a", gone=True) is not None
    assert times.changed_by(ws / "sub/deeper/a", gone=True) is not None
    assert times.changed_by(ws / "a", gone=True) is None
    assert times.changed_by(other / "a") is None, "a command of another workspace"


def test_many_commands_stay_few_lines_and_none_is_forgotten(own: Path, ws: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(command_times, "MOST", 3)
    monkeypatch.setattr(command_times, "LARGEST", 400)
    times = times_of(own)
    for number in range(12):
        command(times, ws, f"f{number}")
    assert (own / "times/ended").read_text().count("\n") < 8
    assert all(times.changed_by(ws / f"f{number}") is not None for number in range(12))
    assert len([*(own / "times/refs").iterdir()]) == 1
    pause()
    (ws / "mine").write_text("x")
    assert times.changed_by(ws / "mine") is None


def test_what_the_user_brings_back_is_theirs(own: Path, ws: Path):
    times, keeping = times_of(own), Keeping(own / "kept")
    pause()
    noted = times.begin([ws])
    (ws / ".claude/agents").mkdir(parents=True)
    (ws / ".claude/agents/x.md").write_text("x")
    with folder_at(ws) as folder:
        kept = keeping.take(folder, ".claude", ws / ".claude")
    times.end(noted)
    pause()
    assert kept is not None
    assert keeping.bring_back(kept) == ""
    assert times.changed_by(ws / ".claude/agents/x.md") is None


def test_what_was_cut_with_the_power_breaks_nothing(own: Path, ws: Path):
    command(times_of(own), ws, "a")
    for file in [*(own / "times/refs").iterdir()]:
        file.write_text("{")
    (own / "times/running/0123").write_text('{"fol')
    with (own / "times/ended").open("a") as lines:
        lines.write('["/x", 1')
    found = times_of(own).changed_by(ws / "a")
    assert found is not None
    assert not found.holds(ws / "a", b"made\n")


def test_a_clock_that_is_set_back_hides_nothing(own: Path, ws: Path, monkeypatch: pytest.MonkeyPatch):
    times = times_of(own)
    now = time.time()
    monkeypatch.setattr(command_times.time, "time", lambda: now + 3600)
    noted = times.begin([ws])
    monkeypatch.undo()
    pause()
    times.end(noted)
    (ws / "a").write_text("a")
    assert times.changed_by(ws / "a") is not None, "until the clock is there again"


def branch_with_a_law(ws: Path) -> None:
    """A ref that a command makes by itself, for another one to check out."""
    git(ws, "checkout", "-qb", "evil")
    (ws / "CODE_LAW.md").write_text("evil\n")
    git(ws, "add", "-A")
    git(ws, "commit", "-qm", "evil")
    git(ws, "checkout", "-q", "main")


@pytest.fixture
def repository(ws: Path) -> Path:
    git(ws, "init", "-q")
    (ws / "a.txt").write_text("a\n")
    git(ws, "add", "-A")
    git(ws, "commit", "-qm", "one")
    return ws


def knows(times: CommandTimes, ws: Path) -> bool:
    """Whether what the command has committed was there before the next command, as far as is known."""
    noted = times.begin([ws])
    times.end(noted)
    return noted.before.holds(ws / "CODE_LAW.md", b"evil\n")


def test_what_a_command_of_a_killed_server_has_committed(own: Path, repository: Path):
    if (child := os.fork()) == 0:
        times_of(own).begin([repository])
        branch_with_a_law(repository)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    assert not knows(times_of(own), repository)
    assert not knows(times_of(own), repository)


def test_what_a_command_of_another_server_commits_meanwhile(own: Path, repository: Path):
    one, other = times_of(own), times_of(own)
    noted = one.begin([repository])
    branch_with_a_law(repository)
    assert not knows(other, repository)
    one.end(noted)
    assert not knows(other, repository)
    assert not knows(one, repository)
    git(repository, "checkout", "-qb", "mine")
    (repository / "CODE_LAW.md").write_text("mine\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "mine")
    noted = other.begin([repository])
    assert noted.before.holds(repository / "CODE_LAW.md", b"mine\n"), "what the user commits is known"
    assert noted.before.holds(repository / "a.txt", b"a\n")
    other.end(noted)


def test_who_saves_a_file_beside_what_a_command_has_made(own: Path, ws: Path):
    times = times_of(own)
    (ws / "lib").mkdir()
    (ws / "lib/AGENTS.md").write_text("old\n")
    command(times, ws, "lib/built")
    assert times.changed_by(ws / "lib/AGENTS.md") is not None, "its folder may be another one"
    with (ws / "lib/AGENTS.md").open("a") as file:
        file.write("more\n")  # as editors do: the folder stays as it is
    assert times.changed_by(ws / "lib/AGENTS.md") is None
    pause()
    noted = times.begin([ws])
    (ws / "lib").rename(ws / "moved")
    times.end(noted)
    assert times.changed_by(ws / "moved/AGENTS.md") is not None
