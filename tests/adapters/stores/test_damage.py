"""Records that a disk, a crash or another program has damaged."""

from __future__ import annotations

import sqlite3

import pytest

from codelaw.adapters.stores.events import LOST
from codelaw.domain.chats import Todo
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.events import AnswerDelta, NoticeEvent
from codelaw.domain.messages import Call
from codelaw.domain.models import Usage
from codelaw.domain.permissions import Grant
from codelaw.transcript.repair.repairs import ALTERED, altered
from tests.adapters.stores.suite import a_chat, a_checkpoint, a_turn, said

TORN = b"\xff\xfe torn"
JUNK = ["", "{", '{"step":', "null", "[]", "7", '"text"', "[" * 100_000, b"\xff", '{"step":1}garbage']
CALLS = (Call("k", "Read", {"path": "a"}),)


@pytest.fixture
async def store(open_store):
    store = await open_store()
    await store.create(a_chat())
    await store.begin_turn(a_turn(store), said("m1"))
    await store.append("c1", [said("m2", "Thought: x", role="assistant", step=1, calls=CALLS)], [("r1", {"a": 1})])
    ended = a_turn(store, status="ended", last_usage=Usage(1, 2, 3, 4), stop_reason="finished")
    await store.end_turn(ended, [said("m3", role="assistant", step=2, answer="done")])
    await store.save_todos("c1", [Todo("a", "pending"), Todo("b", "completed")])
    await store.reshape("c1", 0, a_checkpoint("k1"), [Demotion("m1", "result"), Demotion("m2", "arguments")], "t1")
    await store.reshape("c1", 1, a_checkpoint("k2"))
    return store


@pytest.fixture
def spoil(store, path):
    """Changes the file behind the store's back."""

    def change(table, column, value, where="1"):
        connection = sqlite3.connect(path)
        changed = connection.execute(f"UPDATE {table} SET {column} = {value[0]} WHERE {where}", value[1:]).rowcount
        connection.commit()
        connection.close()
        assert changed

    return change


def raw(value):
    return ("?", value)


def torn_text():
    """A TEXT that is not UTF-8: what SQLite itself cannot hand over."""
    return ("CAST(? AS TEXT)", TORN)


@pytest.mark.parametrize(
    ("metadata", "kept"),
    [
        *((junk, {}) for junk in JUNK),
        ('{"step":"1","answer":"a"}', {"answer": "a"}),
        ('{"step":true,"ref":"r"}', {"ref": "r"}),
        ('{"step":1.5,"call_id":"k"}', {"call_id": "k"}),
        ('{"calls":[{"id":7,"tool":"Read","arguments":{}}],"step":1}', {"step": 1}),
        ('{"note":"gossip","step":1}', {"step": 1}),
        (f'{{"mtime":1{"0" * 400},"step":1}}', {"step": 1}),
    ],
    ids=lambda value: repr(value)[:12],
)
async def test_a_message_keeps_its_content_and_what_can_be_read_of_its_metadata(store, spoil, metadata, kept):
    whole = await store.load("c1")
    spoil("messages", "metadata", raw(metadata), "id = 'm2'")
    loaded = await store.load("c1")
    changed = altered(said("m2", "Thought: x", role="assistant", **kept))
    assert loaded.messages == (whole.messages[0], changed, whole.messages[2])
    assert len(loaded.losses) == 1


@pytest.mark.parametrize("value", [torn_text(), raw(TORN)], ids=["text", "blob"])
async def test_torn_content_is_kept_as_far_as_it_can_be_read(store, spoil, value):
    spoil("messages", "content", value, "id = 'm2'")
    loaded = await store.load("c1")
    assert loaded.messages[1] == altered(said("m2", "\ufffd\ufffd torn", role="assistant", step=1, calls=CALLS))
    assert len(loaded.losses) == 1
    assert [chat.id for chat in (await store.list("TORN", 9, None))[0]] == ["c1"]


BODY = '{"id":"k1","first_kept":"t2","at":1.0}'


@pytest.mark.parametrize(
    "case",
    [
        *(("messages", "role", value, "messages", ["m1", "m3"]) for value in (raw("wizard"), torn_text(), raw(7))),
        *(("checkpoints", "body", raw(junk), "checkpoints", ["k2"]) for junk in (*JUNK, BODY, '{"id":"k1"}')),
        *(("demotions", "part", value, "demotions", ["m2"]) for value in (raw("whole"), torn_text())),
        ("demotions", "message_id", raw(TORN), "demotions", ["m2"]),
        *(("chats", "todos", raw(junk), "todos", []) for junk in ("{", "{}", '["a"]')),
        ("chats", "todos", raw('[{"content":7},{"content":"b","status":"pending"}]'), "todos", ["b"]),
        *(("turns", "last_usage", raw(junk), "turns", [None]) for junk in (*JUNK[1:9], '{"input_tokens":"many"}')),
    ],
    ids=lambda case: f"{case[0]} {case[2][1]!r:.12}",
)
async def test_what_cannot_be_read_is_left_out_and_told(store, spoil, case):
    table, column, value, field, left = case
    spoil(table, column, value, "id = 'm2'" if table == "messages" else "rowid = 1")
    loaded = await store.load("c1")
    key = {"demotions": "message_id", "todos": "content", "turns": "last_usage"}.get(field, "id")
    assert [getattr(one, key) for one in getattr(loaded, field)] == left
    assert len(loaded.losses) == 1


