"""What the benchmarks share: the real server over stdio, spoken to as plainly as can be, and small tables."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "server")]

SERVE = [sys.executable, "-m", "codelaw", "serve"]
TABLES = "CODELAW_BENCHMARK_TABLES"
"""The variable that names the file to which each table is added, a line of JSON each."""


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a server: a home of its own, no settings or keys from outside, and the text dialect."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CODELAW_", "ANTHROPIC_"))}
    own = {"CODELAW_HOME": str(home), "PYTHONPATH": str(ROOT / "server"), "CODELAW_MODEL__DIALECT": "react"}
    return kept | own | more


class Server:
    """A language server's process; requests are awaited, events handed to `on_event`, approvals granted once."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._last = 0
        self._reading = asyncio.create_task(self._read())
        self.on_event: Callable[[dict[str, Any]], None] = lambda _: None
        self.lends: dict[str, Any] = {}
        """What of `codelaw/editor/` is answered, as a client declares it."""
        self.approves = True
        """Whether questions about calls are answered at all."""
        self.sent = 0.0
        """When the last request was written, on the monotonic clock, in seconds."""

    @classmethod
    async def spawn(cls, command: Sequence[str], environ: dict[str, str]) -> Self:
        return cls(
            await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=environ,
                limit=1 << 26,
            )
        )

    @classmethod
    async def ready(cls, workspace: Path, environ: dict[str, str], settings: dict[str, Any] | None = None) -> Self:
        """Spawn codelaw and greet it."""
        server = await cls.spawn(SERVE, environ)
        await server.initialize(workspace, settings or {})
        return server

    async def initialize(self, workspace: Path, settings: dict[str, Any] | None = None) -> None:
        params = {
            "processId": os.getpid(),
            "rootUri": workspace.as_uri(),
            "workspaceFolders": [{"uri": workspace.as_uri(), "name": workspace.name}],
            "capabilities": {"experimental": {"codelaw": {"events": {}, "approvals": {}, "editor": self.lends}}},
            "initializationOptions": settings or {},
        }
        await self.request("initialize", params)
        self.notify("initialized", {})

    async def request(self, method: str, params: Any) -> Any:
        self._last += 1
        answer = self._waiting[self._last] = asyncio.get_running_loop().create_future()
        self.sent = time.monotonic()
        self._write({"id": self._last, "method": method, "params": params})
        return await answer

    def notify(self, method: str, params: Any) -> None:
        self._write({"method": method, "params": params})

    async def turn(self, text: str, chat: str | None = None, **more: Any) -> dict[str, Any]:
        """Send a message and await the turn's result, which must be a finished one."""
        params = {"text": text} | ({} if chat is None else {"chatId": chat}) | more
        result = await self.request("codelaw/chat/send", params)
        if result["stopReason"] != "finished":
            raise RuntimeError(f"the turn did not finish: {result}")
        return result

    def signal(self, number: int) -> None:
        """Send the process a signal."""
        self._process.send_signal(number)

    def resident(self) -> float:
        """Resident memory in MB."""
        size = subprocess.run(["ps", "-o", "rss=", "-p", str(self._process.pid)], capture_output=True, check=True)
        return int(size.stdout) / 1024

    def processor_seconds(self) -> float:
        """What its process has used of a processor; 0 where there is no `/proc`."""
        stat = Path(f"/proc/{self._process.pid}/stat")
        if not stat.exists():
            return 0.0
        user, system = stat.read_text("utf-8").rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    async def stop(self) -> None:
        with contextlib.suppress(Exception):
            async with asyncio.timeout(5):
                await self.request("shutdown", None)
                self.notify("exit", None)
                await self._process.wait()
        self._reading.cancel()
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()

    def _write(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0"} | message).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def _read(self) -> None:
        assert self._process.stdout is not None
        stdout = self._process.stdout
        try:
            while True:
                header = await stdout.readuntil(b"\r\n\r\n")
                length = next(int(line[15:]) for line in header.split(b"\r\n") if line.startswith(b"Content-Length:"))
                self._handle(json.loads(await stdout.readexactly(length)))
        except asyncio.IncompleteReadError:
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(ConnectionError("the server is gone"))

    def _handle(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method is None:
            answer = self._waiting.pop(message["id"])
            if "error" in message:
                answer.set_exception(RuntimeError(json.dumps(message["error"])))
            else:
                answer.set_result(message["result"])
        elif method == "codelaw/chat/event":
            self.on_event(message["params"])
        elif method == "codelaw/approval/request":
            if self.approves:
                once = next(option for option in message["params"]["options"] if option["kind"] == "allow_once")
                self._write({"id": message["id"], "result": {"optionId": once["id"]}})
        elif method == "workspace/configuration":
            self._write({"id": message["id"], "result": [None for _ in message["params"]["items"]]})
        elif "id" in message:
            self._write({"id": message["id"], "result": None})


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie, by the nearest rank."""
    return sorted(values)[max(0, -(-int(len(values) * share * 1000) // 1000) - 1)]


def table(title: str, rows: Sequence[tuple[str, str, str]]) -> None:
    """Rows of what, measured, goal."""
    widths = [max(len(row[column]) for row in [*rows, ("", "measured", "goal")]) for column in range(3)]
    print(f"{title}\n")
    for what, measured, goal in [("", "measured", "goal"), *rows]:
        print(f"  {what:<{widths[0]}}  {measured:>{widths[1]}}  {goal:>{widths[2]}}")
    print(flush=True)
    if TABLES in os.environ:
        with Path(os.environ[TABLES]).open("a", encoding="utf-8") as kept:
            kept.write(json.dumps([title, list(rows)]) + "\n")
