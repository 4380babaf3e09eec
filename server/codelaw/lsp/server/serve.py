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
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING, Any

from codelaw.lsp.server.server import CodelawServer
from codelaw.lsp.transport.stdio import PipeReader, PipeWriter, closed_stream, take_stdio

if TYPE_CHECKING:
    from codelaw.lsp.server.server import OpenSession

log = logging.getLogger(__name__)

MakeServer = Callable[..., CodelawServer]
"""Makes the server of one connection, of `on_exit` and the `token` that `initialize` must carry."""

SWITCH_SECONDS = 0.0005
"""After which a thread that computes gives way to one that waits, above all to the event loop. Python's own 5 ms are
what the loop would wait for each time it has woken a thread."""
POLL_SECONDS = 0.5
"""Between two looks at the process that started us, where it cannot be waited for."""
END_SECONDS = 1.7
"""From the reason to end until the process is gone, whatever hangs."""


def serve(
    *,
    tcp: str | None = None,
    ws: str | None = None,
    token: str | None = None,
    client_process_id: int | None = None,
    open_session: OpenSession | None = None,
) -> int:
    """Serve until the end and give the exit status; stdio without `tcp` and `ws` (`HOST:PORT`, port 0 for any free).

    Sockets need a token: `token`, or one that is made and printed on standard error, in a line
    `codelaw: listening tcp HOST:PORT token=…`.

    An address that cannot be listened on is reported on standard error and gives 1; so are streams that are closed.

    Raises:
        ValueError: an address that is none.
    """
    _set_up_logging()
    sys.setswitchinterval(SWITCH_SECONDS)
    make_server = partial(CodelawServer, open_session=open_session)
    if tcp is None and ws is None:
        if (closed := closed_stream()) is not None:
            _say(f"{closed} is closed: there is nobody to serve")
            return 1
        return asyncio.run(_stdio(client_process_id, make_server))
    addresses = [(kind, *split_address(value)) for kind, value in (("tcp", tcp), ("ws", ws)) if value is not None]
    return asyncio.run(_sockets(addresses, token, client_process_id, make_server))


def split_address(address: str) -> tuple[str, int]:
    """`HOST:PORT`, `[::1]:PORT` or `:PORT` in its parts; without a host it is 127.0.0.1."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        message = f"{address!r} is not HOST:PORT"
        raise ValueError(message)
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


async def _stdio(client_process_id: int | None, make_server: MakeServer) -> int:
    loop = asyncio.get_running_loop()
    end = _End(loop)
    stdin, stdout = take_stdio()
    server = make_server(on_exit=end)

    def broken(why: str) -> None:
        log.error("The connection is given up: %s", why)
        loop.call_soon_threadsafe(end, 1)

    writer = PipeWriter(stdout, broken)
    server.rpc.send = writer.send
    end.with_process(client_process_id)
    server.on_client = lambda client: end.with_process(client.process_id)
    # Ctrl-C in a terminal reaches the whole process group; there the client in front decides what it means.
    _on_signals(loop, end, interrupt=os.isatty(stdin))
    reading = loop.create_task(server.rpc.serve(PipeReader(stdin, lambda: end.bound(1)).reader))
    reading.add_done_callback(lambda _: end(0 if server.rpc.state == "shutdown" else 1))
    status = await end.reached
    await server.close()
    await asyncio.to_thread(writer.close, 0.3)
    return status


async def _sockets(
    addresses: list[tuple[str, str, int]], token: str | None, client_process_id: int | None, make_server: MakeServer
) -> int:
    from codelaw.lsp.server.sockets import Listener, is_loopback  # noqa: PLC0415 - not needed over stdio

    loop = asyncio.get_running_loop()
    end = _End(loop)
    _on_signals(loop, end, interrupt=True)
    end.with_process(client_process_id)
    secret = token or secrets.token_urlsafe(24)
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


class _End:
    """The end of the process: called on the loop with its status; the first reason counts."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.reached: asyncio.Future[int] = loop.create_future()
        self._reasons: SimpleQueue[int] = SimpleQueue()
        self._watched: dict[int, asyncio.Task[None]] = {}
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

    def with_process(self, process_id: int | None) -> None:
        """End when that process does, our parent."""
        if process_id is not None and process_id > 0 and process_id not in self._watched:
            self._watched[process_id] = asyncio.get_running_loop().create_task(self._outlive(process_id))

    async def _outlive(self, process_id: int) -> None:
        await process_gone(process_id)
        log.warning("The parent process %s is gone", process_id)
        self(1)

    def _watch(self) -> None:
        status = self._reasons.get()
        time.sleep(END_SECONDS)
        os._exit(self.reached.result() if self.reached.done() else status)


async def process_gone(process_id: int) -> None:
    """Wait until the process has ended; not at all when there is none.

    On Windows it waits for ever: there the end of standard input tells.
    """
    if sys.platform == "win32":
        await asyncio.Event().wait()
    try:
        descriptor = os.pidfd_open(process_id)
    except ProcessLookupError:
        return
    except (AttributeError, OSError):
        await _poll(process_id)
        return
    gone = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(descriptor, gone.set)
    try:
        await gone.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


async def _poll(process_id: int) -> None:
    while True:
        try:
            os.kill(process_id, 0)
        except ProcessLookupError:
            return
        except PermissionError:
            pass  # it lives, and is not ours
        await asyncio.sleep(POLL_SECONDS)


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
