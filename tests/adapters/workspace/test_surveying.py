"""Surveys say what has changed on the disk, whoever changed it (X-5)."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from codelaw.domain.files import Located, Survey
from codelaw.permissions.policy import denied_to
from codelaw.permissions.rules import parse
from codelaw.ports.workspace import Workspace
from tests.fakes.desk import Desk, folder, make_desk


def repository(path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(path)], check=True)


class Follower:
    """What somebody knows who has nothing but surveys: each file with its text when it was last told of."""

    def __init__(self, workspace: Workspace, root: Path) -> None:
        self.workspace = workspace
        self.root = root
        self.last: Survey | None = None
        self.texts: dict[str, bytes] = {}

    async def look(self) -> Survey:
        found = await self.workspace.survey(self.last, max_visits=100_000, seconds=60.0)
        if found.whole:
            self.texts.clear()
        assert not found.gone & found.changed.keys()
        for path in found.gone:
            self.texts.pop(path, None)
        self.texts |= {path: (self.root / path).read_bytes() for path in found.changed}
        self.last = found
        return found


async def truth(workspace: Workspace) -> dict[str, bytes]:
    """The same by a whole walk."""
    (top,) = workspace.folders
    start = Located(top.root, ".", top.uri, top)
    found = await workspace.walk([start], "**", max_visits=100_000, seconds=60.0)
    return {one.shown: (top.root / one.shown).read_bytes() for one in found.files}


def later(path: Path) -> None:
    """As if its last change were long ago, though not as long as any before it."""
    later.moment += 1.5  # type: ignore[attr-defined]
    os.utime(path, (0, later.moment), follow_symlinks=False)  # type: ignore[attr-defined]


later.moment = 1_500_000_000.123  # type: ignore[attr-defined]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(folder(tmp_path / "work"))


def age(root: Path) -> None:
    for path in [root, *root.rglob("*")]:
        later(path)


async def test_only_folders_that_have_changed_are_listed_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        desk.put(f"part{number}/a.py", "a")
    age(desk.root)
    follower = Follower(desk.workspace, desk.root)
    await follower.look()
    listed: list[str] = []
    scandir = os.scandir

    def noting(path: str) -> object:
        listed.append(path)
        return scandir(path)

    monkeypatch.setattr("codelaw.adapters.workspace.surveying.os.scandir", noting)
    await follower.look()
    assert listed == []
    place = desk.put("part7/a.py", "in place")
    await follower.look()
    assert (listed, follower.texts["part7/a.py"]) == ([], b"in place")
    later(place)
    desk.put("part7/b.py", "b")
    await follower.look()
    assert listed == [str(desk.root / "part7")]


async def test_what_a_rule_denies_is_not_told_and_another_view_begins_anew(desk: Desk) -> None:
    for path in ("a.py", "secrets/b.py"):
        desk.put(path, "text")
    denied = denied_to("Read", "reads", (parse("Read(secrets/**)"),))
    seen = Follower(desk.workspace.without(denied), desk.root)
    await seen.look()
    desk.put("secrets/c.py", "more")
    desk.documents.open(desk.root / "secrets/d.py", "open")
    found = await seen.look()
    assert (seen.texts.keys(), found.open, found.whole) == ({"a.py"}, {}, False)
    everything = await desk.workspace.survey(found, max_visits=1_000, seconds=60.0)
    assert everything.whole
    assert everything.changed.keys() == {"a.py", "secrets/b.py", "secrets/c.py"}
    assert everything.open.keys() == {"secrets/d.py"}


async def test_open_documents_are_told_where_a_file_would_be_seen(desk: Desk) -> None:
    desk.put(".gitignore", "built/\n")
    desk.put("a.py", "a")
    for name in ("a.py", "new/b.py", "built/c.py", ".hidden/d.py"):
        desk.documents.open(desk.root / name, "open")
    desk.documents.open(desk.root.parent / "outside.py", "open")
    desk.documents.open("untitled:Untitled-1", "open")
    found = await desk.workspace.survey(None, max_visits=1_000, seconds=60.0)
    assert found.open.keys() == {"a.py", "new/b.py"}


async def test_a_survey_that_ends_early_says_so_and_the_next_begins_anew(desk: Desk) -> None:
    for number in range(20):
        desk.put(f"part{number}/a.py", "a")
    short = await desk.workspace.survey(None, max_visits=10, seconds=60.0)
    assert (short.stopped, short.tree) == ("stopped after 10 entries", None)
    found = await desk.workspace.survey(short, max_visits=1_000, seconds=60.0)
    assert (found.whole, len(found.changed), found.stopped) == (True, 20, "")


async def test_a_folder_inside_another_is_told_under_its_own_name(tmp_path: Path) -> None:
    desk = make_desk(folder(tmp_path / "outer"), folder(tmp_path / "outer" / "inner"))
    desk.put("a.py", "a")
    desk.put("inner/b.py", "b")
    found = await desk.workspace.survey(None, max_visits=1_000, seconds=60.0)
    assert found.changed.keys() == {"outer/a.py", "inner/b.py"}


@pytest.mark.parametrize("seed", range(12))
async def test_a_follower_knows_what_a_whole_walk_finds(desk: Desk, tmp_path: Path, seed: int) -> None:
    """After whatever happens to the tree, many times over."""
    chance = random.Random(seed)
    root = desk.root
    follower = Follower(desk.workspace, root)
    if seed % 2:
        repository(root)

    def some(folders: bool) -> Path:
        depth = chance.randint(0 if folders else 1, 3)
        return root.joinpath(*(chance.choice("abc") for _ in range(depth)))

    def free(path: Path) -> None:
        for one in (*reversed(path.relative_to(root).parents), path.relative_to(root)):
            place = root / one
            if place.is_symlink() or (place.exists() and (place == path or not place.is_dir())):
                shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink()

    def act() -> None:
        kind, path = chance.randrange(9), some(folders=False)
        if kind <= 2:
            free(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(str(chance.randrange(10)))
        elif kind == 3 and path.is_file() and not path.is_symlink():
            path.write_text(str(chance.randrange(10)))  # in place
        elif kind == 4 and path.exists():
            free(path)
        elif kind == 5 and path.exists():
            shutil.move(path, tmp_path / "moved")
            goal = some(folders=False)
            free(goal)
            goal.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(tmp_path / "moved", goal)
        elif kind == 6:
            rules = some(folders=True)
            if rules.is_dir():
                (rules / ".gitignore").write_text(chance.choice(["", "a\n", "b/\n", "!c\n/a\n"]))
        elif kind == 7:
            free(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(chance.choice([root, root / "a", tmp_path]))
        elif kind == 8:
            place = some(folders=True) / ".git"
            if place.is_dir() and place.parent != root:
                shutil.rmtree(place)
            elif place.parent.is_dir() and not place.exists():
                place.mkdir()

    for _ in range(60):
        for _ in range(chance.randint(0, 3)):
            act()
        if chance.random() < 0.2:
            age(root)
        await follower.look()
        assert follower.texts == await truth(desk.workspace)


async def test_an_exact_look_tells_what_was_made_moved_changed_and_removed(tmp_path: Path) -> None:
    one, two = folder(tmp_path / "one"), folder(tmp_path / "two")
    desk = make_desk(one, two)
    for name in ("a/moved", "a/.hidden", "changed", "gone", "mode"):
        desk.put(name, name)
    before = await desk.workspace.survey(None, max_visits=1_000, seconds=60.0, exact=True)
    assert {"one/a/moved", "one/a/.hidden", "one/changed", "one/gone", "one/mode"} == {*before.stamps.values()}
    (one.root / "a").rename(two.root / "b")
    (two.root / "new").mkdir()
    (two.root / "new/file").write_text("x")
    (one.root / "changed").write_text("another text")
    (one.root / "mode").chmod(0o700)
    (one.root / "gone").unlink()
    now = await desk.workspace.survey(before, max_visits=1_000, seconds=60.0, exact=True)
    moved = {"two/b/moved": "one/a/moved", "two/b/.hidden": "one/a/.hidden"}
    assert now.made == {**moved, "two/new/file": None}
    assert (now.changed.keys(), now.gone) == ({"one/changed"}, {"one/gone", *moved.values()})
    assert (now.made_folders, now.gone_folders) == (("two/b", "two/new"), ("one/a",))
    again = await desk.workspace.survey(now, max_visits=1_000, seconds=60.0, exact=True)
    assert (again.made, again.changed, again.gone) == ({}, {}, frozenset())
