"""How much of what an ideal prefix cache could reuse our cache breakpoints let it reuse, and what that costs (L-6)."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from billing import Cache, blocks
from client import Server, environment, table

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor

TURNS = 60

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
            cache = Cache(lambda text: len(text.encode(errors="replace")))
            for number, request in enumerate(vendor.messages):
                sent, ideal, reused = cache.take(list(blocks(request.json)))
                if verbose:
                    print(f"{number:4} {sent:8} bytes  ideal {ideal:8}  reused {reused:8}")
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
                ("our breakpoints let it reuse", f"{cache.read / cache.sent:.1%}", ""),
                ("of the ideal", f"{cache.read / cache.ideal:.1%}", ">= 95 %"),
                ("billed, of the cost with an ideal cache", f"{cache.units_billed / cache.units_ideal:.3f}", "<= 1.03"),
                ("most breakpoints in a request", str(cache.most_breakpoints), "<= 4"),
            ],
        )


if __name__ == "__main__":
    asyncio.run(main())
