"""A path that changes between its judgement and its use; all other ways out are in `tests/attacks` (T-2)."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from codelaw.domain.errors import ToolFailure
from tests.fakes.desk import Desk, folder, make_desk

SECRET = "SECRET" + "MARK"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    place = tmp_path / "out"
    place.mkdir()
    (place / "a.txt").write_text(SECRET)
    (tmp_path / "work-too").mkdir()
    (tmp_path / "work-too/a.txt").write_text(SECRET)
    return place


@pytest.fixture
def desk(tmp_path: Path, outside: Path) -> Desk:
    desk = make_desk(folder(tmp_path / "work"))
    desk.put("in/a.txt", "inside\n")
    desk.put(".git/config", "[core]\n")
    desk.put("sub/.git", "gitdir: ../.git/modules/sub\n")
    desk.put(".codelaw/config.toml", "[permissions]\n")
    (desk.root / "file-link").symlink_to(outside / "a.txt")
    (desk.root / "folder-link").symlink_to(outside)
    (desk.root / "chain").symlink_to("folder-link")
    (desk.root / "up").symlink_to("..")
    (desk.root / "root").symlink_to("/")
    (desk.root / "loop").symlink_to("loop")
    (desk.root / "git-link").symlink_to(".git")
    (desk.root / "rules-link").symlink_to(".codelaw/config.toml")
    (desk.root / "zero").symlink_to("/dev/zero")
    (desk.root / "environ").symlink_to("/proc/self/environ")
    os.mkfifo(desk.root / "fifo")
    return desk


# ------------------------------------------------------------------------------------- swapped between check and use


def swap(place: Path, target: Path) -> None:
    place.rename(place.with_name(f"{place.name}-before"))
    place.symlink_to(target)


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("what", ["read", "write", "new"])
async def test_a_link_that_comes_after_the_judgement(desk: Desk, outside: Path, what: str, deep: bool):
    desk.put("in/deep/a.txt", "inside\n")
    (outside / "deep").mkdir()
    (outside / "deep/a.txt").write_text(SECRET)
    name = "new.txt" if what == "new" else "a.txt"
    place = await asyncio.to_thread(desk.workspace.locate, f"in/deep/{name}" if deep else f"in/{name}")
    over = None if what == "new" else await desk.workspace.read(place)
    swap(desk.root / "in", outside)
    use = desk.workspace.read(place) if what == "read" else desk.workspace.write(place, "pwned", over=over)
    with pytest.raises(ToolFailure) as refused:
        await use
    assert refused.value.code == "ACCESS_DENIED"
    assert sorted(one.name for one in outside.rglob("*")) == ["a.txt", "a.txt", "deep"]
    assert (outside / "a.txt").read_text() == (outside / "deep/a.txt").read_text() == SECRET


async def test_a_file_that_becomes_a_link_after_the_judgement(desk: Desk, outside: Path):
    place = await asyncio.to_thread(desk.workspace.locate, "in/a.txt")
    over = await desk.workspace.read(place)
    swap(desk.root / "in/a.txt", outside / "a.txt")
    with pytest.raises(ToolFailure):
        await desk.workspace.read(place)
    with pytest.raises(ToolFailure):
        await desk.workspace.write(place, "pwned", over=over)
    assert (outside / "a.txt").read_text() == SECRET


@pytest.fixture
def flipping(desk: Desk, outside: Path) -> Iterator[None]:
    """A folder that is a link to outside every other moment."""
    desk.put("flip/a.txt", "inside\n")
    (desk.root / "link").symlink_to(outside)
    end = threading.Event()

    def flip() -> None:
        while not end.is_set():
            (desk.root / "flip").rename(desk.root / "real")
            (desk.root / "link").rename(desk.root / "flip")
            (desk.root / "flip").rename(desk.root / "link")
            (desk.root / "real").rename(desk.root / "flip")

    thread = threading.Thread(target=flip)
    thread.start()
    yield
    end.set()
    thread.join()


async def test_a_folder_that_is_a_link_every_other_moment(desk: Desk, outside: Path, flipping: None):
    """Hundreds of chances between every check and every use."""
    came = {"read": 0, "written": 0, "refused": 0}
    for number in range(20_000):
        if number >= 400 and came["read"]:
            break  # on a busy machine the moments may be long
        try:
            place = await asyncio.to_thread(desk.workspace.locate, "flip/a.txt")
            over = await desk.workspace.read(place)
            assert SECRET not in over.text
            came["read"] += 1
            await desk.workspace.write(place, f"inside {number}\n", over=over)
            came["written"] += 1
        except ToolFailure:
            came["refused"] += 1
    assert (outside / "a.txt").read_text() == SECRET
    assert [one.name for one in outside.iterdir()] == ["a.txt"]
    assert came["read"] > 0, came
