"""How long stop takes: from `codelaw/chat/cancel` to the turn's result, whatever the turn is doing (R-8)."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from client import Server, environment, median, table

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor

TIMES = 25
TREE = "(sleep 60 & sleep 60 & (trap '' TERM; sleep 60)) & sleep 60"
STREAM = VendorReply(text="Thought: t\nAction: Finish[" + "word " * 5000, delay=0.01, times=0)
COMMAND = VendorReply(text=f"Thought: t\nAction: Bash[{json.dumps({'command': TREE})}]", times=0)
WRITE = VendorReply(text='Thought: t\nAction: Write[{"path": "new.txt", "content": "x"}]', times=0)
SILENT = VendorReply(broken="hang", times=0)


async def stopped(server: Server, vendor: LoopbackVendor, reply: VendorReply, kind: str, status: str = "") -> float:
    """Seconds from the cancel to the result, cancelled once an event of that kind and status has come."""
    vendor.reset([reply])
    begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def watch(event: dict[str, Any]) -> None:
        reported = event["event"]
        if reported["kind"] == kind and (not status or reported.get("status") == status) and not begun.done():
            begun.set_result(event["chatId"])

    server.on_event = watch
    turn = asyncio.ensure_future(server.request("codelaw/chat/send", {"text": "go"}))
    chat = await begun
    await asyncio.sleep(0.05)
    start = time.monotonic()
    await server.request("codelaw/chat/cancel", {"chatId": chat})
    result = await turn
    if result["stopReason"] != "cancelled":
        raise RuntimeError(f"the turn was not cancelled: {result}")
    return time.monotonic() - start


async def measure(home: Path, workspace: Path) -> list[tuple[str, str, str]]:
    rows: list[tuple[str, str, str]] = []
    async with LoopbackVendor() as vendor:
        model = {"baseUrl": vendor.url, "apiKey": "k", "name": "claude-sonnet-4-5"}
        for sandbox in ("off", "auto"):
            settings = {"model": model, "tools": {"bash": {"sandbox": sandbox}}}
            server = await Server.ready(workspace, environment(home), settings)
            cases = [
                (f"while a process tree runs that ignores SIGTERM, sandbox {sandbox}", COMMAND, "tool_call", "running")
            ]
            if sandbox == "off":
                cases += [
                    ("while the model streams", STREAM, "answer", ""),
                    ("while the model is silent", SILENT, "turn_started", ""),
                    ("while the user is asked", WRITE, "tool_call", "awaiting_approval"),
                ]
            for what, reply, kind, status in cases:
                server.approves = status != "awaiting_approval"
                seconds = [await stopped(server, vendor, reply, kind, status) for _ in range(TIMES)]
                rows.append((f"{what}: median", f"{median(seconds) * 1000:.0f} ms", ""))
                rows.append((f"{what}: worst of {TIMES}", f"{max(seconds) * 1000:.0f} ms", "<= 1000 ms"))
            await server.stop()
    return rows


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home, workspace = Path(folder, "home"), Path(folder, "work")
        workspace.mkdir()
        table("Stop", asyncio.run(measure(home, workspace)))


main()
