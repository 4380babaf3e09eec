"""Folders made to hang or fill the server (S-6)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codelaw.adapters.workspace.ignore import (
    MAX_BYTES,
    MAX_PATTERNS,
    MAX_POINTER,
    IgnoreTree,
    oversized,
)
from codelaw.domain.safety.globs import MAX_ALTERNATIVES
from tests.fakes.desk import Desk

STARS = "*a" * 25 + "b"
LONG = "a" * 200
"""With a backtracking matcher these two would keep the server busy for longer than anyone lives."""


@pytest.mark.parametrize("pattern", [STARS, f"**/{STARS}", "**/" * 20 + "x/y", "*" + "/**/*" * 12 + "/y"])
async def test_a_glob_with_many_stars_ends(desk: Desk, pattern: str):
    desk.put("/".join(["d"] * 40) + f"/{LONG}", "x")
    found = await desk("Glob", pattern=pattern)
    assert found.data["total"] == 0
    assert (await desk("Grep", pattern="x", glob=pattern)).data["total"] == 0


async def test_braces_have_an_end(desk: Desk):
    refused = await desk("Glob", pattern="{a,b}" * 30)
    assert refused.error is not None
    assert (refused.error.code, str(MAX_ALTERNATIVES) in refused.error.message) == ("INVALID_PARAM", True)


@pytest.mark.parametrize(
    "pointer",
    [b"gitdir: a\0b", b"gitdir: loop", b"gitdir: .", b"\xff\xfe", b"gitdir: " + b"x" * (MAX_POINTER + 1), b""],
)
async def test_a_strange_git_file_is_no_repository_with_rules(desk: Desk, pointer: bytes):
    desk.put("sub/.git", pointer)
    desk.put("sub/commondir", b"\xff\xfe\0")
    (desk.root / "sub/loop").symlink_to("loop")
    assert (await desk("LS", path="sub")).data["entries"] == ["commondir", "loop@"]


@pytest.mark.parametrize("name", [".git", ".gitignore"])
def test_an_endless_git_file_is_not_read(tmp_path: Path, name: str):
    (tmp_path / name).symlink_to("/dev/zero")
    below = tmp_path / "below"
    below.mkdir()
    os.mkfifo(below / name)
    for folder in (tmp_path, below):
        assert IgnoreTree(folder).level(str(folder)).rules is None


async def test_an_edit_beside_undecodable_bytes_does_not_compare_every_line_with_every_other(desk: Desk):
    desk.put("a", b"\xff\n" + b"same\n" * 30_000 + b"end\n" + b"same\n" * 30_000)
    await desk("Read", path="a", limit=1)
    assert (await desk("Edit", path="a", old_string="end", new_string="fin")).status == "success"
    content = (desk.root / "a").read_bytes()
    assert content.startswith(b"\xff\nsame\n")
    assert b"\nfin\n" in content


async def test_replacements_have_an_end(desk: Desk):
    desk.put("a", "x" * 60_000)
    await desk("Read", path="a")
    refused = await desk("Edit", path="a", old_string="x", new_string="y", replace_all=True)
    assert refused.error is not None
    assert "more than 50000 times" in refused.error.message


def test_what_does_not_count_of_an_ignore_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / ".gitignore"
    assert oversized(tmp_path) is None
    file.write_text("*.log\n")
    assert oversized(tmp_path) is None
    file.write_text("a\n" * (MAX_PATTERNS + 1))
    assert str(MAX_PATTERNS) in (oversized(tmp_path) or "")
    file.write_text("#" * (MAX_BYTES + 1))
    assert str(MAX_BYTES) in (oversized(tmp_path) or "")
    file.unlink()
    os.mkfifo(file)
    assert oversized(tmp_path) is None


@pytest.mark.parametrize("kind", ["pipe", "device"])
async def test_a_search_comes_to_an_end_where_an_ignore_file_has_none(
    desk: Desk, kind: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("codelaw.tools.reading.listing.GREP_SECONDS", 10.0 if kind == "pipe" else 60.0)
    desk.put("a.txt", "needle\n")
    if kind == "pipe":
        os.mkfifo(desk.root / ".gitignore")
    else:
        (desk.root / ".gitignore").symlink_to("/dev/zero")
    assert (await desk("Grep", pattern="needle")).data["total"] == 1


async def test_a_huge_ignore_file_is_not_read_and_of_a_large_one_the_first_patterns_count(desk: Desk):
    """Each pattern is an expression of its own: of 900 kB of them each turn would take half a minute."""
    desk.put("sub/a.txt", "x")
    for text in (f"*.txt\n{'#' * MAX_BYTES}\n", "d\n" * MAX_PATTERNS + "*.txt\n"):
        desk.put("sub/.gitignore", text)
        assert (await desk("LS", path="sub")).data["entries"] == ["a.txt"]
    desk.put("sub/.gitignore", "*.txt\n" + "d\n" * MAX_PATTERNS)
    assert (await desk("LS", path="sub")).data["entries"] == []
