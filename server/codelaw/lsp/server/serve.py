"""`codelaw serve`: the server over stdio, TCP or WebSocket, until its client, its parent or a signal ends it."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING, Any

from codelaw.lsp.client import Client
from codelaw.lsp.server.server import CodelawServer
from codelaw.lsp.transport.parent import process_gone
from codelaw.lsp.transport.stdio import PipeWire, closed_stream, read_pipe, take_stdio

if TYPE_CHECKING:
    from codelaw.lsp.sessions import OpenSession

log = logging.getLogger(__name__)

SWITCH_SECONDS = 0.0005
"""After which a thread that computes gives way to one that waits, above all to the event loop. Python's own 5 ms are
what the loop would wait for each time it has woken a thread."""
END_SECONDS = 1.7
"""From the reason to end until the process is gone, whatever hangs."""


def serve(
    *,
    tcp: str | None = None,
    ws: str | None = None,
    token: str | None = None,
    client_process_id: int | None = None,
    overrides: Mapping[str, Any] | None = None,
    open_session: OpenSession | None = None,
) -> int:
    """Serve until the end and give the exit status; stdio without `tcp` and `ws` (`HOST:PORT`, port 0 for any free).

    `overrides` are settings of the command line, nested or with dotted keys. Sockets need a token: `token`, or one
    that is made and printed on standard error, in a line `codelaw: listening tcp HOST:PORT token=…`.

    An address that cannot be listened on is told on standard error and gives 1; so are streams that are closed.

    Raises:
        ValueError: an address that is none.
    """
    _set_up_logging()
    sys.setswitchinterval(SWITCH_SECONDS)
    if tcp is None and ws is None:
        if (closed := closed_stream()) is not None:
            _say(f"{closed} is closed: there is nobody to serve")
            return 1
        return asyncio.run(_stdio(client_process_id, overrides or {}, open_session))
    addresses = [(kind, *split_address(value)) for kind, value in (("tcp", tcp), ("ws", ws)) if value is not None]
    return asyncio.run(_sockets(addresses, token, client_process_id, overrides or {}, open_session))


def split_address(address: str) -> tuple[str, int]:
    """`HOST:PORT`, `[::1]:PORT` or `:PORT` in its parts; without a host it is 127.0.0.1."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        message = f"{address!r} is not HOST:PORT"
        raise ValueError(message)
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


async def _stdio(client_process_id: int | None, overrides: Mapping[str, Any], open_session: OpenSession | None) -> int:
    loop = asyncio.get_running_loop()
    end = _End(loop)
    stdin, stdout = take_stdio()
    server = CodelawServer(on_exit=end, overrides=overrides, open_session=open_session)

    def broken(why: str) -> None:
        log.error("The connection is given up: %s", why)
        loop.call_soon_threadsafe(end, 1)

    wire = PipeWire(stdout, broken)
    server.rpc.wire = wire
    watching = _Parents(end)
    watching.add(client_process_id)

    def met(client: Client) -> None:
        watching.add(client.process_id)

    server.on_client = met
    # Ctrl-C in a terminal reaches the whole process group; there the client in front decides what it means.
    _on_signals(loop, end, interrupt=os.isatty(stdin))
    read_pipe(
        stdin, loop, server.rpc.receive, lambda: end(0 if server.rpc.state == "shutdown" else 1), lambda: end.bound(1)
    )
    status = await end.reached
    await server.close()
    await asyncio.to_thread(wire.close, 0.3)
    return status


async def _sockets(
    addresses: list[tuple[str, str, int]],
    token: str | None,
    client_process_id: int | None,
    overrides: Mapping[str, Any],
    open_session: OpenSession | None,
) -> int:
    from codelaw.lsp.server.sockets import Listener, is_loopback  # noqa: PLC0415 - not needed over stdio

    loop = asyncio.get_running_loop()
    end = _End(loop)
    _on_signals(loop, end, interrupt=True)
    _Parents(end).add(client_process_id)
    secret = token or secrets.token_urlsafe(24)

    def make_server(on_exit: Callable[[int], None], asked: str | None) -> CodelawServer:
        return CodelawServer(on_exit=on_exit, token=asked, overrides=overrides, open_session=open_session)

    listener = Listener(make_server, secret)
    servers: list[Any] = []
    for kind, host, port in addresses:
        if not is_loopback(host):
            _say(f"warning: {host} can be reached from other machines, and the connection is not encrypted")
        try:
            server, chosen = await (listener.tcp(host, port) if kind == "tcp" else listener.ws(host, port))
        except OSError as error:
            _say(f"cannot listen on {host}:{port}: {error}")
            return 1
        servers.append(server)
        shown = f"[{host}]" if ":" in host else host
        _say(f"listening {kind} {shown}:{chosen}" + ("" if token else f" token={secret}"))
    status = await end.reached
    for server in servers:
        server.close()
    await listener.close()
    return status


class _Parents:
    """The processes whose death is ours."""

    def __init__(self, end: Callable[[int], None]) -> None:
        self._end = end
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def add(self, process_id: int | None) -> None:
        if process_id is not None and process_id > 0 and process_id not in self._tasks:
            self._tasks[process_id] = asyncio.get_running_loop().create_task(self._watch(process_id))

    async def _watch(self, process_id: int) -> None:
        await process_gone(process_id)
        log.warning("The parent process %s is gone", process_id)
        self._end(1)


class _End:
    """The end of the process: called on the loop with its status; the first reason counts."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.reached: asyncio.Future[int] = loop.create_future()
        self._reasons: SimpleQueue[int] = SimpleQueue()
        threading.Thread(target=self._watch, name="codelaw-end", daemon=True).start()

    def __call__(self, status: int) -> None:
        if not self.reached.done():
            self.bound(status)
            self.reached.set_result(status)

    def bound(self, status: int) -> None:
        """End the process after a grace, whatever hangs: a thread, a handler, or the loop itself.

        From any thread.
        """
        self._reasons.put(status)

    def _watch(self) -> None:
        status = self._reasons.get()
        time.sleep(END_SECONDS)
        os._exit(self.reached.result() if self.reached.done() else status)


def _on_signals(loop: asyncio.AbstractEventLoop, end: _End, *, interrupt: bool) -> None:
    if sys.platform == "win32":
        return

    def ended(number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(end, 128 + number)

    def ignored(_number: int, _frame: FrameType | None) -> None:
        """Ctrl-C is the client's business."""

    ends = {signal.SIGTERM, *((signal.SIGINT,) if interrupt else ())}
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ended if number in ends else ignored)
    # A main thread that is held up in foreign code runs no handler. The number of the signal is written to the pipe all
    # the same, and a thread reads it there.
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def hear() -> None:
        while True:
            for number in os.read(reader, 64):
                if number in ends:
                    end.bound(128 + number)

    threading.Thread(target=hear, name="codelaw-signals", daemon=True).start()


def _say(line: str) -> None:
    sys.stderr.write(f"codelaw: {line}\n")
    sys.stderr.flush()


def _set_up_logging() -> None:
    """Warnings and errors on standard error. pygls would log whole messages."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("pygls").setLevel(logging.WARNING)
