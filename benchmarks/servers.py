"""What servers that mean harm cost whoever speaks with them: memory, time to stop a call, time to end them (X-3, S-6).

    .venv/bin/python benchmarks/servers.py [KIND]...

Each kind is played in a process of its own: it starts the server, calls its tool three times, stops the last call
after half a second, and ends. Memory is the most that the process ever held, over the same with a server that means
well.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from codelaw.adapters.mcp.means import Fence, ServerMeans
from codelaw.adapters.mcp.servers import McpServers
from codelaw.domain.errors import ToolFailure
from codelaw.domain.served import Program, ServerAnswer, ServerQuestion, ServerSpec

HOSTILE = Path(__file__).parents[1] / "tests" / "adapters" / "mcp" / "hostile.py"
WELL = "none"
KINDS = (
    "endless line", "large result", "rich result", "many parts", "long text", "hangs at the start", "hangs at a call",
    "does not end", "leaves a child", "crash loop", "changes", "many", "too many", "schemas", "garbage", "talks",
    "floods", "answers twice", "asks too much", "questions",
)  # fmt: skip
CALLS = 3
SECONDS = 0.5
STARTS = {"hangs at the start": 3.0}
ENDED = ("crash loop", *STARTS)
"""Kinds that need not be ready in the end."""
LIMIT = 20.0
"""Megabytes over a server that means well."""


class Person:
    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        del question
        return ServerAnswer("decline")

    def reported(self, line: str) -> None:
        del line


async def session(kind: str) -> Mapping[str, float]:
    """Play one kind; milliseconds and megabytes."""
    mark = f"{os.getpid()}-{time.time_ns()}"
    servers = McpServers(
        ServerMeans(cwd=Path.cwd(), fence=Fence(environment=dict(os.environ)), start_seconds=STARTS.get(kind, 60.0))
    )
    way = Program(sys.executable, (str(HOSTILE), kind), {"BENCHMARK": mark})
    servers.begin([ServerSpec("bad", way, "benchmark")])
    await servers.settled(60)
    if servers.states()[0].state != "ready" and kind not in ENDED:
        raise RuntimeError(f"the server is not ready: {servers.states()}")
    stopped = 0.0
    for _ in range(CALLS):
        call = asyncio.create_task(servers.call("bad", "tool", {}, Person()))
        await asyncio.wait([call], timeout=SECONDS)
        start = time.monotonic()
        call.cancel()
        with contextlib.suppress(ToolFailure, asyncio.CancelledError):
            await call
        stopped = max(stopped, time.monotonic() - start)
    start = time.monotonic()
    await servers.close()
    ended = time.monotonic() - start
    await asyncio.sleep(0.05)  # what was cancelled at the end has its turn
    return {
        "memory": peak(),
        "stopped": stopped * 1000,
        "ended": ended * 1000,
        "tasks": len(asyncio.all_tasks()) - 1,
        "processes": left(mark),
    }


def peak() -> float:
    """The most that this process ever held, in megabytes."""
    (line,) = [one for one in Path("/proc/self/status").read_text("ascii").splitlines() if one.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


def left(mark: str) -> int:
    """Processes that still live."""
    found = 0
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            found += f"BENCHMARK={mark}".encode() in entry.read_bytes()
    return found


def played(kind: str) -> Mapping[str, float]:
    run = subprocess.run([sys.executable, __file__, "--play", kind], capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


def main(kinds: list[str]) -> int:
    well = played(WELL)
    rows = [("", "memory", "a call stops", "it ends", "left: tasks, processes")]
    over = False
    for kind in (WELL, *(kinds or KINDS)):
        found = played(kind)
        more = found["memory"] - well["memory"]
        left_over = found["tasks"] + found["processes"]
        over = over or more > LIMIT or found["stopped"] > 1000 or found["ended"] > 2000 or left_over > 0
        name = "means well" if kind == WELL else kind
        times = (f"{found['stopped']:.0f} ms", f"{found['ended']:.0f} ms")
        rows.append((name, f"{more:+.1f} MB", *times, f"{found['tasks']:.0f}, {found['processes']:.0f}"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        sys.stdout.write("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() + "\n")
    return 1 if over else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--play"]:
        sys.stdout.write(json.dumps(asyncio.run(session(sys.argv[2]))))
    else:
        sys.exit(main(sys.argv[1:]))
