"""A folder's law stands in the view after its server was killed, and in nothing that people are given (X-10)."""

from __future__ import annotations

import json
from pathlib import Path

from tests.agent.talking import blocks, said
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.scenarios.conftest import Start, act, finish

READ = act("Read", '{"path": "src/a.txt"}')


async def test_a_killed_server_leaves_it_in_the_view_and_tells_it_to_nobody(
    start: Start, vendor: LoopbackVendor, root: Path
):
    (root / "src").mkdir()
    (root / "src" / "AGENTS.md").write_text("- SRCMARK\n")
    (root / "src" / "a.txt").write_text("inside\n")
    vendor.script = [
        VendorReply(text=READ),
        VendorReply(text="Thought: " + "this and that, " * 20, broken="silence", silence=600),
    ]
    async with start() as client:
        await client.start("codelaw/chat/send", {"text": "go"})
        await client.event("thought", step=2)
        chat = client.events()[0]["chatId"]
        assert client.process is not None
        await client.process.kill()
    before = blocks(vendor.messages[-1].json)
    assert said(vendor.messages[-1].json).count("SRCMARK") == 1
    vendor.script = [VendorReply(text=READ), VendorReply(text=finish("ok"))]
    async with start() as client:
        await client.request("codelaw/chat/send", {"chatId": chat, "text": "go on"})
        assert blocks(vendor.messages[-1].json)[: len(before)] == before
        assert said(vendor.messages[-1].json).count("SRCMARK") == 1
        reported = [await client.request("codelaw/chat/read", {"chatId": chat})]
        for form in ("json", "markdown"):
            reported += [await client.request("codelaw/chat/export", {"chatId": chat, "format": form})]
        assert [json.dumps(one).count("SRCMARK") for one in reported] == [0, 0, 0]
