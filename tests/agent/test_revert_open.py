"""Undoing what commands did to files that are open in an editor which has not followed them (E-2, F-1)."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from codelaw.domain.edits import RevertReport
from tests.agent.conftest import Bench
from tests.agent.test_revert import edit, kept_by_command, played

OLD = "one\r\ntwo\r\n"


@pytest.fixture(params=["changed", "removed"])
async def commanded(bench: Bench, request: pytest.FixtureRequest) -> tuple[Path, str, str]:
    """A file that a command has changed or removed, its chat and turn."""
    place = bench.root / "a.txt"
    place.write_bytes(OLD.encode())
    place.chmod(0o640)

    def command() -> None:
        if request.param == "changed":
            place.write_bytes(b"all new\r\n")
        else:
            place.unlink()

    return place, *await kept_by_command(bench, command)


async def test_a_document_that_still_shows_the_old_text_gets_its_file_back(bench: Bench, commanded):
    place, chat, turn = commanded
    bench.buffers.put(place, OLD.replace("\r\n", "\n"))
    assert await bench.session.revert(chat, turn) == RevertReport((place.as_uri(),))
    assert place.read_bytes() == OLD.encode()
    assert place.stat().st_mode & 0o777 == 0o640


async def test_a_document_in_which_somebody_typed_is_left_alone(bench: Bench, commanded):
    place, chat, turn = commanded
    bench.buffers.put(place, "typed\none\ntwo\n")
    content = place.read_bytes() if place.exists() else None
    report = await bench.session.revert(chat, turn)
    if content is None:  # the file comes back below the document, which keeps what was typed
        assert (report.reverted, place.read_bytes()) == ((place.as_uri(),), OLD.encode())
        return
    assert [conflict.uri for conflict in report.conflicts] == [place.as_uri()]
    assert place.read_bytes() == content
    bench.buffers.close(place)
    assert (await bench.session.revert(chat, turn)).reverted == (place.as_uri(),)
    assert place.read_bytes() == OLD.encode()


async def test_a_file_whose_changes_are_damaged_in_the_store_is_left_alone(bench: Bench):
    for name in ("a.txt", "b.txt"):
        (bench.root / name).write_text("one\ntwo\nthree\n")
    chat, turn = await played(bench, *edit("a.txt", "one", "1"), *edit("b.txt", "one", "1"), *edit("a.txt", "two", "2"))
    connection = sqlite3.connect(bench.home / "codelaw.db")
    connection.execute("UPDATE changes SET before_text = x'00' WHERE number = (SELECT min(number) FROM changes)")
    connection.commit()
    connection.close()
    report = await bench.session.revert(chat, turn)
    assert report.reverted == ((bench.root / "b.txt").as_uri(),)
    assert [one.reason for one in report.conflicts] == ["a.txt cannot be undone: what was kept of it is damaged."]
    assert (bench.root / "a.txt").read_text() == "1\n2\nthree\n"


async def test_bytes_are_not_put_behind_an_open_document(bench: Bench):
    place = bench.root / "a.bin"
    place.write_bytes(b"a\0b")
    chat, turn = await kept_by_command(bench, lambda: place.write_bytes(b"text now\n"))
    bench.buffers.put(place, "text now\n")
    (conflict,) = (await bench.session.revert(chat, turn)).conflicts
    assert conflict.reason == "a.bin is open in the editor and was no text: close it and try again."
    bench.buffers.close(place)
    assert (await bench.session.revert(chat, turn)).conflicts == ()
    assert place.read_bytes() == b"a\0b"
