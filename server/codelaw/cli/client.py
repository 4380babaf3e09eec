"""A small LSP client: JSON-RPC over the pipes of a server that was started for it.

It imports nothing of the protocol library, so that a terminal command is there at once.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from codelaw.cli.spawn import Server

METHOD_NOT_FOUND, INTERNAL_ERROR, CANCELLED = -32601, -32603, -32800
SHUTDOWN_SECONDS = 1.5
LAST_WORDS_SECONDS = 0.5
LOG_LINES = 15
"""Of what a server wrote before it died."""

_UNINTERESTING = {"client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create"}

Json = dict[str, Any]
_SEE_LOG = "Run it again with --verbose to see that log."


class RemoteError(Exception):
    """The server answered with an error; for a person it is the message, fields that are wrong, the hint."""

    def __init__(self, error: Json) -> None:
        self.code = int(error.get("code", INTERNAL_ERROR))
        message = str(error.get("message", ""))
        data: Any = error.get("data")
        self.data: Json = data if isinstance(data, dict) else {}
        fields = [f"{item.get('path')}: {item.get('message')}" for item in self.data.get("errors", [])]
        fields = [field for field in fields if field not in message]
        hint = self.data.get("hint") or (_SEE_LOG if self.code == INTERNAL_ERROR else None)
        super().__init__("\n".join(part for part in (message, *fields, hint) if part))


class ServerDiedError(Exception):
    """The connection ended while an answer was awaited; the message holds the server's last words."""


