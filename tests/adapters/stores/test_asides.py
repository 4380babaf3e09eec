"""Asides in SQLite (L-3)."""

from __future__ import annotations

import sqlite3

import pytest

from tests.adapters.stores.asides_suite import NESTED, PROFILE, AsidesSuite
from tests.adapters.stores.forks_suite import with_turns


class TestAsides(AsidesSuite):
    pass


@pytest.mark.parametrize("change", ["body = 'altered'", "about = 'three'", "name = x'ff00fe'", "message_id = 'q9'"])
async def test_a_damaged_one_is_shown_no_more_and_told(open_store, path, change):
    store = await with_turns(await open_store())
    await store.append("c1", (), asides=(PROFILE, NESTED))
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE asides SET {change} WHERE message_id = 'q1'")
    connection.commit()
    connection.close()
    loaded = await store.load("c1")
    assert loaded.asides == (NESTED,)
    assert len(loaded.losses) == 1
