"""The files that a workspace's server is started from (X-3)."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from codelaw.adapters.mcp.means import ServerFailure
from codelaw.adapters.mcp.pins import MOST, check, pins
from codelaw.adapters.mcp.servers import McpServers
from codelaw.domain.served import Program, ServerSpec
from tests.adapters.mcp.conftest import HERE, NOBODY, Told


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    (made / "tools").mkdir(parents=True)
    for name in ("tools/a.py", "tools/__main__.py", "run.sh", "b.js"):
        (made / name).write_text(name)
    (tmp_path / "outside.py").write_text("x")
    (made / "link.py").symlink_to(made / "tools" / "a.py")
    (made / "away.py").symlink_to(tmp_path / "outside.py")
    os.mkfifo(made / "pipe.py")
    return made


@pytest.mark.parametrize(
    ("words", "cwd", "found"),
    [
        (("node", "b.js", "--flag"), "", ["b.js"]),
        (("./run.sh", "tools", "pipe.py", "none.py", "x" * 5_000), "", ["run.sh"]),
        (("node", "--import=b.js", "/etc/passwd", "../outside.py", "away.py"), "", ["b.js"]),
        (("python", "-m", "tools"), "", ["tools/__main__.py"]),
        (("python", "-m", "tools.a"), "", ["tools/a.py"]),
        (("python", "a.py", "../b.js"), "tools", ["tools/a.py", "b.js"]),
        (("python", "link.py", "tools/a.py"), "", ["tools/a.py"]),
    ],
)
def test_the_files_of_the_folder_that_the_words_name(folder: Path, words: tuple[str, ...], cwd: str, found: list[str]):
    program = Program(words[0], words[1:], cwd=folder / cwd)
    assert [pin.shown for pin in pins(program, folder)] == found


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("LD_PRELOAD", "./b.js", ["b.js"]),
        ("NODE_OPTIONS", "--no-warnings --require=tools/a.py", ["tools/a.py"]),
        ("PATH", "/usr/bin:tools", ["tools/a.py"]),
    ],
)
def test_the_files_of_the_folder_that_its_variables_name(folder: Path, name: str, value: str, found: list[str]):
    program = Program("a.py", (), {name: value}, folder)
    assert [pin.shown for pin in pins(program, folder)] == found


def test_too_many_files_start_nothing(folder: Path):
    names = [f"{number}.py" for number in range(MOST + 1)]
    for name in names:
        (folder / name).write_text("")
    with pytest.raises(ServerFailure, match="too many"):
        pins(Program("x", tuple(names), cwd=folder), folder)


def test_a_file_that_is_another_or_gone_does_not_pass(folder: Path):
    program = Program("node", ("b.js",), cwd=folder)
    program = Program("node", ("b.js",), cwd=folder, pins=pins(program, folder))
    check(program)
    (folder / "b.js").write_text("other")
    with pytest.raises(ServerFailure, match=r"b\.js is not what you have let start any more\."):
        check(program)
    (folder / "b.js").unlink()
    with pytest.raises(ServerFailure):
        check(program)


async def test_a_server_that_ends_is_not_begun_anew_with_another_file(
    servers: McpServers, reported: Told, tmp_path: Path
) -> None:
    script = tmp_path / "hostile.py"
    script.write_text((HERE / "hostile.py").read_text("utf-8"))
    program = Program(sys.executable, (str(script), "ends at a call"), cwd=tmp_path)
    found = await asyncio.to_thread(pins, program, tmp_path)
    pinned = Program(sys.executable, program.args, cwd=tmp_path, pins=found)
    servers.begin([ServerSpec("bad", pinned, "test")])
    await reported.until("bad", "ready")
    script.write_text(script.read_text("utf-8") + "# as somebody has left it\n")
    with pytest.raises(Exception, match="ended before it answered"):
        await servers.call("bad", "tool", {}, NOBODY)
    assert (await reported.until("bad", "failed")).message == "hostile.py is not what you have let start any more."
