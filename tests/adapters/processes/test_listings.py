"""What lies in a folder is known without asking for each name, and never out of date (S-4)."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from codelaw.adapters.processes.rules.listings import YOUNG, Listings, Names

NAMES = Names(("a", "b/c", "b/d/e", "Lib/x"))


def old(folder: Path) -> None:
    """Wait until what is seen of a folder may be kept."""
    while time.time_ns() - folder.stat().st_ctime_ns < YOUNG:
        time.sleep(0.01)


def test_a_folder_that_has_changed_is_looked_at_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    listings = Listings()
    heads = frozenset({"a", "b"})
    old(tmp_path)
    assert listings.among(str(tmp_path), heads) == frozenset()
    scanned: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: scanned.append(path) or scandir(path))
    assert listings.among(str(tmp_path), heads) == frozenset()
    assert scanned == []
    (tmp_path / "a").touch()
    assert listings.among(str(tmp_path), heads) == {"a"}
    other = tmp_path / "a"
    other.rename(tmp_path / "b")
    assert listings.among(str(tmp_path), heads) == {"b"}
    os.utime(tmp_path, ns=(0, 0))
    (tmp_path / "b").unlink()
    os.utime(tmp_path, ns=(0, 0))
    assert listings.among(str(tmp_path), heads) == frozenset()
    assert len(scanned) == 3


def test_other_spellings_of_a_name_count_as_it_does_on_file_systems_that_fold_them(tmp_path: Path):
    (tmp_path / "A").touch()
    (tmp_path / "l\u200dib").touch()
    assert Listings().among(str(tmp_path), NAMES.heads) == {"a", "Lib"}


def test_where_nothing_can_be_listed_or_too_much_each_name_may_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("codelaw.adapters.processes.rules.listings._MOST_ENTRIES", 1)
    for name in ("x", "y"):
        (tmp_path / name).touch()
    assert Listings().among(str(tmp_path), NAMES.heads) == NAMES.heads
    assert Listings().among(f"{tmp_path}/missing", NAMES.heads) == frozenset()

    def refused(path: str) -> None:
        raise PermissionError(path)

    monkeypatch.setattr(os, "scandir", refused)
    assert Listings().among(str(tmp_path), NAMES.heads) == NAMES.heads
