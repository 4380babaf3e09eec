"""Messages over TCP and WebSocket: every connection is a client of its own (V-3)."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from codelaw.lsp.server.server import CodelawServer
from codelaw.lsp.transport.framing import MAX_MESSAGE, Frames, Oversized, frame
from codelaw.lsp.transport.stdio import CHUNK, MAX_QUEUED

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

log = logging.getLogger(__name__)

MAX_CONNECTIONS = 32
MAX_UNKNOWN = 128 << 10
"""Bytes in all before the client has shown its token: an editor's `initialize` has a tenth of that."""
MAX_HANDSHAKES = 32
"""Connections that are not yet WebSockets."""
MAX_HEADERS, MAX_HEADER_LINE = 32, 2 << 10
"""Of a handshake, which comes before the token."""
HANDSHAKE_SECONDS = 5.0
INTRODUCTION_SECONDS = 10.0
"""How long a client may take to send `initialize`."""

MakeServer = Callable[[Callable[[int], None], str | None], CodelawServer]
"""Makes the server of one connection: what to call at its end, and the token that `initialize` must carry."""


class StreamWire:
    """Framed messages on a stream; a client that does not read is cut off."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    def send(self, body: bytes) -> None:
        if self._writer.is_closing():
            return
        if self._writer.transport.get_write_buffer_size() > MAX_QUEUED:
            log.error("A client has not read %s bytes; its connection is closed", MAX_QUEUED)
            self._writer.transport.abort()
            return
        self._writer.write(frame(body))


class SocketWire:
    """Messages on a WebSocket, sent in order by one task."""

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._queued = 0
        self._task = asyncio.get_running_loop().create_task(self._run())

    def send(self, body: bytes) -> None:
        if self._queued > MAX_QUEUED:
            log.error("A client has not read %s bytes; its connection is closed", MAX_QUEUED)
            self._socket.transport.abort()
            return
        self._queued += len(body)
        self._queue.put_nowait(body)

    async def drain(self) -> None:
        """Wait until all is sent, or cannot be."""
        self._queue.put_nowait(None)
        await asyncio.wait([self._task], timeout=1)

    async def _run(self) -> None:
        from websockets.exceptions import ConnectionClosed  # noqa: PLC0415 - loaded by who listens on a WebSocket

        while (body := await self._queue.get()) is not None:
            try:
                await self._socket.send(body.decode("ascii"))
            except ConnectionClosed:
                return
            self._queued -= len(body)


class Listener:
    """The connections of one listening socket."""

    def __init__(self, make_server: MakeServer, token: str) -> None:
        self._make_server = make_server
        self._token = token
        self._connections: dict[asyncio.Task[Any], CodelawServer] = {}

    async def tcp(self, host: str, port: int) -> tuple[asyncio.Server, int]:
        """Listen on TCP; gives the server and its port."""
        server = await asyncio.start_server(self._stream, host, port)
        return server, server.sockets[0].getsockname()[1]

    async def ws(self, host: str, port: int) -> tuple[Any, int]:
        """Listen on WebSocket; gives the server and its port."""
        from websockets import http11  # noqa: PLC0415 - 60 ms that other transports do not need
        from websockets.asyncio.server import serve  # noqa: PLC0415

        # Both are the library's own settings, which it otherwise reads from variables of the environment.
        setattr(http11, "MAX_NUM_HEADERS", MAX_HEADERS)  # noqa: B010
        setattr(http11, "MAX_LINE_LENGTH", MAX_HEADER_LINE)  # noqa: B010
        logging.getLogger("websockets").setLevel(logging.WARNING)
        server = await serve(
            self._socket,
            host,
            port,
            # A frame may come with the handshake, before anybody looks at its token.
            max_size=MAX_UNKNOWN,
            compression=None,
            process_request=self._admit,
            open_timeout=HANDSHAKE_SECONDS,
            ping_timeout=120,
            create_connection=_counted(MAX_HANDSHAKES),
        )
        return server, next(iter(server.sockets)).getsockname()[1]

    async def close(self) -> None:
        """End every connection and wait for it."""
        for task in list(self._connections):
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections, timeout=2)

    async def _stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._has_room():
            writer.close()
            return
        ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        server = self._make_server(_setter(ended), self._token)
        with _Registered(self._connections, server):
            server.rpc.wire = StreamWire(writer)
            await _converse(server, ended, _read_stream(server, reader))
            writer.close()

    async def _socket(self, socket: ServerConnection) -> None:
        ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        known = bool(_offered(socket.request))
        server = self._make_server(_setter(ended), None if known else self._token)
        with _Registered(self._connections, server):
            if known:
                _limit(socket, MAX_MESSAGE)
            wire = SocketWire(socket)
            server.rpc.wire = wire
            await _converse(server, ended, _read_socket(server, socket, known=known))
            await wire.drain()

    def _admit(self, socket: ServerConnection, request: Request) -> Response | None:
        """Refuse browsers, wrong tokens and crowds before the handshake."""
        if "Origin" in request.headers:
            return socket.respond(HTTPStatus.FORBIDDEN, "Requests from web pages are refused\n")
        offered = _offered(request)
        if offered and not hmac.compare_digest(offered.encode("utf-8", "replace"), self._token.encode()):
            return socket.respond(HTTPStatus.UNAUTHORIZED, "The token is wrong\n")
        if not self._has_room():
            return socket.respond(HTTPStatus.SERVICE_UNAVAILABLE, "Too many connections\n")
        return None

    def _has_room(self) -> bool:
        """Whether one more connection can be had; one that has not introduced itself makes room, the oldest first."""
        if len(self._connections) < MAX_CONNECTIONS:
            return True
        stranger = next((task for task, server in self._connections.items() if server.rpc.state == "new"), None)
        if stranger is None:
            return False
        del self._connections[stranger]
        stranger.cancel()
        return True


class _Registered:
    """Keeps the current task among the connections for as long as it runs."""

    def __init__(self, connections: dict[asyncio.Task[Any], CodelawServer], server: CodelawServer) -> None:
        self._connections = connections
        self._server = server
        self._task = asyncio.current_task()

    def __enter__(self) -> None:
        if self._task is not None:
            self._connections[self._task] = self._server

    def __exit__(self, *_: object) -> None:
        if self._task is not None:
            self._connections.pop(self._task, None)


def _setter(ended: asyncio.Future[int]) -> Callable[[int], None]:
    def set_once(status: int) -> None:
        if not ended.done():
            ended.set_result(status)

    return set_once


async def _converse(server: CodelawServer, ended: asyncio.Future[int], reading: Any) -> None:
    """Serve until the client leaves, says `exit`, or fails to introduce itself in time."""
    read = asyncio.ensure_future(reading)
    introduction = asyncio.get_running_loop().call_later(INTRODUCTION_SECONDS, _expect_initialized, server, ended)
    try:
        await asyncio.wait([read, ended], return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        log.debug("A connection is ended by the server")
    finally:
        introduction.cancel()
        read.cancel()
        await server.close()


def _expect_initialized(server: CodelawServer, ended: asyncio.Future[int]) -> None:
    if server.rpc.state == "new" and not ended.done():
        ended.set_result(1)


async def _read_stream(server: CodelawServer, reader: asyncio.StreamReader) -> None:
    frames = Frames(MAX_UNKNOWN)
    seen = 0
    try:
        while data := await reader.read(CHUNK):
            for item in frames.feed(data):
                server.rpc.receive(item)
                if server.rpc.state != "new":
                    frames.limit = MAX_MESSAGE
            if server.rpc.state == "new" and (seen := seen + len(data)) > MAX_UNKNOWN:
                _tell_too_much(server, seen)
                return
    except ConnectionError as error:
        log.info("A connection broke: %s", error)


async def _read_socket(server: CodelawServer, socket: ServerConnection, *, known: bool) -> None:
    from websockets.exceptions import ConnectionClosed  # noqa: PLC0415 - loaded by who listens on a WebSocket

    seen = 0
    try:
        async for message in socket:
            server.rpc.receive(message.encode() if isinstance(message, str) else message)
            if server.rpc.state != "new":
                _limit(socket, MAX_MESSAGE)
            elif not known and (seen := seen + len(message)) > MAX_UNKNOWN:
                _tell_too_much(server, seen)
                return
    except ConnectionClosed as error:
        log.info("A connection broke: %s", error)


def _tell_too_much(server: CodelawServer, seen: int) -> None:
    log.info("A connection is closed that has sent %s bytes without a token", seen)
    server.rpc.receive(Oversized(seen, b""))


def _counted(most: int) -> type[ServerConnection]:
    """Connections of which at most `most` are in their handshake: another one ends the oldest of them."""
    from websockets.asyncio.server import ServerConnection as Connection  # noqa: PLC0415 - as above

    opening: dict[Counted, None] = {}

    class Counted(Connection):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            if len(opening) >= most:
                oldest = next(iter(opening))
                del opening[oldest]
                oldest.transport.abort()
            opening[self] = None
            super().connection_made(transport)

        async def handshake(self, *arguments: Any, **more: Any) -> None:
            try:
                await super().handshake(*arguments, **more)
            finally:
                opening.pop(self, None)

        def connection_lost(self, exc: Exception | None) -> None:
            opening.pop(self, None)
            super().connection_lost(exc)

    return Counted


def _limit(socket: ServerConnection, size: int) -> None:
    """Take messages of at most `size` bytes from now on; the name depends on the library's version."""
    for name in ("max_message_size", "max_size"):
        if hasattr(socket.protocol, name):
            setattr(socket.protocol, name, size)


def _offered(request: Request | None) -> str:
    """The token of a handshake: `Authorization: Bearer …` or `?token=…`; empty without one."""
    if request is None:
        return ""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return parse_qs(urlsplit(request.path).query).get("token", [""])[0]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a listener on `host`."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
