"""A raw JSON-RPC client over any byte stream: it says exactly what a test tells it to, well-formed or not.

    async with stdio([sys.executable, "-m", ...]) as client:
        await client.initialize()
        result = await client.request("codelaw/chat/send", {"text": "hello"})
        ended = await client.event("turn_ended")

Everything received is kept in `messages`. Requests of the server are answered by `answers[method]`, a value, a
function of the params, or a coroutine function; without one they get -32601, and with `NO_ANSWER` nothing.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE = 150.0
"""Seconds after which waiting counts as a failure; nothing takes so long, on a busy machine either."""
NO_ANSWER = object()

EVERYTHING: dict[str, Any] = {
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    "workspace": {
        "applyEdit": True,
        "configuration": True,
        "workspaceFolders": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
    },
    "general": {"positionEncodings": ["utf-16"]},
    "experimental": {"codelaw": {"events": {}, "approvals": {}}},
}
"""Capabilities of a client that knows codelaw."""

NOTHING: dict[str, Any] = {}
"""Capabilities of a client that says nothing."""


class RpcError(Exception):
    """The server answered with an error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error.get('code')} {error.get('message')} {error.get('data')}")
        self.code = error.get("code")
        self.message = error.get("message")
        self.data = error.get("data")


class Ended(Exception):
    """The server closed the stream."""


@dataclass
class Process:
    """A server process, its end and what it said on standard error."""

    process: asyncio.subprocess.Process
    errors: bytearray = field(default_factory=bytearray)
    reading: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def stderr(self) -> str:
        return self.errors.decode("utf-8", "replace")

    async def wait(self, seconds: float = PATIENCE) -> int:
        """The exit status."""
        async with asyncio.timeout(seconds):
            # Not `process.wait()`: that also waits for pipes which a client that hangs does not read.
            while (status := self.process.returncode) is None:
                await asyncio.sleep(0.01)
            if self.reading is not None:
                await self.reading
        return status

    async def kill(self) -> None:
        """End the process if it still lives."""
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGKILL)
        await self.wait()


