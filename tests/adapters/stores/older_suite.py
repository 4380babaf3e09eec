"""An earlier codelaw that has a store open while a newer one uses it; a test module subclasses it (D-4)."""

from __future__ import annotations

import json
from dataclasses import replace

from codelaw.domain.chats import Todo
from codelaw.domain.checkpoints import ThreadSummary
from codelaw.domain.events import NoticeEvent
from codelaw.domain.permissions import Grant
from tests.adapters.stores.forks_suite import with_turns
from tests.adapters.stores.suite import said

EARLIER = (
    "UPDATE chats SET title = 'Another', mode = 'plan', updated_at = 900 WHERE id = 'c1'",
    "UPDATE chats SET todos = '[]' WHERE id = 'c1'",
    (
        "INSERT INTO results (chat_id, ref, body) VALUES ('c1', 'r9', '{\"a\": 2}')"
        " ON CONFLICT (chat_id, ref) DO UPDATE SET body = excluded.body"
    ),
    "UPDATE grants SET rule = 'Bash(make)' WHERE id = 'g1'",
)
"""As schema 11 was written."""


class OlderSuite:
    async def test_what_it_writes_is_not_taken_for_damaged(self, open_store):
        store = await with_turns(await open_store())
        await store.append("c1", [said("m9", turn="t9")], [("r9", {"a": 1})])
        await store.save_todos("c1", (Todo("look", "pending"),))
        await store.save_thread_summary("c1", 0, ThreadSummary("first", "t1", 1.0))
        await store.append_events("c1", "t1", [(1.0, NoticeEvent("info", "one", "first"))])
        await store.add_grant(Grant("g1", "Bash(ls)", "always"))
        [event] = [one for one in await store.events("c1", 0) if isinstance(one.event, NoticeEvent)]

        def earlier(session):
            for statement in EARLIER:
                session.execute(statement)
            for table, where in (("thread_summaries", "chat_id = 'c1'"), ("events", f"seq = {event.seq}")):
                [(body,)] = session.execute(f"SELECT body FROM {table} WHERE {where}").fetchall()
                body = json.dumps(json.loads(body)).replace("first", "second")
                session.execute(f"UPDATE {table} SET body = ? WHERE {where}", (body,))

        await store.database.write(earlier, ("c1", "grants"))
        loaded = await store.load("c1")
        assert loaded.losses == ()
        assert (loaded.chat.title, loaded.chat.mode, loaded.todos) == ("Another", "plan", ())
        assert loaded.thread_summary == ThreadSummary("second", "t1", 1.0)
        assert await store.result("c1", "r9") == {"a": 2}
        assert [one.rule for one in await store.grants()] == ["Bash(make)"]
        [told] = [one.event for one in await store.events("c1", 0) if isinstance(one.event, NoticeEvent)]
        assert told == replace(event.event, message="second")
