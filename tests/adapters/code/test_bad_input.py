"""What lies in real folders beside code: the index takes what it can, and says what it left out (X-5, S-6)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from codelaw.adapters.code.index import WorkspaceIndex
from codelaw.adapters.code.kept import IndexFile
from tests.breakers.test_full_disks import fill, small
from tests.fakes.desk import Desk

SOURCE = Path(__file__).parents[3] / "server"


def source(name: str) -> str:
    return f"def {name}(basket):\n    return basket\n"


async def files(index: WorkspaceIndex, desk: Desk, query: str) -> list[str]:
    found = await index.search(desk.workspace, query, kind="definition")
    return sorted(place.path for place in found.places if place.symbol == query)


async def test_links_pipes_and_sockets_are_left_alone(index: WorkspaceIndex, desk: Desk, tmp_path: Path) -> None:
    desk.put("a/b.py", source("wanted"))
    (tmp_path / "outside.py").write_text(source("wanted"))
    (desk.root / "a/up").symlink_to("..")
    (desk.root / "self").symlink_to("self")
    (desk.root / "out.py").symlink_to(tmp_path / "outside.py")
    (desk.root / "dead.py").symlink_to("nowhere")
    os.mkfifo(desk.root / "pipe.py")
    assert await files(index, desk, "wanted") == ["a/b.py"]
    assert index.state().files == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems know no such names")
async def test_names_that_are_no_text_are_indexed_and_kept(tmp_path: Path, desk: Desk) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    desk.put(name, source("in_cafe"))
    desk.put("two\nlines.py", source("in_lines"))
    for _ in range(2):  # another server finds what was kept
        index = WorkspaceIndex(tmp_path / "kept")
        assert await files(index, desk, "in_cafe") == [name]
        assert await files(index, desk, "in_lines") == ["two\nlines.py"]
        assert index.state().status == "ready"
        await index.close()


async def test_a_stopped_search_loses_no_change(index: WorkspaceIndex, desk: Desk) -> None:
    """What was seen to have changed is still to be read when whoever asked has gone."""
    for number in range(300):
        desk.put(f"file{number}.py", source(f"made_{number}"))
    assert await files(index, desk, "made_1") == ["file1.py"]
    for number in range(300):
        desk.put(f"file{number}.py", source(f"new_{number}"))
    searching = asyncio.create_task(index.search(desk.workspace, "new_1"))
    while not index.state().pending and not searching.done():
        await asyncio.sleep(0)
    for task in [*index._running]:
        task.cancel()
    searching.cancel()
    await asyncio.wait([searching])
    for number in (0, 7, 150, 299):
        assert await files(index, desk, f"new_{number}") == [f"file{number}.py"]
        assert await files(index, desk, f"made_{number}") == []


SEARCH = """
import asyncio, sys
from pathlib import Path
from codelaw.adapters.code.index import WorkspaceIndex
from tests.fakes.desk import folder, make_desk

async def main():
    index, desk = WorkspaceIndex(Path(sys.argv[2])), make_desk(folder(Path(sys.argv[1])))
    found = await index.search(desk.workspace, "made_7")
    print(found.places[0].path, found.state.status, found.state.files)
    await index.close()

asyncio.run(main())
"""


def searching(root: Path, kept: Path) -> subprocess.Popen[str]:
    path = os.pathsep.join(map(str, (SOURCE, SOURCE.parent)))
    command = [sys.executable, "-c", SEARCH, str(root), str(kept)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path})


def test_two_servers_that_index_at_once(desk: Desk, tmp_path: Path) -> None:
    for number in range(600):
        desk.put(f"file{number}.py", source(f"made_{number}"))
    both = [searching(desk.root, tmp_path / "kept") for _ in range(2)]
    assert [one.communicate()[0] for one in both] == ["file7.py ready 600\n"] * 2
    (file,) = (tmp_path / "kept").glob("*.db")
    kept = IndexFile(tmp_path / "kept", [desk.root])
    assert (kept.path, len(kept.load())) == (file, 600)


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[Path]:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root mounts a small file system")
    with small(tmp_path / "narrow", "256k"):
        yield tmp_path / "narrow"


async def test_a_disk_that_fills_up_and_has_room_again(narrow: Path, desk: Desk) -> None:
    index = WorkspaceIndex(narrow / "kept")
    for number in range(1_200):
        desk.put(f"file{number}.py", source(f"made_{number}"))
    assert await files(index, desk, "made_7") == ["file7.py"]
    assert (index.state().status, index.state().files) == ("memory", 1_200)
    filler = fill(narrow)
    desk.put("file7.py", source("changed"))
    assert await files(index, desk, "changed") == ["file7.py"]
    filler.unlink()
    await index.close()
    other = WorkspaceIndex(narrow / "kept")  # what was kept is true as far as it goes
    assert await files(other, desk, "changed") == ["file7.py"]
    assert await files(other, desk, "made_8") == ["file8.py"]
    await other.close()