class TerminalClient:
    """One connection. `connect` first; then requests may run side by side."""

    def __init__(self, server: Server) -> None:
        self.on_event: Callable[[Json], None] = lambda _params: None
        self.on_message: Callable[[Json], None] = lambda _params: None
        self.on_approval: Callable[[Json], Awaitable[Json]] = _refuse
        self._server = server
        self._writer: asyncio.StreamWriter | None = None
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._answering: dict[int | str, asyncio.Task[None]] = {}
        self._log: deque[str] = deque(maxlen=LOG_LINES)
        self._readers: list[asyncio.Task[None]] = []
        self._last_id = 0
        self._dead: str | None = None

    async def connect(self, workspace: Path, *, ignore_settings: bool = False, short_lived: bool = False) -> Json:
        """Shake hands; gives the server's capabilities.

        `ignore_settings` goes on without those that cannot be read; `short_lived`: one thing is asked, and it ends.

        Raises:
            ServerDiedError: there is no server any more.
        """
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, self._server.stdin)
        self._writer = asyncio.StreamWriter(transport, protocol, None, loop)
        if self._server.stderr is not None:
            self._readers.append(asyncio.create_task(self._read_log(await _reader(self._server.stderr))))
        self._readers.append(asyncio.create_task(self._read(await _reader(self._server.stdout))))
        folder = await asyncio.to_thread(workspace.resolve)
        ours: Json = {"events": {}, "approvals": {}}
        ours |= {"ignoreSettings": True} if ignore_settings else {}
        ours |= {"shortLived": {}} if short_lived else {}
        result = await self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "clientInfo": {"name": "codelaw terminal"},
                "rootUri": folder.as_uri(),
                "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name or "root"}],
                "capabilities": {
                    "general": {"positionEncodings": ["utf-8", "utf-16"]},
                    "experimental": {"codelaw": ours},
                },
            },
        )
        self.notify("initialized", {})
        return result["capabilities"]

    async def request(self, method: str, params: Any = None) -> Any:
        """The result.

        Raises:
            RemoteError: the server said no.
            ServerDiedError: it is gone.
        """
        return await self.begin(method, params)[1]

    def begin(self, method: str, params: Any = None) -> tuple[int, asyncio.Future[Any]]:
        """Send a request; gives its id, by which it can be cancelled, and its answer."""
        self._last_id += 1
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if self._dead is not None:
            answer.set_exception(ServerDiedError(self._dead))
            return self._last_id, answer
        self._waiting[self._last_id] = answer
        message: Json = {"id": self._last_id, "method": method}
        self._send(message if params is None else message | {"params": params})
        return self._last_id, answer

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def cancel(self, request: int) -> None:
        """Ask the server to give up a request; it still answers."""
        self.notify("$/cancelRequest", {"id": request})

    async def close(self) -> None:
        """Say good-bye, as the protocol wants it."""
        if self._dead is None:
            try:
                async with asyncio.timeout(SHUTDOWN_SECONDS):
                    await self.request("shutdown")
                self.notify("exit", None)
            except (TimeoutError, RemoteError, ServerDiedError):
                pass  # it is ended the hard way next
        for task in (*self._answering.values(), *self._readers):
            task.cancel()
        await asyncio.gather(*self._answering.values(), *self._readers, return_exceptions=True)
        if self._writer is not None:
            self._writer.close()

    # ----------------------------------------------------------------------------------------------------- messages

    def _send(self, message: Json) -> None:
        if self._writer is None or self._writer.is_closing():
            return
        body = json.dumps({"jsonrpc": "2.0"} | message).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def _read(self, reader: asyncio.StreamReader) -> None:
        why = "The server ended"
        try:
            while True:
                length = 0
                while line := (await reader.readuntil(b"\r\n")).strip():
                    name, _, value = line.partition(b":")
                    if name.strip().lower() == b"content-length":
                        length = int(value)
                self._handle(json.loads(await reader.readexactly(length)))
        except asyncio.IncompleteReadError:
            pass  # the end of the stream
        except (ValueError, OSError) as error:
            why = f"The server sent what cannot be read ({error})"
        await self._die(why)

    def _handle(self, message: Json) -> None:
        method, id_ = message.get("method"), message.get("id")
        params: Any = message.get("params") or {}
        if method is None:
            self._settle(message)
        elif id_ is not None:
            self._answering[id_] = asyncio.create_task(self._answer(id_, method, params))
        elif method in ("codelaw/chat/event", "window/showMessage"):
            try:
                (self.on_event if method == "codelaw/chat/event" else self.on_message)(params)
            except Exception as error:  # noqa: BLE001 - whoever waits for an answer gets it, whatever it is
                self._fail(error)
        elif method == "$/cancelRequest" and (task := self._answering.get(params.get("id"))) is not None:
            task.cancel()

    def _settle(self, message: Json) -> None:
        answer = self._waiting.pop(message.get("id", 0), None)
        if answer is None or answer.done():
            return
        if (error := message.get("error")) is not None:
            answer.set_exception(RemoteError(error))
        else:
            answer.set_result(message.get("result"))

    async def _answer(self, id_: int | str, method: str, params: Any) -> None:
        try:
            if method == "codelaw/approval/request":
                self._send({"id": id_, "result": await self.on_approval(params)})
            elif method == "workspace/configuration":
                self._send({"id": id_, "result": [None for _ in params.get("items", [])]})
            elif method in _UNINTERESTING:
                self._send({"id": id_, "result": None})
            else:
                self._send({"id": id_, "error": {"code": METHOD_NOT_FOUND, "message": f"{method} is not known here"}})
        except asyncio.CancelledError:
            self._send({"id": id_, "error": {"code": CANCELLED, "message": "withdrawn"}})
        finally:
            self._answering.pop(id_, None)

    async def _read_log(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            self._log.append(line.decode(errors="replace").rstrip())

    async def _die(self, why: str) -> None:
        # Its last words and its exit status may still be on their way.
        if self._readers[:-1]:
            await asyncio.wait(self._readers[:-1], timeout=LAST_WORDS_SECONDS)
        try:
            status = await asyncio.to_thread(self._server.wait, LAST_WORDS_SECONDS)
        except subprocess.TimeoutExpired:
            status = None
        why += "." if status is None else f" (exit status {status})."
        self._dead = "\n".join([why, *self._log])
        self._fail(ServerDiedError(self._dead))

    def _fail(self, error: Exception) -> None:
        waiting, self._waiting = self._waiting, {}
        for answer in waiting.values():
            if not answer.done():
                answer.set_exception(error)


async def _reader(pipe: Any) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=1 << 20)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader


async def _refuse(_params: Json) -> Json:
    return {"cancelled": True}
