"""Files byte for byte: looked at, brought back, removed; never over what somebody else has done (E-2)."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import FileImage, Located
from tests.fakes.desk import Desk, folder, make_desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(folder(tmp_path / "work"))


async def at(desk: Desk, path: str) -> Located:
    return await asyncio.to_thread(desk.workspace.locate, path)


async def code(awaitable) -> str:
    with pytest.raises(ToolFailure) as caught:
        await awaitable
    return caught.value.code


async def test_an_image_is_the_disk_byte_for_byte(desk: Desk):
    place = desk.put("a.bin", b"\0\xff\r\n")
    place.chmod(0o640)
    desk.documents.open(place, "typed")
    assert await desk.workspace.image(await at(desk, "a.bin")) == FileImage(b"\0\xff\r\n", 0o640)
    assert await desk.workspace.image(await at(desk, "none")) is None
    assert await desk.workspace.image(await at(desk, "a.bin/below")) is None
    assert await code(desk.workspace.image(await at(desk, "."), most=1)) == "IS_DIRECTORY"
    assert await code(desk.workspace.image(await at(desk, "a.bin"), most=3)) == "INVALID_PARAM"
    os.mkfifo(desk.root / "pipe")
    assert await code(desk.workspace.image(await at(desk, "pipe"))) == "ACCESS_DENIED"
    desk.documents.open("untitled:one", "x")
    assert await desk.workspace.image(await at(desk, "untitled:one")) is None


async def test_a_file_is_brought_back_with_its_permission_bits(desk: Desk):
    place = await at(desk, "deep/er/a.sh")
    await desk.workspace.put_back(place, b"\0x", over=None, mode=0o751)
    assert (place.path.read_bytes(), stat.S_IMODE(place.path.stat().st_mode)) == (b"\0x", 0o751)
    await desk.workspace.put_back(place, b"y", over=b"\0x")
    assert (place.path.read_bytes(), stat.S_IMODE(place.path.stat().st_mode)) == (b"y", 0o751)
    assert [path.name for path in place.path.parent.iterdir()] == ["a.sh"]


async def test_what_is_not_as_it_was_is_left_alone(desk: Desk):
    desk.put("a", b"now")
    place, none, git = await at(desk, "a"), await at(desk, "none"), await at(desk, ".git/config")
    workspace = desk.workspace
    for awaitable, wanted in (
        (workspace.put_back(place, b"x", over=b"then"), "CONFLICT"),
        (workspace.put_back(place, b"x", over=None), "CONFLICT"),
        (workspace.put_back(none, b"x", over=b"then"), "CONFLICT"),
        (workspace.remove(place, over=b"then"), "CONFLICT"),
        (workspace.remove(none, over=b"then"), "CONFLICT"),
        (workspace.put_back(git, b"x", over=None), "ACCESS_DENIED"),
        (workspace.remove(git, over=b""), "ACCESS_DENIED"),
        (workspace.put_back(await at(desk, "."), b"x", over=None), "IS_DIRECTORY"),
        (workspace.remove(await at(desk, "."), over=b""), "IS_DIRECTORY"),
    ):
        assert await code(awaitable) == wanted
    assert [(path.name, path.read_bytes()) for path in desk.root.iterdir()] == [("a", b"now")]


async def test_an_open_document_is_never_bypassed(desk: Desk):
    path = desk.put("a", b"\xef\xbb\xbfone\r\n")
    place = await at(desk, "a")
    desk.documents.open(path, "typed\n")
    over = path.read_bytes()
    assert await code(desk.workspace.put_back(place, b"x", over=over)) == "CONFLICT"
    assert await code(desk.workspace.remove(place, over=over)) == "CONFLICT"
    assert await code(desk.workspace.remove(place, over=over, shown="one\n")) == "CONFLICT"
    desk.documents.edit(path, "two\n")
    await desk.workspace.put_back(place, b"\xef\xbb\xbftwo\r\n", over=over)
    assert await code(desk.workspace.put_back(place, b"\xff", over=path.read_bytes())) == "CONFLICT"
    await desk.workspace.remove(place, over=b"\xef\xbb\xbftwo\r\n", shown="two\r\n")
    assert not path.exists()


async def test_a_symlink_put_in_the_way_is_not_followed(desk: Desk, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_bytes(b"now")
    desk.put("sub/a", b"now")
    place = await at(desk, "sub/a")
    (desk.root / "sub").rename(desk.root / "was")
    (desk.root / "sub").symlink_to(outside)
    for awaitable in (
        desk.workspace.put_back(place, b"x", over=b"now"),
        desk.workspace.put_back(place, b"x", over=None),
        desk.workspace.remove(place, over=b"now"),
    ):
        assert await code(awaitable) in {"ACCESS_DENIED", "CONFLICT"}
    (outside / "a").unlink()
    assert await code(desk.workspace.put_back(place, b"x", over=None)) == "ACCESS_DENIED"
    assert list(outside.iterdir()) == []
