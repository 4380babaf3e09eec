"""What a command does to files is kept, as far as can be known (E-2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from codelaw.domain.chats import Notice
from codelaw.domain.files import Entry, FileImage, Located
from codelaw.tools.changing.snapshots import MAX_BELOW, MAX_NAMED, kept
from tests.fakes.desk import Desk, folder, make_desk


@dataclass
class Kept:
    """A journal that only remembers."""

    changes: dict[str, tuple[bytes | None, bytes | None]] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    held: Sequence[tuple[Located, FileImage | None]] = ()

    async def plan(self, *_: object) -> int:
        raise AssertionError("a command is not planned")

    settle = withdraw = plan

    def touched(self) -> Sequence[Located]:
        return ()

    async def note(self, place: Located, what: str, *, was: bool, there: bool) -> None:
        assert what == "lost"

    async def hold(self, files: Sequence[tuple[Located, FileImage | None]]) -> str:
        self.held = files
        return "held"

    async def release(self, name: str, *, stored: bool) -> None:
        assert (name, stored) == ("held", True)

    def report(self, notice: Notice) -> None:
        self.notices.append(notice)

    async def keep(self, place: Located, before: FileImage | None, after: FileImage | None) -> None:
        sides = (before, after)
        self.changes[place.shown] = tuple(None if one is None else one.content for one in sides)  # type: ignore[assignment]


async def changed(desk: Desk, command: str) -> dict[str, tuple[bytes | None, bytes | None]]:
    """What is kept of a command that really runs."""
    journal = Kept()
    env = replace(desk.environment, journal=journal)
    async with kept(command, env):
        await env.processes.run(command, cwd=desk.root, timeout=150)
    return journal.changes


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("sed -i s/one/two/ a.txt", {"a.txt": (b"one\n", b"two\n")}),
        ("rm a.txt 'with space.txt'", {"a.txt": (b"one\n", None), "with space.txt": (b"x", None)}),
        ("echo more>>a.txt;echo new >sub/new.txt", {"a.txt": (b"one\n", b"one\nmore\n"), "sub/new.txt": (None, b"new\n")}),
        ("mv a.txt b.txt", {"a.txt": (b"one\n", None), "b.txt": (None, b"one\n")}),
        ("rm -r sub", {"sub/deep/d.bin": (b"\0\xff", None), "sub/c.txt": (b"c\r\n", None), "sub/.env": (b"s", None)}),
        ("cd sub && rm c.txt", {"sub/c.txt": (b"c\r\n", None)}),
        ("rm *.txt", {"a.txt": (b"one\n", None), "with space.txt": (b"x", None)}),
        ("rm sub/c*", {"sub/c.txt": (b"c\r\n", None)}),
        ("cat a.txt; ls", {}),
        ("touch a.txt", {}),
        ("cp --target-directory=sub a.txt", {"sub/a.txt": (None, b"one\n")}),
        ("tee sub/made.txt < a.txt", {"sub/made.txt": (None, b"one\n")}),
        ("python3 -c \"open('a.txt','w').write('py')\"", {"a.txt": (b"one\n", b"py")}),
        ("cat > a.txt <<'E'\nhere\nE", {"a.txt": (b"one\n", b"here\n")}),
        ("echo 'unended > a.txt", {}),
        ("rm link", {}),
        ("echo x > link", {"a.txt": (b"one\n", b"x\n")}),
        ("echo x > .git/config; echo y > ../out.txt", {}),
    ],
)  # fmt: skip
async def test_what_a_command_changed_of_what_it_names(desk: Desk, command: str, kept: dict):
    for name, content in {
        "a.txt": b"one\n", "with space.txt": b"x", "sub/c.txt": b"c\r\n", "sub/deep/d.bin": b"\0\xff",
        "sub/.env": b"s", ".git/config": b"[core]", "other.md": b"o",
    }.items():  # fmt: skip
        desk.put(name, content)
    (desk.root / "link").symlink_to("a.txt")
    assert await changed(desk, command) == kept


async def test_a_file_that_was_read_need_not_be_named(desk: Desk):
    desk.put("read.txt", "before\n")
    desk.put("unread.txt", "before\n")
    desk.put("go.sh", "echo after > read.txt; echo after > unread.txt\n")
    await desk("Read", path="read.txt")
    assert await changed(desk, "sh go.sh") == {"read.txt": (b"before\n", b"after\n")}


async def test_the_disk_counts_and_not_what_the_editor_shows(desk: Desk):
    place = desk.put("a.txt", "disk\n")
    desk.documents.open(place, "typed\n")
    assert await changed(desk, "echo x >> a.txt") == {"a.txt": (b"disk\n", b"disk\nx\n")}


async def held(desk: Desk, command: str) -> dict[str, FileImage]:
    """What is kept before a command."""
    journal = Kept()
    async with kept(command, replace(desk.environment, journal=journal)):
        pass
    return {place.shown: image for place, image in journal.held if image is not None}


async def test_images_are_bounded(desk: Desk):
    desk.put("large.bin", b"x" * (MAX_NAMED + 1))
    for number in range(30):
        desk.put(f"{number}.bin", b"x" * MAX_NAMED)
    for number in range(MAX_BELOW + 50):
        desk.put(f"many/{number}", "x")
    images = await held(desk, "cat large.bin 1.bin many . " + " ".join(f"none{number}" for number in range(5_000)))
    assert {"1.bin"} == {name for name in images if name in {"large.bin", "1.bin"}}
    assert len([name for name in images if name.startswith("many/")]) == MAX_BELOW
    images = await held(desk, "cat *.bin")
    assert sum(len(image.content) for image in images.values()) == 20_000_000


async def test_what_was_too_large_to_keep_is_told_when_it_changed(desk: Desk):
    for name in ("large.bin", "same.bin"):
        desk.put(name, b"x" * (MAX_NAMED + 1))
    for number in range(MAX_BELOW + 50):
        desk.put(f"many/{number}", "x")
    assert await told(desk, "cat large.bin same.bin; ls many") == ""
    said = await told(desk, "echo y >> large.bin; cat same.bin")
    assert said.endswith("changed a file of which nothing was kept, so this cannot be undone: large.bin.")
    assert (await told(desk, "rm -r many large.bin")).endswith(": large.bin (removed), many (removed).")


async def told(desk: Desk, command: str) -> str:
    """What is said of a command that really runs."""
    journal = Kept()
    env = replace(desk.environment, journal=journal)
    async with kept(command, env):
        await env.processes.run(command, cwd=desk.root, timeout=150)
    return " ".join(notice.message for notice in journal.notices)


async def test_a_folder_is_listed_once_however_many_words_lead_there(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    for name in ("many/a.txt", "many/b.py", "many/c.h"):
        desk.put(name, "x")
    listed: list[Path] = []
    real = desk.environment.workspace.entries

    async def entries(place: Located, *, hidden: bool, ignored: bool) -> list[Entry]:
        listed.append(place.path)
        return await real(place, hidden=hidden, ignored=ignored)

    monkeypatch.setattr(desk.environment.workspace, "entries", entries)
    images = await held(desk, "cat many/*.txt many/*.py many/*.h many")
    assert images.keys() == {"many/a.txt", "many/b.py", "many/c.h"}
    assert listed.count(desk.root / "many") == 1


async def test_with_several_folders_the_command_works_in_the_first(tmp_path: Path):
    desk = make_desk(folder(tmp_path / "one"), folder(tmp_path / "two"))
    desk.put("a.txt", "x")
    (tmp_path / "two" / "b.txt").write_text("y")
    kept = await changed(desk, f"rm a.txt ../two/b.txt; echo z > {tmp_path}/two/c.txt")
    assert kept == {"one/a.txt": (b"x", None), "two/b.txt": (b"y", None), "two/c.txt": (None, b"z\n")}


@pytest.mark.parametrize(
    "command", ["", "   ", "\\", "'", "a" * 70_000, "\udc80 x", "*" * 300, "[", "a\0b", "/" * 5_000]
)
async def test_odd_commands_are_no_harm(desk: Desk, command: str):
    assert await held(desk, command) == {}
