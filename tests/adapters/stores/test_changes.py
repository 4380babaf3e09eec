"""What turns did to files, in SQLite (E-2)."""

from __future__ import annotations

import sqlite3

import pytest

from codelaw.domain.edits import DAMAGED
from tests.adapters.stores.changes_suite import CHANGE, ChangesSuite, with_turn


class TestChanges(ChangesSuite):
    pass


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("before_text", b"torn"),
        ("before_text", "a text"),
        ("after_text", b""),
        ("after_text", bytes.fromhex("789c0b")),
        ("state", "lost"),
        ("path", b"\xff\xfe"),
        ("encoding", 7),
        ("mode", "rwx"),
    ],
)
async def test_a_damaged_change_says_so(open_store, path, column, value):
    store = await with_turn(await open_store())
    numbers = [await store.plan_change("c1", CHANGE) for _ in range(2)]
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE changes SET {column} = ? WHERE number = ?", (value, numbers[0]))
    connection.commit()
    connection.close()
    damaged, whole = await store.changes("c1", "t1")
    assert (damaged.number, damaged.encoding, damaged.before, damaged.state) == (numbers[0], DAMAGED, None, "done")
    assert whole.number == numbers[1]
    assert whole.before == CHANGE.before
