"""What a command prints is seen while it runs, and is nowhere kept but in its result (wire.md, S-5)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.scenarios.conftest import Start, act, finish

COMMAND = (
    "printf 'one\\nsk-test-'; echo problem >&2; i=0; while [ ! -e go ] && [ $i -lt 600 ]; do sleep 0.05; i=$((i+1)); "
    "done; printf 'SECRET\\ntwo\\n'"
)


async def test_output_comes_while_the_command_runs(start: Start, vendor: LoopbackVendor, root: Path):
    vendor.play(VendorReply(text=act("Bash", json.dumps({"command": COMMAND}))), VendorReply(text=finish("done")))
    async with start({"experimental": {"codelaw": {"events": {}, "approvals": {}}}}) as client:
        client.answers["codelaw/approval/request"] = lambda params: {"optionId": params["options"][0]["id"]}
        turn = asyncio.ensure_future(client.request("codelaw/chat/send", {"text": "go"}))
        running = await client.event("tool_call", status="running")
        first = await client.event("tool_output", stream="stdout")
        assert first["event"]["delta"] == "one\n", "the beginning of a key that goes on is held back"
        problem = await client.event("tool_output", stream="stderr")
        assert problem["event"]["delta"] == "problem\n"
        assert {first["seq"], problem["seq"]} == {running["seq"]}, "it has no number of its own"
        assert first["event"]["callId"] == running["event"]["callId"]
        (root / "go").touch()
        result = await turn
        reported = [event for event in client.events() if event["event"]["kind"] == "tool_output"]
        out = "".join(event["event"]["delta"] for event in reported if event["event"]["stream"] == "stdout")
        assert out.startswith("one\n[redacted: ")
        assert out.endswith("two\n")
        assert "SECRET" not in out
        kinds = [event["event"]["kind"] for event in client.events()]
        ended = next(
            place for place, event in enumerate(client.events()) if event["event"].get("status") == "completed"
        )
        assert "tool_output" not in kinds[ended:], "nothing is said of a call that has ended"
        record = await client.request("codelaw/chat/read", {"chatId": result["chatId"]})
        assert "tool_output" not in {event["event"]["kind"] for event in record["events"]}
        assert [event["seq"] for event in record["events"]] == list(range(1, len(record["events"]) + 1))
