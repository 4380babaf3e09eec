"""Messages over TCP and WebSocket: every connection is a client of its own (V-3)."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qs, urlsplit

from codelaw.lsp.transport.messages import MAX_MESSAGE, Incoming, framed, too_large
from codelaw.lsp.transport.stdio import MAX_QUEUED

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

    from codelaw.lsp.server.server import CodelawServer
    from codelaw.lsp.transport.rpc import Rpc

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
UNREAD = f"A client has not read {MAX_QUEUED} bytes; its connection is closed"


class SocketWriter:
    """Messages on a WebSocket, sent in order by one task."""

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._queued = 0
        self._task = asyncio.get_running_loop().create_task(self._run())

    def send(self, body: bytes) -> None:
        if self._queued > MAX_QUEUED:
            log.error(UNREAD)
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
    """The connections of one process."""

    def __init__(self, make_server: Callable[..., CodelawServer], token: str) -> None:
        self._make_server = make_server
        self._token = token
        self._connections: dict[asyncio.Task[Any], CodelawServer] = {}

    async def tcp(self, host: str, port: int) -> tuple[asyncio.Server, int]:
        """Listen on TCP; gives the server and its port."""

        def connected() -> asyncio.StreamReaderProtocol:
            reader = Incoming(MAX_UNKNOWN)
            return asyncio.StreamReaderProtocol(reader, lambda _, writer: self._stream(reader, writer))

        server = await asyncio.get_running_loop().create_server(connected, host, port)
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

    async def _stream(self, reader: Incoming, writer: asyncio.StreamWriter) -> None:
        def send(body: bytes) -> None:
            if writer.is_closing():
                return
            if writer.transport.get_write_buffer_size() > MAX_QUEUED:
                log.error(UNREAD)
                writer.transport.abort()
                return
            writer.write(framed(body))

        if self._has_room():
            await self._converse(self._token, send, lambda rpc: rpc.serve(reader))
        writer.close()

    async def _socket(self, socket: ServerConnection) -> None:
        known = bool(_offered(socket.request))
        if known:
            _limit(socket, MAX_MESSAGE)
        writer = SocketWriter(socket)
        token = None if known else self._token
        await self._converse(token, writer.send, lambda rpc: _read_socket(rpc, socket, known=known))
        await writer.drain()

    async def _converse(
        self, token: str | None, send: Callable[[bytes], None], read: Callable[[Rpc], Coroutine[Any, Any, None]]
    ) -> None:
        """Serve until the client leaves, says `exit`, or fails to introduce itself in time."""
        loop, task = asyncio.get_running_loop(), cast("asyncio.Task[Any]", asyncio.current_task())
        ended: asyncio.Future[int] = loop.create_future()

        def end(status: int) -> None:
            if not ended.done():
                ended.set_result(status)

        def expect_introduction() -> None:
            if server.rpc.state == "new":
                end(1)

        server = self._make_server(on_exit=end, token=token)
        server.rpc.send = send
        self._connections[task] = server
        reading = loop.create_task(read(server.rpc))
        introduction = loop.call_later(INTRODUCTION_SECONDS, expect_introduction)
        try:
            await asyncio.wait([reading, ended], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            log.debug("A connection is ended by the server")
        finally:
            introduction.cancel()
            reading.cancel()
            await server.close()
            self._connections.pop(task, None)

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


async def _read_socket(rpc: Rpc, socket: ServerConnection, *, known: bool) -> None:
    from websockets.exceptions import ConnectionClosed  # noqa: PLC0415 - loaded by who listens on a WebSocket

    seen = 0
    try:
        async for message in socket:
            rpc.receive(message.encode() if isinstance(message, str) else message)
            if rpc.state != "new":
                _limit(socket, MAX_MESSAGE)
            elif not known and (seen := seen + len(message)) > MAX_UNKNOWN:
                rpc.receive(too_large(seen))
                return
    except ConnectionClosed as error:
        log.info("A connection broke: %s", error)


def _counted(most: int) -> type[ServerConnection]:
    """Connections of which at most `most` are in their handshake: another one ends the oldest of them."""
    from websockets.asyncio.server import ServerConnection as Connection  # noqa: PLC0415 - as above

    opening: dict[CountedConnection, None] = {}

    class CountedConnection(Connection):
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

    return CountedConnection


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
