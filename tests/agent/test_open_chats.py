"""Chats that nobody uses give their memory back (S-6)."""

from __future__ import annotations

import gc

from codelaw.agent.chat.chat import AgentChat
from codelaw.app import chats
from tests.agent.conftest import Bench


async def test_chats_that_are_not_used_leave_memory_and_know_what_they_had_read(bench: Bench):
    (bench.root / "a.txt").write_text("one\n")
    bench.vendor.reset([bench.act("Read", {"path": "a.txt"}), bench.finish("read")])
    first = (await bench.turn("read it")).chat_id
    held = await bench.session._chats.get(first)
    many = [(await bench.session.create()).id for _ in range(chats.KEPT * 4)]
    for chat_id in many:
        await bench.session.read(chat_id)
    assert await bench.session._chats.get(first) is held, "whoever works with a chat shares it with everybody"
    del held
    for chat_id in many:
        await bench.session.read(chat_id)
    gc.collect()
    alive = [
        one
        for one in gc.get_objects()
        if isinstance(one, AgentChat) and one.house.store is bench.session._chats._stores.chats
    ]
    assert len(alive) <= chats.KEPT + 1
    assert len(bench.session._chats._locks) <= chats.KEPT + 1
    edit = {"path": "a.txt", "old_string": "one", "new_string": "two"}
    bench.vendor.reset([bench.act("Edit", edit), bench.finish("done")])
    await bench.turn("edit it", first)
    assert (bench.root / "a.txt").read_text() == "two\n", "it had read the file before"
