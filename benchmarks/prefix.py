"""How much of what an ideal prefix cache could reuse our cache breakpoints let it reuse (L-6)."""

from __future__ import annotations

import asyncio
import bisect
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from client import Server, environment, table

from tests.loopback.script import VendorReply
from tests.loopback.server import Captured, LoopbackVendor

TURNS = 60
LOOKBACK = 20
"""How many blocks before a breakpoint the vendor looks for an entry it wrote earlier."""

ACTIONS: list[tuple[str, dict[str, Any]]] = [
    ("Read", {"path": "src/m0.py", "limit": 60}),
    ("Grep", {"pattern": "value_1[0-9]", "path": "src"}),
    ("LS", {"path": "src"}),
    ("TodoWrite", {"todos": [{"content": "look around", "status": "in_progress"},
                             {"content": "change it", "status": "pending"}]}),
    ("Glob", {"pattern": "*.py"}),
    ("Bash", {"command": "echo built and tested"}),
    ("Read", {"path": "src/m1.py", "limit": 40}),
    ("Edit", {"path": "src/m1.py", "old_string": "NUMBER = {}", "new_string": "NUMBER = {}"}),
]  # fmt: skip


def plan() -> list[VendorReply]:
    """The replies of the whole session: turn n takes between two and five steps, then finishes."""
    replies, edits, place = [], 0, 0
    for turn in range(TURNS):
        for _ in range(1 + turn % 4):
            tool, arguments = ACTIONS[place % len(ACTIONS)]
            place += 1
            if tool == "Edit":
                old, new = arguments["old_string"].format(edits), arguments["new_string"].format(edits + 1)
                arguments, edits = arguments | {"old_string": old, "new_string": new}, edits + 1
            written = json.dumps(arguments)
            replies.append(VendorReply(text=f"Thought: step {place} of turn {turn}\nAction: {tool}[{written}]"))
        replies.append(VendorReply(text=f"Thought: enough\nAction: Finish[Answer {turn}: it is in src/m1.py.]"))
    return replies


def blocks(body: dict[str, Any]) -> Iterator[tuple[bytes, bool]]:
    """The request's blocks in the order a prefix cache sees them, each with whether a breakpoint ends it."""
    for tool in body.get("tools", []):
        yield spelt("tool", tool)
    system = body.get("system", [])
    for block in [{"type": "text", "text": system}] if isinstance(system, str) else system:
        yield spelt("system", block)
    for message in body["messages"]:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            yield spelt(message["role"], block)


def spelt(role: str, block: dict[str, Any]) -> tuple[bytes, bool]:
    bare = {key: value for key, value in block.items() if key != "cache_control"}
    return json.dumps([role, bare], ensure_ascii=False).encode(), "cache_control" in block


def shared(one: bytes, other: bytes) -> int:
    """The length of the longest common prefix."""
    return bisect.bisect_left(range(min(len(one), len(other))), 1, key=lambda end: one[: end + 1] != other[: end + 1])


class Cache:
    """Both caches over one session: the ideal one, and the vendor's with our breakpoints."""

    def __init__(self) -> None:
        self.sent = self.ideal = self.reused = 0
        self.most_breakpoints = 0
        self._streams: list[bytes] = []
        self._written: set[tuple[bytes, ...]] = set()

    def take(self, request: Captured) -> tuple[int, int]:
        """Count one request; gives the bytes the ideal cache and ours would have read."""
        parts = list(blocks(request.json))
        texts = tuple(text for text, _ in parts)
        stream = b"".join(texts)
        ends = [place + 1 for place, (_, marked) in enumerate(parts) if marked]
        ideal = 0
        for other in reversed(self._streams):
            if other[: ideal + 1] == stream[: ideal + 1]:
                ideal = shared(stream, other)
        reused = max((self._hit(texts, end) for end in ends), default=0)
        self._streams.append(stream)
        self._written |= {texts[:end] for end in ends}
        self.sent += len(stream)
        self.ideal += ideal
        self.reused += reused
        self.most_breakpoints = max(self.most_breakpoints, len(ends))
        return ideal, reused

    def _hit(self, texts: tuple[bytes, ...], end: int) -> int:
        for place in range(end, max(0, end - LOOKBACK), -1):
            if texts[:place] in self._written:
                return sum(map(len, texts[:place]))
        return 0


async def session(dialect: str, *, verbose: bool) -> Cache:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder) / "project"
        (workspace / "src").mkdir(parents=True)
        (workspace / "CODE_LAW.md").write_text("# Law\n\nRun the tests before you finish.\n" * 10)
        for number in range(4):
            lines = [f"value_{line} = {line * number}\n" for line in range(120)]
            (workspace / "src" / f"m{number}.py").write_text("NUMBER = 0\n" + "".join(lines))
        replies = plan()
        if dialect == "native":
            replies = [native(reply) for reply in replies]
        async with LoopbackVendor(replies) as vendor:
            environ = environment(Path(folder) / "home", ANTHROPIC_BASE_URL=vendor.url, ANTHROPIC_API_KEY="k")
            settings = {"model": {"dialect": dialect}, "permissions": {"default": "allow"}}
            server = await Server.ready(workspace, environ, settings)
            chat = (await server.request("codelaw/chat/create", {}))["id"]
            for turn in range(TURNS):
                await server.turn(f"Question {turn}: what does src/m{turn % 4}.py do, and why?", chat)
            await server.stop()
            cache = Cache()
            for number, request in enumerate(vendor.messages):
                ideal, reused = cache.take(request)
                if verbose:
                    print(f"{number:4} {len(request.body):8} bytes  ideal {ideal:8}  reused {reused:8}")
    return cache


def native(reply: VendorReply) -> VendorReply:
    """The same reply as a tool user would give it."""
    thought, _, action = reply.text.partition("\nAction: ")
    name, _, inside = action.partition("[")
    if name == "Finish":
        return VendorReply(text=inside[:-1])
    return VendorReply(text=thought.removeprefix("Thought: "), calls=[{"name": name, "input": json.loads(inside[:-1])}])


async def main() -> None:
    for dialect in ("react", "native"):
        cache = await session(dialect, verbose="-v" in sys.argv)
        table(
            f"Prefix reuse over {TURNS} turns, {dialect}",
            [
                ("bytes sent", f"{cache.sent / 1e6:.2f} MB", ""),
                ("an ideal exact-prefix cache reuses", f"{cache.ideal / cache.sent:.1%}", ""),
                ("our breakpoints let it reuse", f"{cache.reused / cache.sent:.1%}", ""),
                ("of the ideal", f"{cache.reused / cache.ideal:.1%}", ">= 95 %"),
                ("most breakpoints in a request", str(cache.most_breakpoints), "<= 4"),
            ],
        )


asyncio.run(main())