class RawClient:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, process: Process | None = None):
        self.reader = reader
        self.writer = writer
        self.process = process
        self.messages: list[dict[str, Any]] = []
        self.answers: dict[str, Any] = {
            "workspace/configuration": lambda params: [None for _ in params["items"]],
            "client/registerCapability": None,
            "client/unregisterCapability": None,
            "window/workDoneProgress/create": None,
        }
        self.ended = asyncio.Event()
        self.hung: asyncio.ReadTransport | None = None
        self._ids = itertools.count(1)
        self._pending: dict[int | str, asyncio.Future[dict[str, Any]]] = {}
        self._news = asyncio.Condition()
        self._answering: set[asyncio.Task[None]] = set()
        self._task = asyncio.create_task(self._read())

    # ------------------------------------------------------------------------------------------------------- sending

    async def send_bytes(self, data: bytes) -> None:
        """Exactly these bytes."""
        self.writer.write(data)
        await self.writer.drain()

    async def send_body(self, body: bytes | str, header: str = "Content-Length") -> None:
        """A framed body, whatever it says."""
        data = body.encode() if isinstance(body, str) else body
        await self.send_bytes(f"{header}: {len(data)}\r\n\r\n".encode() + data)

    async def send(self, message: Any) -> None:
        await self.send_body(json.dumps(message))

    async def notify(self, method: str, params: Any = None) -> None:
        await self.send({"jsonrpc": "2.0", "method": method, "params": params if params is not None else {}})

    def expect(self, request_id: int | str) -> asyncio.Future[dict[str, Any]]:
        """A future for the response with that id."""
        future = asyncio.get_running_loop().create_future()
        self._pending[request_id] = future
        return future

    async def start(
        self, method: str, params: Any = None, *, request_id: int | str | None = None
    ) -> tuple[int | str, asyncio.Future[dict[str, Any]]]:
        """Send a request; gives its id and a future for the whole response."""
        request_id = request_id if request_id is not None else next(self._ids)
        future = self.expect(request_id)
        await self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        return request_id, future

    async def response(self, method: str, params: Any = None) -> dict[str, Any]:
        """The whole response to a request."""
        _, future = await self.start(method, params)
        return await self.wait_for(future)

    async def request(self, method: str, params: Any = None) -> Any:
        """The result of a request; an error raises RpcError."""
        return result_of(await self.response(method, params))

    async def command(self, name: str, *arguments: Any) -> Any:
        """The result of a command."""
        return await self.request("workspace/executeCommand", {"command": name, "arguments": list(arguments)})

    async def error(self, method: str, params: Any = None) -> RpcError:
        """The error a request must give."""
        response = await self.response(method, params)
        assert "error" in response, f"{method} was answered with {response}"
        return RpcError(response["error"])

    async def cancel(self, request_id: int | str) -> None:
        await self.notify("$/cancelRequest", {"id": request_id})

    async def initialize(
        self,
        capabilities: dict[str, Any] | None = None,
        *,
        folders: list[Path] | None = None,
        options: Any = None,
        process_id: int | None = None,
        **more: Any,
    ) -> Any:
        """`initialize` and `initialized`; gives the result of the former."""
        params: dict[str, Any] = {
            "processId": process_id,
            "rootUri": None,
            "capabilities": EVERYTHING if capabilities is None else capabilities,
            "workspaceFolders": [{"uri": path.as_uri(), "name": path.name} for path in folders or []] or None,
        }
        if options is not None:
            params["initializationOptions"] = options
        result = await self.request("initialize", params | more)
        await self.notify("initialized")
        return result

    async def open(self, path: Path | str, text: str, version: int = 1) -> str:
        """`didOpen`; gives the uri."""
        uri = path.as_uri() if isinstance(path, Path) else path
        item = {"uri": uri, "languageId": "plaintext", "version": version, "text": text}
        await self.notify("textDocument/didOpen", {"textDocument": item})
        return uri

    async def shut_down(self) -> int | None:
        """`shutdown` and `exit`; gives the process's exit status."""
        await self.request("shutdown")
        await self.notify("exit")
        return await self.process.wait() if self.process is not None else None

    # ------------------------------------------------------------------------------------------------------ receiving

    async def wait_for(self, future: asyncio.Future[dict[str, Any]]) -> dict[str, Any]:
        """A response, unless the server ends first."""
        ended = asyncio.ensure_future(self.ended.wait())
        try:
            async with asyncio.timeout(PATIENCE):
                await asyncio.wait([future, ended], return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            raise TimeoutError(f"no answer; so far: {self._tail()}") from None
        finally:
            ended.cancel()
        if not future.done():
            raise Ended(self._tail())
        return future.result()

    async def until(self, wanted: Callable[[dict[str, Any]], bool], start: int = 0) -> dict[str, Any]:
        """The first message from number `start` on that is wanted; waits for it."""
        seen = start

        def look() -> dict[str, Any] | None:
            nonlocal seen
            while seen < len(self.messages):
                seen += 1
                if wanted(self.messages[seen - 1]):
                    return self.messages[seen - 1]
            return None

        try:
            async with asyncio.timeout(PATIENCE), self._news:
                while (found := look()) is None:
                    if self.ended.is_set():
                        raise Ended(self._tail())
                    await self._news.wait()
                return found
        except TimeoutError:
            raise TimeoutError(f"never came; so far: {self._tail()}") from None

    async def method(self, name: str, start: int = 0) -> Any:
        """The params of the first request or notification of that name."""
        return (await self.until(lambda message: message.get("method") == name, start)).get("params")

    async def event(self, kind: str, start: int = 0, **fields: Any) -> dict[str, Any]:
        """The params of the first `codelaw/chat/event` of that kind whose event has these fields."""

        def wanted(message: dict[str, Any]) -> bool:
            if message.get("method") != "codelaw/chat/event":
                return False
            event = message["params"]["event"]
            return event["kind"] == kind and all(event.get(name) == value for name, value in fields.items())

        return (await self.until(wanted, start))["params"]

    def params(self, method: str) -> list[Any]:
        """The params of everything of that name received so far."""
        return [message.get("params") for message in self.messages if message.get("method") == method]

    def events(self, chat_id: str | None = None) -> list[dict[str, Any]]:
        """The chat events received so far."""
        found = self.params("codelaw/chat/event")
        return [event for event in found if chat_id is None or event["chatId"] == chat_id]

    def stop_reading(self) -> None:
        """Be a client that hangs: from now on nothing is taken from the stream."""
        self._task.cancel()
        transport = self.reader._transport  # pyright: ignore[reportAttributeAccessIssue]
        transport.pause_reading()
        self.hung = transport

    def _tail(self) -> str:
        errors = self.process.stderr[-2000:] if self.process is not None else ""
        return f"{json.dumps(self.messages[-8:])[:4000]} {errors}"

    async def _read(self) -> None:
        try:
            while True:
                length = 0
                while (line := await self.reader.readuntil(b"\n")).strip():
                    name, _, value = line.partition(b":")
                    assert name.strip().lower() in {b"content-length", b"content-type"}, f"not a header: {line!r}"
                    if name.strip().lower() == b"content-length":
                        length = int(value)
                self._take(json.loads(await self.reader.readexactly(length)))
                async with self._news:
                    self._news.notify_all()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.ended.set()
            async with self._news:
                self._news.notify_all()

    def _take(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        if "method" in message:
            if "id" in message:
                task = asyncio.create_task(self._answer(message))
                self._answering.add(task)
                task.add_done_callback(self._answering.discard)
        elif (future := self._pending.pop(message.get("id", 0), None)) is not None and not future.done():
            future.set_result(message)

    async def _answer(self, message: dict[str, Any]) -> None:
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] in self.answers:
            answer = self.answers[message["method"]]
            if callable(answer):
                answer = answer(message.get("params"))
                if inspect.isawaitable(answer):
                    answer = await answer
            if answer is NO_ANSWER:
                return
            if isinstance(answer, RpcError):
                reply["error"] = {"code": answer.code, "message": answer.message, "data": answer.data}
            else:
                reply["result"] = answer
        else:
            reply["error"] = {"code": -32601, "message": "not known to this client"}
        with suppress(ConnectionError):
            await self.send(reply)

    async def close(self) -> None:
        """Close the stream, and end the process if there is one."""
        if self.hung is not None:
            self.hung.close()
        with suppress(ConnectionError):
            self.writer.close()
            await self.writer.wait_closed()
        if self.process is not None:
            try:
                await self.process.wait(60)
            except TimeoutError:
                await self.process.kill()
        self._task.cancel()
        for task in [self._task, *self._answering]:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def result_of(response: dict[str, Any]) -> Any:
    """The result in a response; an error raises RpcError."""
    if "error" in response:
        raise RpcError(response["error"])
    return response["result"]


async def spawn(command: list[str], *, env: dict[str, str] | None = None, cwd: Path | None = None) -> Process:
    """Start a process with pipes; what it says on standard error is collected."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(env or {})},
        cwd=cwd,
        limit=1 << 27,
    )
    started = Process(process)

    async def collect() -> None:
        assert process.stderr is not None
        while data := await process.stderr.read(1 << 16):
            started.errors += data

    started.reading = asyncio.create_task(collect())
    return started


@asynccontextmanager
async def stdio(
    command: list[str], *, env: dict[str, str] | None = None, cwd: Path | None = None
) -> AsyncIterator[RawClient]:
    """A client of a server started as `command`."""
    process = await spawn(command, env=env, cwd=cwd)
    assert process.process.stdout is not None
    assert process.process.stdin is not None
    client = RawClient(process.process.stdout, process.process.stdin, process)
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def tcp(host: str, port: int) -> AsyncIterator[RawClient]:
    """A client of a listening server."""
    reader, writer = await asyncio.open_connection(host, port, limit=1 << 27)
    client = RawClient(reader, writer)
    try:
        yield client
    finally:
        await client.close()
