"""A write-ahead log that the disk has altered: SQLite leaves commits out without a word, codelaw says so (D-1)."""

from __future__ import annotations

import random
import shutil
import sys

import pytest

from codelaw.adapters.stores.opening import SqliteStore
from tests.adapters.stores.conftest import TURNS
from tests.adapters.stores.suite import a_chat

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")


def log_of(path):
    return path.with_name(f"{path.name}-wal")


def flip(path, at):
    data = bytearray(log_of(path).read_bytes())
    data[at] ^= 1 << (at % 8)
    log_of(path).write_bytes(data)


def zero_head(path):
    log_of(path).write_bytes(bytes(32) + log_of(path).read_bytes()[32:])


async def messages(store):
    try:
        return len((await store.load("c1")).messages)
    finally:
        await store.close()


async def test_a_log_that_is_whole_is_played_and_nothing_is_said(killed, open_store):
    store = await open_store()
    assert store.notices == ()
    assert await messages(store) == TURNS


@pytest.mark.parametrize("seed", range(3))
async def test_a_flipped_byte_in_the_log_is_told_of_once_and_the_log_is_kept(killed, open_store, seed):
    chance = random.Random(seed)
    before = log_of(killed).read_bytes()
    flip(killed, chance.randrange(len(before) * 6 // 10, len(before) - 4200))
    altered = log_of(killed).read_bytes()
    store = await open_store()
    reported = [notice.code for notice in store.notices]
    found = await messages(store)
    assert found <= TURNS  # the last thing stored may be another
    assert reported == ["store_damaged"]
    kept = list(killed.parent.glob(f"{killed.name}.damaged-*"))
    assert [file.read_bytes() for file in kept] == [altered]
    assert kept[0].stat().st_mode & 0o777 == 0o600
    again = await open_store()
    assert again.notices == ()
    assert await messages(again) == found


@pytest.mark.parametrize("at", [1, 17, 22, 26, None])
async def test_an_altered_head_of_the_log_is_told_of(killed, open_store, at):
    zero_head(killed) if at is None else flip(killed, at)
    store = await open_store()
    assert [notice.code for notice in store.notices] == ["store_damaged"]
    await store.close()


async def test_frames_of_an_earlier_run_of_the_log_are_no_loss(killed, open_store):
    """A log that is begun anew keeps what lay in it behind its new frames."""
    store = await open_store()
    for number in range(3):
        await store.database.run(lambda session: session.execute("PRAGMA wal_checkpoint(RESTART)").fetchone())
        await store.create(a_chat(f"another {number}"))
    size = log_of(killed).stat().st_size
    for name in (killed, log_of(killed)):
        shutil.copyfile(name, name.with_name(f"copy-{name.name}"))
    await store.close()
    copied = await SqliteStore.open(killed.with_name(f"copy-{killed.name}"))
    assert size > 100_000, "the log has frames of earlier runs"
    assert copied.notices == ()
    assert {chat.id for chat in (await copied.list(None, 10, None))[0]} == {"c1", "another 0", "another 1", "another 2"}
    await copied.close()
