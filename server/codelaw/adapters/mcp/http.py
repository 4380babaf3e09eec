"""HTTP with an end: no answer of a server is read without a bound (S-6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from http import HTTPStatus

import httpx2

from codelaw.adapters.certificates import trusted
from codelaw.adapters.mcp.lines import LINE_BYTES, mended, too_rich
from codelaw.adapters.mcp.means import ASK, NeedsAuth, ServerFailure
from codelaw.domain.served import Address

CONNECT_SECONDS = 15.0
READ_SECONDS = 300.0
"""Without a byte, of a stream that is open."""


class TooMuch(httpx2.StreamError):
    """An answer that is too large to be read."""


async def client_for(address: Address, auth: httpx2.Auth | None = None) -> httpx2.AsyncClient:
    """A client for one server; `auth` logs in where the server asks for it."""
    # Modules and certificates are read from the disk.
    inner = await asyncio.to_thread(lambda: httpx2.AsyncHTTPTransport(verify=trusted()))
    return httpx2.AsyncClient(
        headers={"accept-encoding": "identity", **address.headers},
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS),
        auth=auth,
        transport=Bounded(inner, known=auth is not None),
    )


class Bounded(httpx2.AsyncBaseTransport):
    """Ends answers that are too large, and those that would grow when they are unpacked."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, *, known: bool) -> None:
        """`known` says that somebody else sees to it when the server wants to know who we are."""
        self._inner = inner
        self._known = known

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if response.status_code == HTTPStatus.UNAUTHORIZED and not self._known:
            await response.aclose()
            if "authorization" in request.headers:
                raise ServerFailure("It does not take the key that it is sent.")
            raise NeedsAuth(ASK)
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
            del response.headers["content-encoding"]
            response.stream = _Refused(_stream(response), "The server packs its answers, which was not asked for.")
        elif response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            response.stream = _Lines(_stream(response))
        else:
            response.stream = _Whole(_stream(response))
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def _stream(response: httpx2.Response) -> httpx2.AsyncByteStream:
    assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - narrowing
    return response.stream


class _Refused(httpx2.AsyncByteStream):
    """A body that nobody is to read."""

    def __init__(self, inner: httpx2.AsyncByteStream, why: str) -> None:
        self._inner = inner
        self._why = why

    async def __aiter__(self) -> AsyncIterator[bytes]:
        raise TooMuch(self._why)
        yield b""

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Whole(httpx2.AsyncByteStream):
    """A body that is handed on when all of it has come, if it is not too much."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        body = bytearray()
        async for part in self._inner:
            body += part
            if len(body) > LINE_BYTES:
                raise TooMuch("The server sent more in one answer than can be read.")
        whole = bytes(body)
        if too_rich(whole):
            raise TooMuch("The server sent more in one answer than can be read.")
        yield mended(whole)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Lines(httpx2.AsyncByteStream):
    """A stream of events, handed on line by line, each mended."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        held = bytearray()
        async for part in self._inner:
            end = max(part.rfind(b"\n"), part.rfind(b"\r")) + 1
            held += part[:end]
            if end:
                yield mended(bytes(held))
                held.clear()
            held += part[end:]
            if len(held) > LINE_BYTES:
                raise TooMuch("The server sent more in one answer than can be read.")
        yield mended(bytes(held))

    async def aclose(self) -> None:
        await self._inner.aclose()
