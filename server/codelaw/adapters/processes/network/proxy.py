"""The way to listed hosts, and to no others, for commands that have no network of their own (S-4).

A command in the sandbox has a network namespace to itself, where nothing but its own loopback device is. Before it
starts, `listening_child` opens a socket there and hands it out to us: what connects to it inside is accepted here. No
process of ours runs beside the command, nothing lies on the disk, and when the command has ended the socket is gone.

Understood are CONNECT and plain requests with a whole address. TLS is passed on as it is; at port 443 its greeting must
ask for the host that was named. What stands in the encrypted request cannot be seen: a host that serves others under
its own name serves them to commands, too.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import NamedTuple

from codelaw.adapters.processes.network.addresses import Dial, Resolve, Shut, SystemResolver, dial, usable
from codelaw.adapters.processes.network.asking import (
    ALERT,
    MOST_HEAD,
    BadRequest,
    NotTls,
    ProxyRequest,
    asked_name,
    read_head,
)
from codelaw.domain.safety.hosts import Address, HostRule, read_rules

MOST_REFUSED = 20
"""Refusals that are reported of one command."""
_TLS_PORT = 443
_CHUNK = 65_536
_REASONS = {400: "Bad Request", 403: "Forbidden", 408: "Request Timeout", 431: "Too Large", 502: "Bad Gateway"}


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """What one command may use, and how long anything may take, in seconds."""

    connections: int = 64
    """At once; others wait in the kernel."""
    head: float = 15.0
    """Until a request, or a greeting of TLS, is complete."""
    idle: float = 300.0
    """Without a byte in either direction."""
    farewell: float = 1.0
    """How long what a refused program still sends is read, so that it can read why."""


class Proxy:
    """Ways out for the commands of a session, each with its own list."""

    def __init__(
        self,
        *,
        resolve: Resolve | None = None,
        connect: Dial = dial,
        limits: ProxyLimits | None = None,
        most: int = 256,
    ) -> None:
        """`most` connections at once, of all commands together."""
        self.resolve = resolve or SystemResolver()
        self.connect = connect
        self.limits = limits or ProxyLimits()
        self.room = asyncio.Semaphore(most)

    @asynccontextmanager
    async def way(self, hosts: Sequence[str]) -> AsyncGenerator[ProxyWay]:
        """A way to `hosts`, entries of `tools.bash.network`, that is shut at the end of the block.

        Raises:
            OSError: there are no descriptors left.
        """
        way = ProxyWay(self, read_rules(hosts))
        try:
            yield way
        finally:
            await way.close()


class ProxyWay:
    """The way of one command. `channel` is a descriptor for it to send its listening socket by."""

    def __init__(self, proxy: Proxy, rules: Sequence[HostRule]) -> None:
        self._proxy = proxy
        self.rules = rules
        self._limits = proxy.limits
        self._rooms = (asyncio.Semaphore(proxy.limits.connections), proxy.room)
        self._tasks: set[asyncio.Task[None]] = set()
        self._fresh = set[socket.socket]()
        """Whose task has not begun yet: one that is cancelled before never closes them."""
        self._refused: dict[str, None] = {}
        self._ours, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._ours.setblocking(False)  # noqa: FBT003
        asyncio.get_running_loop().add_reader(self._ours, self._receive)

    @property
    def channel(self) -> int:
        return self._theirs.fileno()

    @property
    def refused(self) -> tuple[str, ...]:
        """What was refused, each once: `host:port: why`."""
        return tuple(self._refused)

    def listen(self, listener: socket.socket) -> None:
        """Take what connects to a listening socket, which becomes ours."""
        listener.setblocking(False)  # noqa: FBT003
        self._fresh.add(listener)
        self._keep(self._accept(listener))

    async def close(self) -> None:
        """End all connections at once."""
        asyncio.get_running_loop().remove_reader(self._ours)
        self._ours.close()
        self._theirs.close()
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for one in self._fresh:
            one.close()

    def _receive(self) -> None:
        """The one message of `listening_child`."""
        try:
            _, sent, _, _ = socket.recv_fds(self._ours, 1, 4, socket.MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return
        asyncio.get_running_loop().remove_reader(self._ours)
        for number, one in enumerate([socket.socket(fileno=descriptor) for descriptor in sent]):
            listens = one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
            if number == 0 and one.family == socket.AF_INET and one.type == socket.SOCK_STREAM and listens:
                self.listen(one)
            else:
                one.close()

    def _keep(self, work: Awaitable[None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        self._fresh.discard(listener)

        def leave(_: object) -> None:
            for room in self._rooms:
                room.release()

        with listener:
            while True:
                for room in self._rooms:
                    await room.acquire()
                try:
                    accepted, _ = await loop.sock_accept(listener)
                except BaseException as error:
                    leave(None)
                    if not isinstance(error, OSError):
                        raise
                    # No descriptors left, or the other side has gone already.
                    await asyncio.sleep(0.05)
                    continue
                self._fresh.add(accepted)
                self._keep(self._serve(accepted)).add_done_callback(leave)

    async def _serve(self, accepted: socket.socket) -> None:
        self._fresh.discard(accepted)
        client = await _Connection.of(accepted)
        try:
            await self._answer(client)
        except (OSError, asyncio.IncompleteReadError):
            return  # one of the two has gone, or says nothing more
        finally:
            client.writer.transport.abort()

    async def _answer(self, client: _Connection) -> None:
        try:
            async with asyncio.timeout(self._limits.head):
                head = await client.reader.readuntil(b"\r\n\r\n")
            asked = read_head(head)
        except TimeoutError:
            await self._say(client, 408, "the request was not complete in time")
        except asyncio.LimitOverrunError:
            await self._say(client, 431, f"the head of a request has at most {MOST_HEAD} bytes")
        except BadRequest as error:
            self._note(f"a request was refused: {error}")
            await self._say(client, 400, f"the request is not taken: {error}")
        else:
            await self._pass(client, asked)

    async def _pass(self, client: _Connection, asked: ProxyRequest) -> None:
        if not any(rule.allows(asked.host, asked.port) for rule in self.rules):
            self._note(f"{asked.place}: not in tools.bash.network")
            await self._say(client, 403, f"{asked.place} is not in tools.bash.network", asked.method)
            return
        reached = await self._reached(asked)
        if not isinstance(reached, socket.socket):
            await self._say(client, *reached, asked.method)
            return
        server = await _Connection.of(reached)
        try:
            if asked.tunnel:
                client.writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                if asked.port != _TLS_PORT or await self._greets(client, server, asked):
                    await _tunnel(client, server, self._limits.idle)
            else:
                server.writer.write(asked.head)
                await _tunnel(client, server, self._limits.idle, asked.body)
        finally:
            server.writer.transport.abort()

    async def _reached(self, asked: ProxyRequest) -> socket.socket | tuple[int, str]:
        """A connection to where a listed host leads, or the status and the reason to say."""
        try:
            found = await self._proxy.resolve(asked.host) if isinstance(asked.host, str) else ()
            addresses, why = usable(asked.host, found)
            if addresses or not why:
                return await self._first(addresses, asked.port)
        except Shut as error:
            why = str(error)
        except OSError as error:
            return 502, f"{asked.place} cannot be reached: {error}"
        self._note(f"{asked.place}: {why}")
        return 403, f"{asked.place} is not reached: {why}"

    async def _first(self, addresses: Sequence[Address], port: int) -> socket.socket:
        """A connection to the first of the addresses that takes one."""
        problem = OSError("its name leads to no address")
        for address in addresses:
            try:
                return await self._proxy.connect(address, port)
            except OSError as error:
                problem = error
        raise problem

    async def _greets(self, client: _Connection, server: _Connection, asked: ProxyRequest) -> bool:
        """Pass on a greeting of TLS that asks for the host which was named, and nothing else."""
        sent = b""
        try:
            async with asyncio.timeout(self._limits.head):
                while (name := asked_name(sent)) is None:
                    more = await client.reader.read(_CHUNK)
                    if not more:
                        return False
                    sent += more
            problem = _disagreement(name, asked.host)
        except NotTls as error:
            problem = str(error)
        if problem:
            self._note(f"{asked.place}: {problem}")
            client.writer.write(ALERT)
            await self._leave(client)
            return False
        server.writer.write(sent)
        return True

    def _note(self, refusal: str) -> None:
        if len(self._refused) < MOST_REFUSED:
            self._refused.setdefault(refusal)

    async def _say(self, client: _Connection, status: int, why: str, method: str = "GET") -> None:
        body = f"codelaw: {why}\n".encode()
        head = (
            f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        client.writer.write(head.encode() + (b"" if method == "HEAD" else body))
        await self._leave(client)

    async def _leave(self, client: _Connection) -> None:
        """End our side, and read what still comes for a moment: else the answer could be lost."""
        client.writer.write_eof()
        async with asyncio.timeout(self._limits.farewell):
            while await client.reader.read(_CHUNK):
                pass


class _Connection(NamedTuple):
    """Both directions of it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def of(cls, connected: socket.socket) -> _Connection:
        try:
            return cls(*await asyncio.open_connection(sock=connected, limit=MOST_HEAD))
        except BaseException:
            connected.close()
            raise