@pytest.mark.parametrize("column", ["id", "turn_id"])
async def test_a_torn_id_fails_nothing(store, spoil, column):
    spoil("messages", column, torn_text(), "id = 'm2'")
    loaded = await store.load("c1")
    assert sorted(message.content for message in loaded.messages) == [ALTERED + "Thought: x", "hello", "hello"]
    assert loaded.losses


async def test_a_turn_of_unknown_state_does_not_run(store, spoil):
    for column in ("status", "stop_reason", "owner", "started_at"):
        spoil("turns", column, raw(TORN))
    (turn,) = (await store.load("c1")).turns
    assert (turn.status, turn.stop_reason, turn.started_at, turn.last_usage) == ("ended", None, 0.0, Usage(1, 2, 3, 4))
    await store.begin_turn(a_turn(store, "t2"), said("m9", turn="t2"))


async def test_a_damaged_chat_is_still_listed_and_may_do_the_least(store, spoil):
    await store.create(a_chat("c0", updated_at=1.0))
    for column in ("title", "mode", "strategy", "model", "kind", "created_at", "generation", "settled"):
        spoil("chats", column, torn_text() if column != "created_at" else raw("soon"), "id = 'c1'")
    chats, _ = await store.list(None, 9, None)
    assert [chat.id for chat in chats] == ["c1", "c0"]
    loaded = await store.load("c1")
    assert (loaded.chat.mode, loaded.chat.strategy, loaded.chat.created_at) == ("ask", "layered", 0.0)
    assert loaded.chat == chats[0] == await store.chat("c1")
    assert len(loaded.messages) == 3
    assert len(loaded.losses) == 2, "the chat, and what was settled"
    assert loaded.chat.generation == 0
    assert await store.reshape("c1", loaded.chat.generation, None) == loaded.chat.generation + 1


@pytest.mark.parametrize(
    "junk",
    [*JUNK, '{"kind":"rumour"}', '{"kind":["answer"]}', '{"kind":"answer","delta":1,"step":1}'],
    ids=lambda j: repr(j[:12]),
)
async def test_an_unreadable_event_is_missed_and_told_to_the_log(store, spoil, junk, caplog):
    notice = NoticeEvent("info", "c", "m")
    events = [AnswerDelta("a", 1), AnswerDelta("b", 1), notice, AnswerDelta("c", 1), AnswerDelta("d", 1)]
    await store.append_events("c1", "t1", [(1.0, event) for event in events])
    spoil("events", "body", raw(junk), "seq = 3")
    left = [(event.seq, event.event) for event in await store.events("c1", 0)]
    lost = NoticeEvent("warning", "record_damaged", LOST)
    assert left == [(seq, lost if seq == 3 else event) for seq, event in enumerate(events, 1)]
    assert "event 3 of chat c1 is damaged" in caplog.text
    assert (await store.load("c1")).losses == (), "events are not part of what a chat is rebuilt from"


@pytest.mark.parametrize("junk", JUNK[:9], ids=lambda junk: repr(junk[:12]))
async def test_an_unreadable_result_is_none(store, spoil, junk, caplog):
    spoil("results", "body", raw(junk))
    assert (await store.results("c1", ["r1"])).get("r1") is None
    await store.append("c1", [], [("r2", {"data": {"sound": True}})])
    assert await store.results("c1", ["r1", "r2"]) == {"r2": {"data": {"sound": True}}}
    assert "result r1 of chat c1 is damaged" in caplog.text


async def test_an_unreadable_permission_is_none(store, spoil):
    for id_ in ("g1", "g2", "g3"):
        await store.add_grant(Grant(id_, "Bash(ls)", "always"))
    spoil("grants", "rule", torn_text(), "id = 'g1'")
    spoil("grants", "scope", raw("everywhere"), "id = 'g2'")
    assert await store.grants() == [Grant("g3", "Bash(ls)", "always")]


async def test_reading_what_is_damaged_changes_nothing(store, spoil, path):
    await store.append_events("c1", "t1", [(1.0, AnswerDelta("a", 1))])
    for table, column in [
        ("messages", "metadata"),
        ("checkpoints", "body"),
        ("demotions", "part"),
        ("events", "body"),
        ("results", "body"),
        ("turns", "last_usage"),
        ("chats", "todos"),
    ]:
        spoil(table, column, raw("{"), f"rowid = (SELECT max(rowid) FROM {table})")
    before = dump(path)
    loaded = await store.load("c1")
    assert len(loaded.losses) == 5
    await store.list("x", 9, None)
    await store.events("c1", 0)
    (await store.results("c1", ["r1"])).get("r1")
    assert dump(path) == before


def dump(path):
    connection = sqlite3.connect(path)
    tables = [row[1] for row in connection.execute("PRAGMA main.table_list") if row[2] == "table"]
    connection.text_factory = bytes
    rows = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in tables}
    connection.close()
    return rows
