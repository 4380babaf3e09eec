"""What a compaction costs: the summary call's billed input, and our own time around it (K-4)."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from client import Server, environment, median, table

from tests.loopback.script import VendorReply
from tests.loopback.server import Captured, LoopbackVendor

CHARACTERS = 2.92
"""Characters of a token, so that the vendor counts about what is estimated."""
FILES = 8
REPEATS = 7


def replies(dialect: str, turn: int) -> list[VendorReply]:
    """A turn of a Read and an answer, of about 4 000 tokens in the history."""
    arguments = {"path": f"src/m{turn % FILES}.py", "start_line": 1 + turn, "limit": 100}
    answer = f"Answer {turn}: " + f"line {turn} computes what the next one needs; " * 130
    if dialect == "native":
        called = VendorReply(text="look", calls=({"name": "Read", "input": arguments},))
        return [called, VendorReply(text=answer, chunk=4_000)]
    called = VendorReply(text=f"Thought: look\nAction: Read[{json.dumps(arguments)}]", chunk=4_000)
    return [called, VendorReply(text=f"Thought: done\nAction: Finish[{answer}]", chunk=4_000)]


class Chat:
    """One chat of one server, filled to a size."""

    def __init__(self, server: Server, vendor: LoopbackVendor, dialect: str) -> None:
        self.server, self.vendor, self.dialect = server, vendor, dialect
        self.id = ""
        self.turns = 0

    async def turn(self) -> None:
        self.vendor.play(*replies(self.dialect, self.turns))
        result = await self.server.turn(f"Question {self.turns}: what comes next?", self.id or None)
        self.id, self.turns = result["chatId"], self.turns + 1

    async def fill(self, tokens: int) -> None:
        """Turns until the last request's prompt has that many tokens."""
        while not self.vendor.messages or self.vendor.messages[-1].tokens < tokens:
            await self.turn()


@asynccontextmanager
async def chat(dialect: str, window: int) -> AsyncIterator[Chat]:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "project"
        (workspace / "src").mkdir(parents=True)
        (workspace / "CODE_LAW.md").write_text("# Law\n\nRun the tests before you finish.\n" * 10)
        for number in range(FILES):
            lines = (f"value_{number}_{line} = compute({line})  # what comes of {line}\n" for line in range(400))
            (workspace / "src" / f"m{number}.py").write_text("".join(lines))
        async with LoopbackVendor(window=window, characters=CHARACTERS) as vendor:
            environ = environment(Path(folder) / "home", ANTHROPIC_BASE_URL=vendor.url, ANTHROPIC_API_KEY="k")
            model = {"dialect": dialect, "contextWindow": window, "name": "claude-sonnet-4-5"}
            settings: dict[str, Any] = {"model": model, "permissions": {"default": "allow"}}
            server = await Server.ready(workspace, environ, settings)
            try:
                yield Chat(server, vendor, dialect)
            finally:
                await server.stop()


async def bill(dialect: str) -> list[tuple[str, str, str]]:
    """The trigger at 160 000 tokens, before a turn or in it: the summary call, and the request after it."""
    async with chat(dialect, 200_000) as made:
        while not made.vendor.summaries:
            await made.turn()
        asked = made.vendor.messages
        place = next(place for place, request in enumerate(asked) if request.summary)
        before, summary, after = asked[place - 1 : place + 2]
        assert made.vendor.refused == []
        return [
            (f"{dialect}: tokens of the view before", str(before.tokens), ""),
            (f"{dialect}: tokens of the summary call", str(summary.tokens), ""),
            (f"{dialect}: read from the cache", f"{share(summary):.1%}", ""),
            (f"{dialect}: input cost units of the summary call", f"{summary.cost:.0f}", "<= 25000"),
            (f"{dialect}: what is archived, asked in a fresh conversation", f"{before.tokens - after.tokens}", ""),
            (f"{dialect}: tokens of the view after", str(after.tokens), ""),
            (f"{dialect}: input cost units of the request after it", f"{after.cost:.0f}", ""),
        ]


def share(request: Captured) -> float:
    total = sum(value for name, value in request.usage.items() if name != "output_tokens")
    return request.usage["cache_read_input_tokens"] / total


async def clock(dialect: str) -> list[tuple[str, str, str]]:
    """A history of 200 000 tokens, compacted and restored; the model's time taken off."""
    async with chat(dialect, 400_000) as made:
        await made.fill(200_000)
        times: list[float] = []
        for _ in range(REPEATS):
            begun = time.monotonic()
            report = await made.server.request("codelaw/context/compact", {"chatId": made.id})
            whole = time.monotonic() - begun
            assert report["compacted"], report
            call = made.vendor.summaries[-1]
            assert call.answer_last_byte is not None
            times.append((whole - (call.answer_last_byte - call.last_byte)) * 1000)
            await made.server.request("codelaw/context/restore", {"chatId": made.id})
        return [
            (f"{dialect}: rounds archived", str(report["roundsArchived"]), ""),
            (f"{dialect}: our time, the first", f"{times[0]:.0f} ms", ""),
            (f"{dialect}: our time, median of {REPEATS}", f"{median(times):.0f} ms", "<= 200 ms"),
        ]


async def main() -> None:
    rows = [row for dialect in ("react", "native") for row in await bill(dialect)]
    table("A compaction at 160 000 tokens", rows)
    rows = [row for dialect in ("react", "native") for row in await clock(dialect)]
    table("Compacting a history of 200 000 tokens, without the model's time", rows)


asyncio.run(main())
