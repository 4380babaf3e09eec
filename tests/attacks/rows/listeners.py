"""Strangers at the sockets of a server (V-3)."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import re
import struct
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from tests.attacks.deeds import row
from tests.attacks.row import Action, Attack, NotRun
from tests.attacks.world import World

LINE = re.compile(rb"codelaw: listening (?:tcp|ws) \S+:(\d+)(?: token=(\S+))?\n")
ROOM = 24 << 20
"""Bytes that a stranger may make a server hold."""


class Server:
    """A server of its own process."""

    def __init__(self, process: asyncio.subprocess.Process, port: int, token: str) -> None:
        self.process = process
        self.port = port
        self.token = token

    @property
    def held(self) -> int:
        """The most memory that it ever had, in bytes."""
        return _most(self.process.pid)


def _most(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


@asynccontextmanager
async def serving(*arguments: str) -> AsyncIterator[Server]:
    """Listens, by default on TCP; told in a line on standard error."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "tests.lsp.fake_server", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    said = b""
    try:
        async with asyncio.timeout(150):
            while (found := LINE.search(said)) is None:
                data = await process.stderr.read(4096)
                if not data:
                    raise NotRun(f"the server ended: {said[-300:]!r}")
                said += data
        drained = asyncio.ensure_future(process.stderr.read())
        yield Server(process, int(found[1]), (found[2] or b"").decode())
        drained.cancel()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def framed(message: object) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def greeting(token: object = None, number: int = 1) -> dict[str, object]:
    options = {} if token is None else {"token": token}
    params = {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": options}
    return {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}


PATIENCE = 150
"""Seconds in which a client with the token is served; a busy machine takes some."""
CHATS = {"jsonrpc": "2.0", "id": 2, "method": "codelaw/chat/list", "params": {}}


async def exchanged(port: int, *sent: bytes, seconds: float = 5) -> bytes:
    """What the server says to bytes until it is silent or closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    said = b""
    try:
        with contextlib.suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(seconds):
                for data in sent:
                    writer.write(data)
                    await writer.drain()
                while data := await reader.read(65536):
                    said += data
                    if b'"id":2' in said.replace(b" ", b""):
                        break
    finally:
        writer.close()
    return said


def _answered(said: bytes) -> list[str]:
    return ["a stranger was answered"] if b'"chats"' in said or b'"serverInfo"' in said else []


def at(*sent: Callable[[], bytes], arguments: tuple[str, ...] = ("--tcp", "127.0.0.1:0")) -> Action:
    """Sends bytes as a stranger: no answer but a refusal, and not much memory; then a client with the token is served."""

    async def act(_: World) -> list[str]:
        async with serving(*arguments) as server:
            before = server.held
            found = _answered(await exchanged(server.port, *(one() for one in sent), seconds=3))
            if server.held - before > ROOM:
                found.append(f"a stranger made it hold {(server.held - before) >> 20} MiB")
            if arguments[0] == "--tcp":
                served = await exchanged(server.port, framed(greeting(server.token)), framed(CHATS), seconds=PATIENCE)
                if b'"chats"' not in served:
                    found.append(f"a client with the token is not served any more: {served[-200:]!r}")
            return found

    return act


def upgrade(*headers: str) -> bytes:
    key = base64.b64encode(os.urandom(16)).decode()
    lines = ["GET / HTTP/1.1", "Host: 127.0.0.1", "Upgrade: websocket", "Connection: Upgrade"]
    lines += [f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", *headers, "", ""]
    return "\r\n".join(lines).encode()


def frame(data: bytes) -> bytes:
    """A masked text frame."""
    size = bytes([0x81]) + (
        bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0xFE]) + struct.pack("!H", len(data))
        if len(data) < 65536 else bytes([0xFF]) + struct.pack("!Q", len(data))
    )  # fmt: skip
    return size + b"\0\0\0\0" + data


WS = ("--ws", "127.0.0.1:0")


async def _crowd(_: World) -> list[str]:
    async with serving("--tcp", "127.0.0.1:0") as server:
        opened = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(200)]
        for _reader, writer in opened:
            writer.write(b"Content-Length: 100000\r\n\r\n{")
        served = await exchanged(server.port, framed(greeting(server.token)), framed(CHATS), seconds=PATIENCE)
        for _reader, writer in opened:
            writer.close()
        return [] if b'"chats"' in served else ["nobody is served beside strangers that wait"]


async def _seen_in_list(_: World) -> list[str]:
    """The token that the server made is in no list of processes."""
    async with serving("--tcp", "127.0.0.1:0") as server:
        line = Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
        return ["the token stands in the list of processes"] if server.token.encode() in line else []


Sent = Callable[[], bytes]
TCP: dict[str, tuple[Sent, ...]] = {
    "no token": (lambda: framed(greeting()), lambda: framed(CHATS)),
    "a wrong token": (lambda: framed(greeting("wrong")), lambda: framed(CHATS)),
    "a token of another kind": (lambda: framed(greeting(True)), lambda: framed(CHATS)),
    "a list for a token": (lambda: framed(greeting(["x"])), lambda: framed(CHATS)),
    "no greeting": (lambda: framed(CHATS),),
    "a batch": (lambda: framed([greeting(), CHATS]),),
    "a large message": (lambda: b"Content-Length: 64000000\r\n\r\n" + b" " * 48_000_000,),
    "a large number of bytes that never come": (lambda: b"Content-Length: 999999999999\r\n\r\n{",),
    "an endless header": (lambda: b"X-Y: " + b"z" * 32_000_000,),
    "many headers": (lambda: b"X-Y: z\r\n" * 2_000_000,),
    "deep JSON": (lambda: b"Content-Length: 1000000\r\n\r\n" + b"[" * 1_000_000,),
    "a browser's request": (lambda: b"POST / HTTP/1.1\r\nHost: x.example\r\nOrigin: http://x.example\r\n" + framed(greeting()), lambda: framed(CHATS)),
    "a number with 4 000 digits": (lambda: b"Content-Length: " + b"9" * 4000 + b"\r\n\r\n",),
    "a negative length": (lambda: b"Content-Length: -5\r\n\r\n" + framed(CHATS),),
}  # fmt: skip
LISTENING: dict[str, tuple[Sent, ...]] = {
    "an origin": (lambda: upgrade("Origin: http://x.example"), lambda: frame(json.dumps(greeting()).encode()), lambda: frame(json.dumps(CHATS).encode())),
    "an origin of this machine": (lambda: upgrade("Origin: http://127.0.0.1"), lambda: frame(json.dumps(CHATS).encode())),
    "an origin of null": (lambda: upgrade("Origin: null"), lambda: frame(json.dumps(CHATS).encode())),
    "no token, by a web socket": (upgrade, lambda: frame(json.dumps(greeting()).encode()), lambda: frame(json.dumps(CHATS).encode())),
    "a large frame before the token": (upgrade, lambda: frame(b" " * 60_000_000)),
    "a large frame that never comes": (upgrade, lambda: frame(b" " * 60_000_000)[:40_000_000]),
    "many small frames before the token": (upgrade, lambda: frame(b" " * 1000) * 40_000),
}  # fmt: skip

LISTENERS: tuple[Attack, ...] = (
    *(row(f"a stranger by TCP: {name}", "server", at(*sent), f"connects to the TCP port with {name}", "listener", seconds=60) for name, sent in TCP.items()),
    *(
        row(f"a stranger by a web socket: {name}", "server", at(*sent, arguments=WS), f"connects to the web socket with {name}", "listener", seconds=60)
        for name, sent in LISTENING.items()
    ),
    row("a crowd of strangers", "server", _crowd, "200 connections that say half a message", "listener", seconds=60),
    row("the token in a list of processes", "server", _seen_in_list, "reads the command line of the server", "listener", seconds=60),
)  # fmt: skip
