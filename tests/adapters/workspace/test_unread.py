"""What a rule denies is not opened by a search: nothing counts or times what it withholds (S-1)."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codelaw.adapters.workspace import search
from codelaw.permissions.policy import Denied
from codelaw.permissions.rules import parse
from codelaw.tools.base import run_tool
from tests.fakes.desk import Desk, folder, make_desk

IN_ACCESS, IN_OPEN = 0x1, 0x20


class Opened:
    """Tells which of the watched files were opened or read; by the kernel, so that nobody's child escapes it."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = self._libc.inotify_init1(os.O_NONBLOCK)
        self._names: dict[int, str] = {}

    def watch(self, path: Path) -> None:
        number = self._libc.inotify_add_watch(self._descriptor, bytes(path), IN_ACCESS | IN_OPEN)
        assert number > 0
        self._names[number] = path.name

    def take(self) -> set[str]:
        try:
            data = os.read(self._descriptor, 1 << 20)
        except BlockingIOError:
            return set()
        seen: set[str] = set()
        at = 0
        while at < len(data):
            number, _, _, length = struct.unpack_from("iIII", data, at)
            seen.add(self._names[number])
            at += 16 + length
        return seen

    def close(self) -> None:
        os.close(self._descriptor)


@pytest.fixture
def opened() -> Iterator[Opened]:
    watch = Opened()
    yield watch
    watch.close()


HIDDEN = Denied(tuple(map(parse, ("Read(*.env)", "Read(*].key)", "Read(**/secrets/**)"))))


@pytest.fixture(params=["rg", "python"])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    if request.param == "rg" and search.find_rg() is None:
        pytest.skip("rg is not on PATH")
    none: Callable[[], str | None] = lambda: None  # noqa: E731
    made = make_desk(folder(tmp_path / "work"), rg=None if request.param == "rg" else none)
    return replace(made, environment=replace(made.environment, workspace=made.workspace.without(HIDDEN)))


DENIED = [
    "x.env",
    "a b/x.env",
    "secrets/deep/key",
    "we*ird [1].key",
    "a{b,c}!#.env",
    "x/secrets/1",
    "x/secrets/2",
    "é.env",
]
OPEN = ["a.txt", "a b/x.txt", "x/other", "we-ird 1.keys", "abc.env.txt"]


async def grep(desk: Desk, **arguments: Any) -> Any:
    tool = desk.toolbox.get("Grep")
    assert tool is not None
    return await run_tool(tool, desk.toolbox.parse(tool, arguments), desk.environment)


@pytest.mark.parametrize("arguments", [{}, {"glob": "*"}, {"path": "x"}, {"glob": "*.env"}])
async def test_no_search_opens_what_is_denied(desk: Desk, opened: Opened, arguments: dict[str, str]) -> None:
    for name in (*DENIED, *OPEN):
        desk.put(name, "needle\n")
    for name in DENIED:
        opened.watch(desk.root / name)
    opened.watch(desk.root / "x/other")
    found = await grep(desk, pattern="needle", **arguments)
    assert found.error is None
    assert not [match for match in found.data["matches"] if HIDDEN.hides(match["file"])]
    expected = {name for name in OPEN if not arguments.get("path") or name.startswith("x/")}
    expected = set() if arguments.get("glob") == "*.env" else expected
    assert {match["file"] for match in found.data["matches"]} == expected
    assert opened.take() <= {"other"}


async def test_more_denied_files_than_can_be_named_are_not_opened_either(
    desk: Desk, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MOST_LEFT_OUT", 3)
    for number in range(5):
        desk.put(f"d{number}/a.env", "needle\n")
        desk.put(f"d{number}/a.txt", "needle\n")
        opened.watch(desk.root / f"d{number}/a.env")
    assert (await grep(desk, pattern="needle")).data["total"] == 5
    assert opened.take() == set()


async def test_a_file_of_keys_is_searched_only_by_its_path(desk: Desk) -> None:
    for name in ("prod.pem", "a/id_rsa", "a.txt", ".env"):
        desk.put(name, "needle\n")
    assert {match["file"] for match in (await grep(desk, pattern="needle")).data["matches"]} == {"a.txt"}
    by_glob = await grep(desk, pattern="needle", glob="**/.env")
    assert by_glob.data["matches"] == []
    assert "only as `path`" in by_glob.data["withheld"]
    assert [match["file"] for match in (await grep(desk, pattern="needle", path="prod.pem")).data["matches"]] == [
        "prod.pem"
    ]