def _disagreement(name: str, host: str | Address) -> str:
    """What is wrong when TLS asks for `name` at `host`; an address has no name that it could agree with."""
    if not isinstance(host, str) or name.removesuffix(".") == host:
        return ""
    return f"TLS asks for {name[:253]!r}" if name else "TLS asks for no host by name"


async def _tunnel(client: _Connection, server: _Connection, idle: float, body: int | None = None) -> None:
    """Pass on both ways until both have ended, or nothing has come for `idle` seconds; of the client `body` bytes."""
    loop = asyncio.get_running_loop()
    last = loop.time()

    def beat() -> None:
        nonlocal last
        last = loop.time()

    there = asyncio.ensure_future(_pump(client.reader, server.writer, beat, body))
    back = asyncio.ensure_future(_pump(server.reader, client.writer, beat, None))
    both = {there, back}
    try:
        while both and (left := last + idle - loop.time()) > 0:
            done, both = await asyncio.wait(both, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                one.result()
            if body is not None and back.done():
                return  # the answer is complete, whatever was still to be sent
    finally:
        for one in (there, back):
            one.cancel()
        await asyncio.gather(there, back, return_exceptions=True)


async def _pump(
    source: asyncio.StreamReader, sink: asyncio.StreamWriter, beat: Callable[[], None], size: int | None
) -> None:
    left = size
    while left is None or left > 0:
        data = await source.read(_CHUNK if left is None else min(_CHUNK, left))
        if not data:
            break
        left = None if left is None else left - len(data)
        beat()
        sink.write(data)
        await sink.drain()
        beat()
    if size is None and sink.can_write_eof():
        sink.write_eof()
