"""Pages, from servers on loopback: bounded, judged at every hop (T-8, S-4, S-6)."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import socket
import time
import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from codelaw.adapters.processes.network.addresses import dial
from codelaw.adapters.web.fetching import MOST_BYTES, WebFetcher
from codelaw.domain.errors import ToolFailure
from codelaw.domain.safety.hosts import Address

LOOPBACK = ipaddress.ip_address("127.0.0.1")


@asynccontextmanager
async def serving(*answers: bytes) -> AsyncIterator[tuple[int, list[str]]]:
    """A server that gives one answer after another; its port, and what was asked."""
    asked: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(answers[min(len(asked), len(answers)) - 1])
        try:
            await writer.drain()
        except ConnectionError:
            return
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], asked


def said(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    return "\r\n".join((f"HTTP/1.1 {status}", *headers, "", "")).encode() + body


async def refused(fetcher: WebFetcher, url: str) -> tuple[str, str]:
    with pytest.raises(ToolFailure) as failure:
        await fetcher.fetch(url)
    return failure.value.code, failure.value.message


async def public(_: str) -> Sequence[Address]:
    return [ipaddress.ip_address("93.184.215.14")]


async def here(address: Address, port: int) -> socket.socket:
    """Connects to loopback, whatever the address."""
    del address
    return await dial(LOOPBACK, port)


async def test_a_page_is_fetched_whole_in_its_own_letters():
    page = said("Grüße".encode("latin-1"), "Content-Type: text/plain; charset=ISO-8859-1")
    async with serving(page) as (port, asked):
        found = await WebFetcher(network=True).fetch(f"http://127.0.0.1:{port}/a b?q=ü#top")
    assert (found.status, found.kind, found.text, found.cut) == (200, "text/plain", "Grüße", False)
    assert asked[0].startswith("GET /a%20b?q=%C3%BC HTTP/1.1\r\n")
    assert f"Host: 127.0.0.1:{port}\r\n" in asked[0]


async def test_chunks_are_joined_and_a_page_that_breaks_off_says_so():
    chunked = said(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", "Transfer-Encoding: chunked")
    short = said(b"abc", "Content-Length: 9")
    async with serving(chunked, short) as (port, _):
        fetcher = WebFetcher(network=True)
        assert (await fetcher.fetch(f"http://127.0.0.1:{port}/")).text == "abcde"
        found = await fetcher.fetch(f"http://127.0.0.1:{port}/")
    assert (found.text, found.cut) == ("abc", True)


async def test_an_endless_page_is_cut():
    async with serving(said(b"x" * (MOST_BYTES + 100_000))) as (port, _):
        found = await WebFetcher(network=True).fetch(f"http://127.0.0.1:{port}/")
    assert found.cut
    assert len(found.text) <= MOST_BYTES


async def test_a_page_that_is_packed_unasked_is_unpacked_within_bounds():
    packed = said(gzip.compress(b"hello"), "Content-Encoding: gzip")
    bomb = said(zlib.compress(bytes(20 * MOST_BYTES)), "Content-Encoding: deflate")
    strange = said(b"x", "Content-Encoding: br")
    broken = said(b"no such thing", "Content-Encoding: gzip")
    async with serving(packed, bomb, strange, broken) as (port, _):
        fetcher, url = WebFetcher(network=True), f"http://127.0.0.1:{port}/"
        assert (await fetcher.fetch(url)).text == "hello"
        found = await fetcher.fetch(url)
        assert (len(found.text), found.cut) == (MOST_BYTES, True)
        assert "it is 'br'" in (await refused(fetcher, url))[1]
        assert "cannot be unpacked" in (await refused(fetcher, url))[1]


@pytest.mark.parametrize("charset", ["punycode", "idna", "unicode_escape", "undefined", "nothing", "x" * 5_000])
async def test_only_letters_of_the_web_are_read(charset: str):
    # Python would take an hour for so much in the first of them.
    body = b"-" + b"a" * (MOST_BYTES - 10_000)
    async with serving(said(body, f"Content-Type: text/plain; charset={charset}")) as (port, _):
        assert (await WebFetcher(network=True).fetch(f"http://127.0.0.1:{port}/")).text == body.decode()


async def test_no_header_takes_long_to_read():
    for parameters in ('charset="' + ";" * 65_000, "charset*=punycode''" + "a" * 30_000 + "-" + "b" * 30_000):
        begun = time.process_time()
        async with serving(said(b"hello", f"Content-Type: text/html; {parameters}")) as (port, _):
            assert (await WebFetcher(network=True).fetch(f"http://127.0.0.1:{port}/")).text == "hello"
        assert time.process_time() - begun < 0.3


@pytest.mark.parametrize("answer", [b"SSH-2.0-hello\r\n", b"", said(b"", *(["A: b"] * 200))])
async def test_what_is_no_answer_of_the_web_is_told(answer: bytes):
    async with serving(answer) as (port, _):
        code, message = await refused(WebFetcher(network=True), f"http://127.0.0.1:{port}/")
    assert code == "EXECUTION_ERROR"
    assert "did not answer as the web does" in message


async def test_redirects_are_followed_and_end():
    async with serving(said(b"", "Location: /next", status="302 Found"), said(b"there")) as (port, asked):
        found = await WebFetcher(network=True).fetch(f"http://127.0.0.1:{port}/")
    assert (found.url, found.text) == (f"http://127.0.0.1:{port}/next", "there")
    assert len(asked) == 2
    async with serving(said(b"", "Location: /again", status="301 Moved")) as (port, asked):
        assert (await refused(WebFetcher(network=True), f"http://127.0.0.1:{port}/"))[0] == "EXECUTION_ERROR"
    assert len(asked) == 6


async def test_a_redirect_leads_to_no_server_of_this_machine_that_was_not_named():
    async with serving(said(b"inner")) as (inner, asked):
        to = [f"http://127.0.0.1:{inner}/", f"http://localhost:{inner}/", f"http://[::ffff:127.0.0.1]:{inner}/"]
        for target in (*to, "file:///etc/passwd", "http://169.254.169.254/latest/"):
            async with serving(said(b"", f"Location: {target}", status="302 Found")) as (port, _):
                outer = WebFetcher(network=True, resolve=public, connect=here)
                code, _ = await refused(outer, f"http://page.example:{port}/")
                assert code in {"ACCESS_DENIED", "INVALID_PARAM"}, target
        assert asked == []


@pytest.mark.parametrize(
    "address",
    [
        *("10.1.2.3", "127.0.0.1", "169.254.169.254", "fd00::1", "100.64.0.1", "64:ff9b::a00:1", "2002:a00:1::"),
        "::ffff:a00:1",
    ],
)
async def test_a_name_that_leads_to_a_private_address_is_refused(address: str):
    async def private(_: str) -> Sequence[Address]:
        return [ipaddress.ip_address(address)]

    code, message = await refused(WebFetcher(network=True, resolve=private), "http://page.example/")
    assert code == "ACCESS_DENIED"
    assert address in message
    if address != "127.0.0.1":
        url = f"http://[{address}]/" if ":" in address else f"http://{address}/"
        assert (await refused(WebFetcher(network=True), url))[0] == "ACCESS_DENIED"


async def test_a_list_of_hosts_lets_no_other_be_reached():
    async with serving(said(b"ok")) as (port, _):
        listed = WebFetcher((f"127.0.0.1:{port}",))
        assert (await listed.fetch(f"http://127.0.0.1:{port}/")).text == "ok"
        code, message = await refused(listed, "https://page.example/")
    assert (code, message) == ("ACCESS_DENIED", "tools.bash.network does not let page.example be reached.")


@pytest.mark.parametrize(
    "url", ["ftp://a.example/", "http://u:p@a.example/", "http://0x7f.1/", "http://a.example:99999/", "http:///x"]
)
async def test_what_is_no_address_of_the_web_is_refused(url: str):
    assert (await refused(WebFetcher(network=True), url))[0] == "INVALID_PARAM"
