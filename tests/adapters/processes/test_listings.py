"""What lies in a folder is known without asking for each name, and never out of date (S-4)."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from codelaw.adapters.processes.rules.listings import YOUNG, Listings, among

NAMES = frozenset({"a", "b", "Lib"})


def test_a_folder_that_has_changed_is_looked_at_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    listings = Listings()
    while time.time_ns() - tmp_path.stat().st_ctime_ns < YOUNG:  # until what is seen of it may be kept
        time.sleep(0.01)
    assert among(listings, str(tmp_path), NAMES) == frozenset()
    scanned: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: scanned.append(path) or scandir(path))
    assert among(listings, str(tmp_path), NAMES) == frozenset()
    assert scanned == []
    (tmp_path / "a").touch()
    assert among(listings, str(tmp_path), NAMES) == {"a"}
    (tmp_path / "a").unlink()
    os.utime(tmp_path, ns=(0, 0))
    assert among(listings, str(tmp_path), NAMES) == frozenset()
    assert len(scanned) == 2


def test_other_spellings_of_a_name_count_as_it_does_on_file_systems_that_fold_them(tmp_path: Path):
    (tmp_path / "A").touch()
    (tmp_path / "l\u200dib").touch()
    assert among(Listings(), str(tmp_path), NAMES) == {"a", "Lib"}


def test_where_nothing_can_be_listed_or_too_much_each_name_may_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("codelaw.adapters.processes.rules.listings._MOST_ENTRIES", 1)
    for name in ("x", "y"):
        (tmp_path / name).touch()
    assert among(Listings(), str(tmp_path), NAMES) == NAMES
    assert among(Listings(), f"{tmp_path}/missing", NAMES) == frozenset()

    def refused(path: str) -> None:
        raise PermissionError(path)

    monkeypatch.setattr(os, "scandir", refused)
    assert among(Listings(), str(tmp_path), NAMES) == NAMES
