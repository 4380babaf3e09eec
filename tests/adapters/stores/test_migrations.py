from __future__ import annotations

import sqlite3

import pytest

from codelaw.adapters.stores.migrations import APPLICATION_ID, migrations, statements
from codelaw.adapters.stores.sqlite_chats import SqliteStore
from codelaw.domain.chats import StoredTurn, Todo
from codelaw.domain.events import AnswerDelta
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.domain.models import Usage
from codelaw.domain.permissions import Grant
from tests.adapters.stores.suite import a_chat, a_checkpoint

HALF = "half \ud800"


def make_version_1(path):
    """A file as the first release wrote it."""
    path.parent.mkdir(parents=True)
    number, name, script = migrations()[0]
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, at REAL NOT NULL)")
    for statement in statements(script):
        connection.execute(statement)
    connection.execute("INSERT INTO migrations VALUES (?, ?, 1.0)", (number, name))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 1")
    row = ("c1", "Title", "panel", "agent", "model", "layered", 100.0, 200.0, 2)
    todos = '[{"content":"a","status":"pending"}]'
    connection.execute("INSERT INTO chats VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, todos))
    usage = '{"input_tokens":5,"output_tokens":7}'
    connection.execute("INSERT INTO turns VALUES (1, 'c1', 't1', 'ended', 'o', 150.0, ?, 'finished')", (usage,))
    calls = '{"step":1,"calls":[{"id":"k","tool":"Read","arguments":{"path":"a"}}]}'
    for place, (id_, role, content, metadata) in enumerate(
        [
            ("m1", "user", "hello", "{}"),
            ("m2", "assistant", HALF.encode("utf-8", "surrogatepass"), calls),
            ("m3", "tool", '{"status":"success"}', '{"call_id":"k","ref":"r1"}'),
        ]
    ):
        row = (place + 1, "c1", id_, "t1", role, content, metadata)
        connection.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    connection.execute("INSERT INTO results VALUES ('c1', 'r1', '{\"data\":{}}')")
    connection.execute('INSERT INTO events VALUES (\'c1\', 2, \'t1\', 1.5, \'{"delta":"a","step":1,"kind":"answer"}\')')
    connection.execute("INSERT INTO notices VALUES ('c1', 'law_large')")
    connection.execute("INSERT INTO grants VALUES (1, 'g1', 'Bash(ls)', 'always')")
    connection.close()


@pytest.fixture
def old(path):
    make_version_1(path)
    return path


async def test_a_database_of_the_first_release_keeps_everything(old, open_store):
    store = await open_store()
    loaded = await store.load("c1")
    assert loaded.chat == a_chat(updated_at=200.0, turns=1, chosen=True)
    assert loaded.messages == (
        Message("m1", "t1", "user", "hello"),
        Message("m2", "t1", "assistant", HALF, Metadata(step=1, calls=(Call("k", "Read", {"path": "a"}),))),
        Message("m3", "t1", "tool", '{"status":"success"}', Metadata(call_id="k", ref="r1")),
    )
    assert loaded.turns == (StoredTurn("t1", "c1", "ended", "o", 150.0, Usage(5, 0, 0, 7), "finished"),)
    assert (loaded.todos, loaded.notices) == ((Todo("a", "pending"),), {"law_large"})
    assert (loaded.checkpoints, loaded.demotions, loaded.settled, loaded.losses) == ((), (), "", ())
    assert await store.result("c1", "r1") == {"data": {}}
    assert [(event.seq, event.event) for event in await store.events("c1", 0)] == [(2, AnswerDelta("a", 1))]
    assert await store.grants() == [Grant("g1", "Bash(ls)", "always")]


async def test_a_database_of_the_first_release_can_be_reshaped(old, open_store):
    store = await open_store()
    assert await store.reshape("c1", 0, a_checkpoint(), settled="t1") == 1
    assert await store.restore("c1", 1, ["k1"], "t1") == 2
    assert (await (await open_store()).chat("c1")).generation == 2


async def test_a_migration_that_breaks_off_leaves_the_old_schema(old, path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE demotions (in_the_way)")  # so that the second half of the step fails
    connection.commit()
    with pytest.raises(sqlite3.OperationalError, match="demotions already exists"):
        await SqliteStore.open(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'checkpoints'").fetchone() == (0,)
    assert "generation" not in {row[1] for row in connection.execute("PRAGMA table_info(chats)")}
    connection.close()


async def test_an_old_chat_that_was_answered_offline_has_not_left_this_machine(old, open_store):
    connection = sqlite3.connect(old)
    columns = "id, title, kind, mode, model, strategy, created_at, updated_at"
    for id_, model in (("here", "offline"), ("empty", "offline"), ("away", "claude")):
        values = f"'{id_}', '', 'panel', 'agent', '{model}', 'layered', 1.0, 1.0"
        connection.execute(f"INSERT INTO chats ({columns}) VALUES ({values})")
        if id_ != "empty":
            columns_of_turns = "chat_id, id, status, owner, started_at, last_usage, stop_reason"
            turn = f"'{id_}', 't', 'ended', 'o', 1.0, NULL, 'finished'"
            connection.execute(f"INSERT INTO turns ({columns_of_turns}) VALUES ({turn})")
    connection.commit()
    connection.close()
    store = await open_store()
    found = {id_: await store.chat(id_) for id_ in ("here", "empty", "away")}
    assert {id_: (chat.chosen, chat.places) for id_, chat in found.items()} == {
        "here": (False, ("offline",)),
        "empty": (False, ()),
        "away": (True, ()),
    }
