"""The way to listed hosts: what passes, what does not, and how much of it there can be (S-4)."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from codelaw.adapters.processes.network.proxy import MOST_REFUSED, Proxy, ProxyLimits, ProxyWay
from tests.adapters.processes.networks import HOST, Internet, answering, certificate, echoing, server_tls

QUICK = ProxyLimits(head=0.3, idle=0.3, farewell=0.3)


class Inside:
    """What a command does: it connects to the proxy."""

    def __init__(self, way: ProxyWay, port: int) -> None:
        self.way = way
        self.port = port

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def ask(self, *lines: str, more: bytes = b"") -> bytes:
        """Everything that comes back until the end."""
        reader, writer = await self.connect()
        writer.write("\r\n".join([*lines, "", ""]).encode() + more)
        said = b""
        try:
            said = await reader.read(1 << 20)
            while data := await reader.read(1 << 20):
                said += data
        except ConnectionError:
            pass
        writer.close()
        return said

    async def tunnel(self, place: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await self.connect()
        writer.write(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        return reader, writer


@asynccontextmanager
async def inside(proxy: Proxy, hosts: Sequence[str]) -> AsyncGenerator[Inside]:
    async with proxy.way(hosts) as way:
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        way.listen(listener)
        yield Inside(way, port)


@pytest.fixture
def internet() -> Internet:
    return Internet()


async def test_a_tunnel_passes_bytes_both_ways_to_the_address_that_was_judged(internet: Internet):
    async with (
        internet.serving("api.example.org", 8443, echoing),
        inside(internet.proxy(), ["api.example.org:8443"]) as to,
    ):
        reader, writer = await to.tunnel("API.example.org.:8443")
        writer.write(b"x" * 300_000)
        assert await reader.readexactly(300_000) == b"x" * 300_000
        # The other side may answer after our end.
        writer.write(b"last")
        writer.write_eof()
        assert await reader.read() == b"last"
        writer.close()
        assert internet.dialled == [f"{HOST}:8443"]
        assert to.way.refused == ()


async def test_a_plain_request_is_passed_on_and_nothing_after_it(internet: Internet):
    """A second request would not have been judged."""
    seen: list[bytes] = []
    second = b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"
    async with (
        internet.serving("a.example", 80, answering(seen=seen)),
        inside(internet.proxy(), ["a.example"]) as to,
    ):
        request = ("POST http://a.example/x HTTP/1.1", "Host: a.example", "Content-Length: 3")
        said = await to.ask(*request, more=b"abc" + second)
        assert said.endswith(b"\r\n\r\nhello")
        assert said.count(b"HTTP/1.1 ") == 1
    assert seen == [
        b"POST /x HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc",
    ]


@pytest.mark.parametrize(
    ("place", "hosts"),
    [
        ("evil.example:443", ["a.example"]),
        ("a.example:22", ["a.example"]),
        ("a.example:443", ["*.a.example"]),
        ("localhost:80", ["a.example", "localhost:8080"]),
        ("[::ffff:127.0.0.1]:8080", ["127.0.0.1:8080"]),
        ("169.254.169.254:80", ["*.example"]),
    ],
)
async def test_what_is_not_listed_is_refused_with_the_reason_and_not_even_looked_up(
    internet: Internet, place: str, hosts: list[str]
):
    internet.names = {"evil.example": [[HOST]]}
    mapped = "::ffff:127.0.0.1"
    async with inside(internet.proxy(), hosts) as to:
        said = await to.ask(f"CONNECT {place} HTTP/1.1", f"Host: {place}")
        shown = place.replace("localhost.", "localhost").replace(mapped, str(ipaddress.ip_address(mapped)))
        assert said.startswith(b"HTTP/1.1 403 Forbidden\r\n")
        assert said.endswith(f"codelaw: {shown} is not in tools.bash.network\n".encode())
        assert to.way.refused == (f"{shown}: not in tools.bash.network",)
        assert internet.dialled == []


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("127.0.0.1", "this machine itself"),
        ("169.254.169.254", "a link-local address"),
    ],
)
async def test_a_listed_name_does_not_lead_to_this_machine_or_its_neighbours(
    internet: Internet, address: str, why: str
):
    internet.names = {"a.example": [[address]]}
    async with inside(internet.proxy(), ["a.example"]) as to:
        for request in (["CONNECT a.example:443 HTTP/1.1"], ["GET http://a.example/ HTTP/1.1", "Host: a.example"]):
            said = await to.ask(*request)
            assert said.startswith(b"HTTP/1.1 403 ")
            assert f"leads to {ipaddress.ip_address(address)}, {why}\n".encode() in said
        assert [text.partition(":")[0] for text in to.way.refused] == ["a.example", "a.example"]
        assert internet.dialled == []


async def test_a_name_that_changes_its_address_is_judged_each_time_and_once(internet: Internet):
    internet.names = {"a.example": [[HOST], ["127.0.0.1"]]}
    async with internet.serving("a.example", 80, answering()), inside(internet.proxy(), ["a.example"]) as to:
        request = ("GET http://a.example/ HTTP/1.1", "Host: a.example")
        assert (await to.ask(*request)).endswith(b"hello")
        assert (await to.ask(*request)).startswith(b"HTTP/1.1 403 ")
    assert internet.dialled == [f"{HOST}:80"]


async def test_what_cannot_be_reached_says_why_and_is_no_refusal(internet: Internet):
    internet.names = {"down.example": [[HOST]]}
    async with inside(internet.proxy(), ["*.example"]) as to:
        said = [await to.ask(f"CONNECT {name}.example:443 HTTP/1.1") for name in ("unknown", "down")]
        assert to.way.refused == ()
    assert [text.partition(b"\r\n")[0] for text in said] == [b"HTTP/1.1 502 Bad Gateway"] * 2
    assert said[0].endswith(b"codelaw: unknown.example:443 cannot be reached: the name is not known\n")
    assert said[1].endswith(b"codelaw: down.example:443 cannot be reached: nobody listens there\n")


async def test_refusals_are_named_once_and_not_without_end(internet: Internet):
    async with inside(internet.proxy(), ["a.example"]) as to:
        for number in range(MOST_REFUSED + 5):
            for _ in range(2):
                await to.ask(f"CONNECT h{number}.example:443 HTTP/1.1")
        assert to.way.refused == tuple(f"h{number}.example:443: not in tools.bash.network" for number in range(20))


async def test_a_request_that_is_not_taken_says_why(internet: Internet):
    async with inside(internet.proxy(), ["a.example"]) as to:
        said = await to.ask("GET http://a.example/ HTTP/1.1", "Host: a.example", "Host: evil.example")
        assert said.startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert to.way.refused == ("a request was refused: it has more than one field Host",)
        said = await to.ask("HEAD http://evil.example/ HTTP/1.1", "Host: evil.example")
        assert said.endswith(b"\r\n\r\n")  # an answer to HEAD has no body
        said = await to.ask("GET http://a.example/ HTTP/1.1", "Host: a.example", "X: " + "y" * 40_000)
        assert said.startswith(b"HTTP/1.1 431 ")
        assert internet.dialled == []


async def test_a_head_that_does_not_end_is_not_waited_for(internet: Internet):
    async with inside(internet.proxy(QUICK), ["a.example"]) as to:
        reader, writer = await to.connect()
        writer.write(b"CONNECT a.example:443 HTTP/1.1\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 408 ")
        writer.close()


async def test_a_connection_on_which_nothing_is_said_ends(internet: Internet):
    async with (
        internet.serving("a.example", 22, echoing),
        inside(internet.proxy(QUICK), ["a.example:22"]) as to,
    ):
        reader, writer = await to.tunnel("a.example:22")
        writer.write(b"x")
        assert await reader.readexactly(1) == b"x"
        assert await ended(reader)
        writer.close()


async def ended(reader: asyncio.StreamReader) -> bool:
    """Waits for the end of a connection, however it comes."""
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True


async def test_no_more_connections_than_some_are_served_at_once(internet: Internet):
    limits = ProxyLimits(connections=4)
    before = descriptors()
    async with internet.serving("a.example", 22, echoing), inside(internet.proxy(limits), ["a.example:22"]) as to:
        held = [await to.tunnel("a.example:22") for _ in range(4)]
        waiting = [await to.connect() for _ in range(50)]
        for _, writer in waiting:
            writer.write(b"CONNECT a.example:22 HTTP/1.1\r\n\r\n")
        await asyncio.sleep(0.1)
        assert internet.dialled == [f"{HOST}:22"] * 4
        for _, writer in held:
            writer.close()
        said = [await waiting[number][0].readuntil(b"\r\n\r\n") for number in range(4)]
        assert all(text.startswith(b"HTTP/1.1 200 ") for text in said)
        for _, writer in waiting:
            writer.transport.abort()
    assert await settles(lambda: descriptors() <= before)


async def test_who_does_not_read_is_not_stored_for(internet: Internet):
    sent = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readexactly(1)
        while True:
            writer.write(b"x" * 65_536)
            await writer.drain()
            sent += 65_536

    async with internet.serving("a.example", 22, flood), inside(internet.proxy(), ["a.example:22"]) as to:
        _, writer = await to.tunnel("a.example:22")
        writer.write(b"x")
        last = 0
        while not sent or sent != last:
            last = sent
            await asyncio.sleep(0.2)
        assert 0 < sent < 64 << 20  # what the kernel holds for two connections, and no more
        writer.close()


async def test_the_end_of_a_command_ends_its_connections_at_once(internet: Internet):
    over = asyncio.Event()

    async def waits(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.read()
        finally:
            over.set()

    before = descriptors()
    async with internet.serving("a.example", 22, waits):
        async with inside(internet.proxy(), ["a.example:22"]) as to:
            reader, writer = await to.tunnel("a.example:22")
            half, other = await to.connect()
        assert await ended(reader)
        assert await ended(half)
        await over.wait()
        writer.close()
        other.close()
        with pytest.raises(ConnectionRefusedError):
            await to.connect()
    assert await settles(lambda: descriptors() <= before)


@pytest.mark.needs("openssl")
async def test_tls_is_passed_on_unopened_where_it_asks_for_the_host(internet: Internet, tmp_path: Path):
    file = certificate(tmp_path, "api.example.org")
    trusting = ssl.create_default_context(cafile=str(file))
    async with (
        internet.serving("api.example.org", 443, answering(), server_tls(file)),
        inside(internet.proxy(), ["api.example.org"]) as to,
    ):
        reader, writer = await to.tunnel("api.example.org:443")
        await writer.start_tls(trusting, server_hostname="api.example.org")
        writer.write(b"GET / HTTP/1.1\r\nHost: api.example.org\r\n\r\n")
        assert (await reader.read()).endswith(b"hello")
        writer.close()
        assert to.way.refused == ()


@pytest.mark.needs("openssl")
@pytest.mark.parametrize(
    ("name", "why"),
    [("evil.example", "TLS asks for 'evil.example'"), (None, "TLS asks for no host by name")],
)
async def test_tls_that_asks_for_another_host_is_refused(
    internet: Internet, tmp_path: Path, name: str | None, why: str
):
    got: list[bytes] = []

    async def listens(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.append(await reader.read())

    lax = ssl.create_default_context()
    lax.check_hostname = False
    lax.verify_mode = ssl.CERT_NONE
    async with (
        internet.serving("api.example.org", 443, listens),
        inside(internet.proxy(), ["api.example.org"]) as to,
    ):
        reader, writer = await to.tunnel("api.example.org:443")
        outgoing, incoming = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = lax.wrap_bio(incoming, outgoing, server_hostname=name)
        with pytest.raises(ssl.SSLWantReadError):
            client.do_handshake()
        writer.write(outgoing.read())
        async with asyncio.timeout(150):
            incoming.write(await reader.read())
        with pytest.raises(ssl.SSLError, match=r"(?i)access.denied"):
            client.do_handshake()
        writer.close()
        assert to.way.refused == (f"api.example.org:443: {why}",)
        assert await settles(lambda: got == [b""])


async def test_only_a_socket_that_listens_on_a_network_is_taken(internet: Internet):
    """The one who sends it is inside the sandbox."""
    before = descriptors()
    async with internet.proxy().way(["a.example"]) as way:
        others = [socket.socket(), socket.socket(socket.AF_UNIX), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)]
        others[1].bind("")
        others[1].listen()
        for one in others:
            async with internet.proxy().way(["a.example"]) as other:
                with socket.socket(fileno=os.dup(other.channel)) as channel:
                    socket.send_fds(channel, [b"x"], [one.fileno(), one.fileno()])
                await asyncio.sleep(0.01)
                assert other._tasks == set()
            one.close()
        assert way._tasks == set()
    assert descriptors() <= before


def descriptors() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


async def settles(holds) -> bool:
    for _ in range(15000):
        if holds():
            return True
        await asyncio.sleep(0.01)
    return False
