"""What the servers on loopback share: connections, requests as they come, answers, and breaking off."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(slots=True)
class Received:
    """A request as it came, with times of the monotonic clock in seconds."""

    method: str
    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes
    connection: int
    first_byte: float
    last_byte: float


class LoopbackServer:
    """Serves HTTP on a port of its own; `answer` says whether the connection goes on."""

    def __init__(self) -> None:
        self.port = 0
        self._server: asyncio.Server | None = None
        self._handlers: set[asyncio.Task[Any]] = set()
        self._connections = 0

    async def answer(self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        raise NotImplementedError

    async def start(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", port or self.port, limit=1 << 20)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for handler in list(self._handlers):
            handler.cancel()
        await asyncio.gather(*self._handlers, return_exceptions=True)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handlers.add(task)
        self._connections += 1
        number = self._connections
        try:
            while (request := await _received(reader, number)) is not None:
                if not await self.answer(request, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._handlers.discard(task)
            with contextlib.suppress(ConnectionError, RuntimeError):
                writer.close()


async def _received(reader: asyncio.StreamReader, connection: int) -> Received | None:
    try:
        first = await reader.readexactly(1)
    except asyncio.IncompleteReadError:
        return None
    at = time.monotonic()
    head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(method, path, headers, body, connection, at, time.monotonic())


def head_of(status: int, size: int, headers: Mapping[str, str] | None = None) -> bytes:
    """The head of an answer in JSON."""
    lines = [f"HTTP/1.1 {status} X", "content-type: application/json", f"content-length: {size}"]
    lines += [f"{name}: {text}" for name, text in (headers or {}).items()]
    return "\r\n".join([*lines, "", ""]).encode()


async def send(writer: asyncio.StreamWriter, status: int, body: Any, headers: Mapping[str, str] | None = None) -> bool:
    """Answer with these bytes, or with a value as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    writer.write(head_of(status, len(data), headers) + data)
    await writer.drain()
    return True


async def reset(writer: asyncio.StreamWriter) -> bool:
    """End the connection with a TCP reset, after what was written has had time to arrive."""
    await writer.drain()
    await asyncio.sleep(0.02)
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
    return False
