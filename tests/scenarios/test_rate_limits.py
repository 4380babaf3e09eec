"""A turn waits where its vendor says that the rate limit is used up, before it is refused (P-1)."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.scenarios.conftest import Start, act, finish


async def test_a_turn_waits_visibly_and_goes_on(vendor: LoopbackVendor, root: Path, start: Start) -> None:
    reset = datetime.fromtimestamp(time.time() + 60, UTC).isoformat()
    limit = {"limit": "30", "remaining": "0", "reset": reset}
    headers = {f"anthropic-ratelimit-requests-{name}": value for name, value in limit.items()}
    (root / "a.py").write_text("x = 1\n")
    async with start() as client:
        vendor.play(VendorReply(text=act("Read", '{"path": "a.py"}'), headers=headers), VendorReply(text=finish("1")))
        result = await client.request("codelaw/chat/send", {"text": "What is x?"})
        assert (result["stopReason"], result["answer"]) == ("finished", "1")
        events = [sent["event"] for sent in client.events()]
        waits = [event for event in events if event["kind"] == "retry"]
    assert len(waits) == 1
    assert 0 < waits[0]["inSeconds"] <= 2.5
    assert "rate limit" in waits[0]["reason"]
    assert len(vendor.steps) == 2
    assert {request.status for request in vendor.steps} == {200}
