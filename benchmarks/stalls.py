"""How long the event loop stands still while something large is done, and what that costs (the goal is 100 ms).

    .venv/bin/python benchmarks/stalls.py [--only WORD] [--small]

Each case is done by a real server with a heartbeat every 2 ms (`probe.py`). *Wall* is the longest time between two
beats, *stall* the most processor time that the server spent between two: on a busy machine the first holds other
programs' time as well. *Own* is the most processor time of one callback. *CPU* is the server's in all its threads.
Where a case is done at two sizes, the last column is how much more the larger one costs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client import ROOT, Server, environment
from code_index import build

from codelaw.adapters.stores.opening import SqliteStore
from codelaw.domain.chats import StoredTurn, TurnResult
from codelaw.domain.events import AnswerDelta, ToolCallEvent, TurnEnded, TurnStarted
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.domain.models import Usage
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor

GOAL = 0.1
MB = 1_000_000
WORDS = "a line of an answer, neither short nor long\n"
DENY = [
    *(f"Bash(prog{number} sub{number}:*)" for number in range(166)),
    *(f"Bash(tool{number} run -x {number})" for number in range(167)),
    *(f"Read(secret{number}/**)" for number in range(167)),
]


@dataclass
class Bench:
    """A server under watch, the vendor that it asks, and its folders."""

    server: Server
    vendor: LoopbackVendor
    home: Path
    workspace: Path
    seen: Path

    async def probe(self) -> dict[str, Any]:
        """What was seen since it was last asked."""
        self.seen.unlink(missing_ok=True)
        self.server.signal(signal.SIGUSR1)
        while not self.seen.exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.01)
        return json.loads(self.seen.read_text())

    async def turn(self, *replies: VendorReply) -> None:
        self.vendor.reset([*replies])
        await self.server.turn("go")


Case = Callable[[Bench, int], Awaitable[None]]


def filled(size: int, piece: str = WORDS) -> str:
    return (piece * (size // len(piece) + 1))[:size]


def done(dialect: str) -> VendorReply:
    return VendorReply(text="Thought: t\nAction: Finish[ok]" if dialect == "react" else "ok", times=0)


def streamed(dialect: str, chunk: int = 24) -> Case:
    async def case(bench: Bench, size: int) -> None:
        text = filled(size)
        await bench.turn(
            VendorReply(text=f"Thought: t\nAction: Finish[{text}]" if dialect == "react" else text, chunk=chunk)
        )

    return case


def written(dialect: str) -> Case:
    async def case(bench: Bench, size: int) -> None:
        arguments = {"path": f"new{size}.txt", "content": filled(size)}
        if dialect == "react":
            call = VendorReply(text=f"Thought: t\nAction: Write[{json.dumps(arguments)}]", chunk=4096)
        else:
            call = VendorReply(calls=[{"name": "Write", "input": arguments}], chunk=4096)
        await bench.turn(call, done(dialect))

    return case


async def commanded(bench: Bench, size: int) -> None:
    part = "echo find | xargs cat; "
    arguments = json.dumps({"command": filled(size, part).rpartition(";")[0]})
    await bench.turn(VendorReply(text=f"Thought: t\nAction: Bash[{arguments}]", chunk=4096), done("react"))


async def opened(bench: Bench, uri: str, text: str) -> None:
    item = {"uri": uri, "languageId": "text", "version": 1, "text": text}
    bench.server.notify("textDocument/didOpen", {"textDocument": item})
    await bench.server.request("codelaw/model/list", {})
    await bench.probe()


def changed(text: str) -> Case:
    async def case(bench: Bench, size: int) -> None:
        uri = (bench.workspace / f"{size}{len(text)}.txt").as_uri()
        await opened(bench, uri, filled(MB, text))
        rng, lines = random.Random(1), MB // len(text) - 2 if text.endswith("\n") else 0
        places = [(rng.randint(0, lines), rng.randint(0, 30)) for _ in range(size)]
        changes = [
            {
                "range": {"start": {"line": line, "character": at}, "end": {"line": line, "character": at + 1}},
                "text": "yz",
            }
            for line, at in places
        ]
        identifier = {"uri": uri, "version": 2}
        bench.server.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": changes})
        await bench.server.request("codelaw/model/list", {})

    return case


async def files(bench: Bench, size: int) -> None:
    changes = [{"uri": (bench.workspace / f"src/file{number}.py").as_uri(), "type": 2} for number in range(size)]
    bench.server.notify("workspace/didChangeWatchedFiles", {"changes": changes})
    await bench.server.request("codelaw/model/list", {})
    await asyncio.sleep(0.5)


async def indexed(bench: Bench, lines: int) -> None:
    await asyncio.to_thread(build, bench.workspace, lines)
    await bench.probe()  # what has passed meanwhile is not ours
    await bench.server.request("codelaw/search", {"query": "the price of a basket"})
    while (await bench.server.request("codelaw/index/status", {}))["state"] == "building":  # noqa: ASYNC110
        await asyncio.sleep(0.2)


async def no_array(bench: Bench, size: int) -> None:
    uri = (bench.workspace / "no.txt").as_uri()
    await opened(bench, uri, "")
    params = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": "x" * size}
    bench.server.notify("textDocument/didChange", params)
    await bench.server.request("codelaw/model/list", {})


async def unknown_fields(bench: Bench, size: int) -> None:
    params = {"text": "a", **{f"x{number}": 1 for number in range(size)}}
    answer = await asyncio.gather(bench.server.request("codelaw/chat/send", params), return_exceptions=True)
    if not isinstance(answer[0], RuntimeError):
        raise TypeError("unknown fields were taken")


async def long_chat(bench: Bench, turns: int) -> str:
    """A chat of so many turns, written by the store while no server runs."""
    made = await bench.server.request("codelaw/chat/create", {"title": f"{turns} turns"})
    store = await SqliteStore.open(bench.home / "codelaw.db")
    chat = made["id"]
    for number in range(turns):
        turn, call = f"turn{number}", Call(f"call{number}", "Read", {"path": "a.py", "limit": 100})
        running = StoredTurn(turn, chat, "running", store.owner, 1.0)
        await store.begin_turn(running, Message(f"q{number}", turn, "user", f"Question {number}? {WORDS}"))
        said = [
            Message(f"a{number}", turn, "assistant", f"Thought: look\n{WORDS}", Metadata(step=1, calls=(call,))),
            Message(f"r{number}", turn, "tool", '{"status": "success"}', Metadata(step=1, call_id=call.id)),
            Message(f"f{number}", turn, "assistant", WORDS * 3, Metadata(step=2, answer=WORDS * 3)),
        ]
        result = TurnResult(chat, turn, "finished", WORDS * 3, 2, Usage(1000, 10, 10, 50))
        await store.append_events(
            chat,
            turn,
            [
                (1.0, TurnStarted(f"Question {number}? {WORDS}")),
                (1.0, ToolCallEvent(call.id, "Read", "Read a.py", "completed", 1, {"path": "a.py", "limit": 100})),
                (1.0, AnswerDelta(WORDS * 3, 2)),
                (1.0, TurnEnded(result)),
            ],
        )
        ended = StoredTurn(turn, chat, "ended", store.owner, 1.0, Usage(1000), "finished")
        await store.end_turn(ended, said)
    await store.close()
    await bench.probe()
    return chat


def of_a_long_chat(method: str, **params: Any) -> Case:
    async def case(bench: Bench, size: int) -> None:
        chat = await long_chat(bench, size)
        await bench.server.request(method, {"chatId": chat} | params)

    return case


CASES: list[tuple[str, Case, tuple[int, ...], dict[str, Any]]] = [
    ("react: an answer of {} characters", streamed("react"), (MB // 4, MB), {}),
    ("native: an answer of {} characters", streamed("native"), (MB // 4, MB), {"dialect": "native"}),
    ("react: {} characters in deltas of 5", streamed("react", 5), (MB // 16, MB // 4), {}),
    ("native: {} characters in deltas of 5", streamed("native", 5), (MB // 16, MB // 4), {"dialect": "native"}),
    ("react: Write of {} characters", written("react"), (MB // 2, 2 * MB), {}),
    ("native: Write of {} characters", written("native"), (MB // 2, 2 * MB), {"dialect": "native"}),
    ("a command of {} characters under 500 deny rules", commanded, (5_000, 20_000), {}),
    ("one didChange of {} edits in 1 MB", changed(WORDS), (1000, 4000), {}),
    ("one didChange of {} edits in 1 MB of one line", changed("é"), (1000, 4000), {}),
    ("{} file events", files, (25_000, 100_000), {}),
    ("an index of {} lines", indexed, (25_000, 100_000), {}),
    ("a string of {} characters in place of an array", no_array, (MB // 4, MB), {}),
    ("{} unknown fields", unknown_fields, (25_000, 100_000), {}),
    ("chat/read of {} turns", of_a_long_chat("codelaw/chat/read"), (1250, 5000), {}),
    ("chat/export of {} turns", of_a_long_chat("codelaw/chat/export", format="markdown"), (1250, 5000), {}),
    ("chat/export as JSON of {} turns", of_a_long_chat("codelaw/chat/export", format="json"), (1250, 5000), {}),
    ("context/inspect with {} turns", of_a_long_chat("codelaw/context/inspect", text="go"), (1250, 5000), {}),
]


async def measured(case: Case, size: int, folder: Path, model: dict[str, Any], *, show: bool) -> dict[str, Any]:
    home, workspace, seen = folder / "home", folder / "work", folder / "seen.json"
    workspace.mkdir(parents=True)
    async with LoopbackVendor(window=1_000_000) as vendor:
        settings: dict[str, Any] = {
            "model": {
                "baseUrl": vendor.url,
                "apiKey": "k",
                "name": "claude-sonnet-4-5",
                "maxOutputTokens": 200_000,
                **model,
            },
            "permissions": {"deny": DENY},
            "tools": {"bash": {"sandbox": "off"}},
        }
        environ = environment(home)
        server = await Server.spawn([sys.executable, str(ROOT / "benchmarks/probe.py"), str(seen), "serve"], environ)
        await server.initialize(workspace, settings)
        bench = Bench(server, vendor, home, workspace, seen)
        await bench.turn(done(model.get("dialect", "react")))
        await bench.probe()
        await case(bench, size)
        found = await bench.probe()
        await server.stop()
    if show:
        print(json.dumps(found), file=sys.stderr)
    return found


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--small", action="store_true", help="the smaller size alone")
    parser.add_argument("--show", action="store_true", help="what the longest callback was, on stderr")
    arguments = parser.parse_args()
    print(f"{'':<58}{'stall':>10}{'wall':>10}{'own':>10}{'CPU':>10}{'ratio':>8}")
    worst = 0.0
    for name, case, sizes, model in CASES:
        if arguments.only not in name:
            continue
        before = 0.0
        for size in sizes[:1] if arguments.small else sizes:
            with tempfile.TemporaryDirectory() as folder:
                found = await measured(case, size, Path(folder), model, show=arguments.show)
            ratio = f"{found['cpu'] / before:.1f} x" if before else ""
            figures = "".join(f"{found[key] * 1000:>7.0f} ms" for key in ("busy", "gap", "own", "cpu"))
            print(f"{name.format(size):<58}{figures}{ratio:>8}", flush=True)
            before, worst = found["cpu"], max(worst, found["busy"])
    print(f"\nthe longest stall {worst * 1000:.0f} ms, goal <= {GOAL * 1000:.0f} ms")


if __name__ == "__main__":
    asyncio.run(main())
