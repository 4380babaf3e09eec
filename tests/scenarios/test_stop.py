"""Stop is followed by silence: a hundred times, whatever runs (R-8, S-6)."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.living import dies
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import NO_ANSWER
from tests.scenarios.conftest import Start, act, finish

TOKEN = f"{31415 + os.getpid()}.926"
"""Of this process of the tests: another one may run the same test meanwhile."""
TREE = (
    f"(setsid sleep {TOKEN} & sleep {TOKEN} & (trap '' TERM; sleep {TOKEN})) & trap '' TERM; touch begun; sleep {TOKEN}"
)
STREAM = VendorReply(text=finish("word " * 2000), delay=0.01, times=0)
COMMAND = VendorReply(text=act("Bash", json.dumps({"command": TREE})), times=0)
WRITE = VendorReply(text=act("Write", '{"path": "new.txt", "content": "hi"}'), times=0)
TIMES = {"stream": 30, "command": 40, "question": 30}


def running() -> list[str]:
    """Processes of a tree that still live."""
    found: list[str] = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            state = (file.parent / "stat").read_text().rpartition(")")[2].split()[0]
            if TOKEN in file.read_bytes().decode("utf-8", "replace").split("\0") and state != "Z":
                found.append(file.parent.name)
        except OSError:
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="/proc tells which processes live")
@pytest.mark.parametrize("sandbox", ["auto", "off"])
async def test_a_hundred_stops_and_after_each_there_is_silence(
    start: Start, vendor: LoopbackVendor, root: Path, sandbox: str
):
    options: dict[str, Any] = {
        "tools": {"bash": {"sandbox": sandbox}},
        "permissions": {"allow": [f"Bash({TREE})"]},
    }
    wanted = {
        "stream": (STREAM, "answer", {}),
        "command": (COMMAND, "tool_call", {"status": "running"}),
        "question": (WRITE, "tool_call", {"status": "awaiting_approval"}),
    }
    async with start(options=options) as client:
        client.answers["codelaw/approval/request"] = NO_ANSWER
        for what, (reply, kind, fields) in wanted.items():
            for number in range(TIMES[what] // 2):
                vendor.reset([reply])
                (root / "begun").unlink(missing_ok=True)
                mark = len(client.messages)
                request_id, future = await client.start("codelaw/chat/send", {"text": "go"})
                event = await client.event(kind, mark, **fields)
                if what == "command":
                    for _ in range(15000):
                        if (root / "begun").exists() and running():
                            break
                        await asyncio.sleep(0.01)
                    assert running(), "the tree grows before it is felled"
                if number % 2:
                    await client.cancel(request_id)
                else:
                    await client.request("codelaw/chat/cancel", {"chatId": event["chatId"]})
                result = (await client.wait_for(future))["result"]
                assert result["stopReason"] == "cancelled", (what, number)
                assert await dies(running), (what, number)
                reported = client.events(event["chatId"])
                assert reported[-1]["event"]["kind"] == "turn_ended", (what, number)
                asked = [
                    message for message in client.messages[mark:] if message.get("method") == "codelaw/approval/request"
                ]
                withdrawn = {params["id"] for params in client.params("$/cancelRequest")}
                assert {message["id"] for message in asked} <= withdrawn, (what, number)
        before = len(client.events())
        await client.request("codelaw/chat/list", {})
        assert len(client.events()) == before, "nothing is said after the last word"
    assert not (root / "new.txt").exists()
