"""The whole server on a team's PostgreSQL: a turn, a restart, and the chat goes on (D-3)."""

from __future__ import annotations

import json
from pathlib import Path

from tests.fakes.postgres import PASSWORD, Postgres
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.scenarios.conftest import Start, act, finish


async def test_a_chat_in_postgresql_goes_on_after_a_restart(
    start: Start, vendor: LoopbackVendor, root: Path, home: Path, postgres_url: str
):
    (root / "a.txt").write_text("MARK 😀\n")
    steps = [act("Read", '{"path": "a.txt"}'), finish("It says MARK."), finish("Still MARK.")]
    vendor.script = [VendorReply(text=text) for text in steps]
    options = {"store": {"url": postgres_url}}
    async with start(options=options) as client:
        first = await client.request("codelaw/chat/send", {"text": "What is in \0 a.txt?"})
        assert first["answer"] == "It says MARK."
        chat_id = first["chatId"]
    assert list(home.glob("*.db*")) == [], "nothing lies in a file"
    async with start(options=options) as client, start(options=options) as colleague:
        for each in (client, colleague):
            listed = await each.request("codelaw/chat/list", {"query": "A.TXT"})
            assert [chat["id"] for chat in listed["chats"]] == [chat_id]
        second = await client.request("codelaw/chat/send", {"chatId": chat_id, "text": "And now?"})
        assert second["answer"] == "Still MARK."
        assert "It says MARK." in json.dumps(vendor.messages[-1].json), "it goes on from what was said"
        read = await colleague.request("codelaw/chat/read", {"chatId": chat_id})
        assert "Still MARK." in json.dumps(read), "who works beside sees what was written meanwhile"
        assert "What is in \\u0000 a.txt?" in json.dumps(read)
        assert PASSWORD not in json.dumps(client.messages + colleague.messages)


async def test_a_team_store_that_is_not_there_refuses_chats_and_the_server_lives(start: Start, postgres: Postgres):
    url = postgres.url("not_there")
    async with start(options={"store": {"url": url}}) as client:
        for _ in range(2):
            error = await client.error("codelaw/chat/send", {"text": "hello"})
            assert error.data["code"] == "store_unavailable"
            assert "no such database" in str(error.message)
            assert PASSWORD not in json.dumps(client.messages)
