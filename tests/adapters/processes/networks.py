"""A small internet on the loopback device, for tests of what commands reach.

Names lead to addresses that are kept for documentation, as those of real hosts lead to public ones: what is judged is
what would be judged. Only the last step, the connection to such an address, ends at a server of the test's.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import ssl
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from codelaw.adapters.processes.network.proxy import Proxy, ProxyLimits
from codelaw.domain.safety.hosts import Address

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
HOST = "192.0.2.10"


class Internet:
    """`names` has the addresses of a name, one list for each time that it is asked for, the last one for good."""

    def __init__(self) -> None:
        self.names: dict[str, list[list[str]]] = {}
        self.dialled: list[str] = []
        self._servers: dict[tuple[str, int], int] = {}

    async def resolve(self, name: str) -> Sequence[Address]:
        answers = self.names.get(name)
        if answers is None:
            raise OSError("the name is not known")
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        return [ipaddress.ip_address(one) for one in answer]

    async def connect(self, address: Address, port: int) -> socket.socket:
        self.dialled.append(f"{address}:{port}")
        real = self._servers.get((str(address), port))
        if real is None:
            raise ConnectionRefusedError("nobody listens there")
        made = socket.socket()
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", real))
        return made

    def proxy(self, limits: ProxyLimits | None = None) -> Proxy:
        return Proxy(resolve=self.resolve, connect=self.connect, limits=limits)

    @asynccontextmanager
    async def serving(
        self, name: str, port: int, handler: Handler, tls: ssl.SSLContext | None = None
    ) -> AsyncGenerator[None]:
        """A server at a name and a port, as long as the block lasts."""
        self.names.setdefault(name, [[HOST]])

        async def handled(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await handler(reader, writer)
            writer.close()

        server = await asyncio.start_server(handled, "127.0.0.1", 0, ssl=tls)
        self._servers[HOST, port] = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()


def answering(body: bytes = b"hello", seen: list[bytes] | None = None) -> Handler:
    """Answers one request of HTTP; `seen` gets its head and its body."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            (
                int(line.partition(b":")[2])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length")
            ),
            0,
        )
        head += await reader.readexactly(length)
        if seen is not None:
            seen.append(head)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()

    return handle


async def echoing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()


def certificate(folder: Path, name: str) -> Path:
    """A file with a certificate that signs itself, and its key; made for one test run."""
    file = folder / f"{name}.pem"
    line = f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN={name}"
    line += f" -addext subjectAltName=DNS:{name} -keyout {folder}/key -out {folder}/cert"
    subprocess.run(line.split(), check=True, capture_output=True)
    file.write_text((folder / "key").read_text() + (folder / "cert").read_text())
    return file


def server_tls(file: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context
