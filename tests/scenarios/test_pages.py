"""A chat read page by page, and a word to a running turn, through the real server."""

from __future__ import annotations

from typing import Any

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.scenarios.conftest import Start, finish

READ = "codelaw/chat/read"
SEND = "codelaw/chat/send"


async def test_a_client_reads_the_newest_turns_and_then_the_earlier_ones(start: Start, vendor: LoopbackVendor):
    vendor.script = [VendorReply(text=finish(f"answer {number}")) for number in range(5)]
    async with start() as client:
        chat_id = None
        for number in range(5):
            params = {"text": f"question {number}", **({"chatId": chat_id} if chat_id else {})}
            chat_id = (await client.request(SEND, params))["chatId"]
        whole = await client.request(READ, {"chatId": chat_id})
        assert whole["earlier"] is False
        pages: list[dict[str, Any]] = [await client.request(READ, {"chatId": chat_id, "turns": 2})]
        assert [message["content"] for message in pages[0]["messages"] if message["role"] == "user"] == [
            "question 3",
            "question 4",
        ]
        while pages[0]["earlier"]:
            before = pages[0]["messages"][0]["turnId"]
            pages.insert(
                0, await client.command("codelaw.chat.read", {"chatId": chat_id, "turns": 2, "beforeTurn": before})
            )
        assert [len({message["turnId"] for message in page["messages"]}) for page in pages] == [1, 2, 2]
        assert [message for page in pages for message in page["messages"]] == whole["messages"]
        assert [event for page in pages for event in page["events"]] == whole["events"]
        assert all(page["chat"] == whole["chat"] for page in pages)

        missed = await client.request(READ, {"chatId": chat_id, "sinceSeq": whole["events"][-3]["seq"], "limit": 0})
        assert (missed["messages"], missed["events"]) == ([], whole["events"][-2:])
        first = whole["messages"][0]["turnId"]
        nothing = await client.request(READ, {"chatId": chat_id, "beforeTurn": first})
        assert (nothing["messages"], nothing["events"], nothing["earlier"]) == ([], [], False)
        refused = await client.error(READ, {"chatId": chat_id, "turns": 1, "beforeTurn": "never was"})
        assert (refused.code, refused.data["code"]) == (-32803, "turn_not_found")
        for wrong, path in (
            ({"turns": 0}, "turns"),
            ({"turns": 1001}, "turns"),
            ({"turns": 1, "sinceSeq": 3}, "turns"),
            ({"beforeTurn": first, "limit": 3}, "beforeTurn"),
        ):
            error = await client.error(READ, {"chatId": chat_id, **wrong})
            assert (error.code, [problem["path"] for problem in error.data["errors"]]) == (-32602, [path])
