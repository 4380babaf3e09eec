"""HTTP with an end: no answer of a server is read without a bound (S-6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus

import httpx2

from codelaw.adapters.loading import trusted
from codelaw.adapters.mcp.bounds import LINE_BYTES, mended
from codelaw.adapters.mcp.means import ASK, NeedsAuth, ServerFailure
from codelaw.adapters.models.endpoints import too_rich
from codelaw.domain.served import Address

CONNECT_SECONDS = 15.0
READ_SECONDS = 300.0
"""Without a byte, of a stream that is open."""
_TOO_MUCH = "The server sent more in one answer than can be read."


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
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - narrowing
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
            del response.headers["content-encoding"]
            response.stream = _Body(response.stream, _refused)
        elif response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            response.stream = _Body(response.stream, _lines)
        else:
            response.stream = _Body(response.stream, _whole)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Body(httpx2.AsyncByteStream):
    """A body that is read within bounds."""

    def __init__(
        self, inner: httpx2.AsyncByteStream, read: Callable[[httpx2.AsyncByteStream], AsyncIterator[bytes]]
    ) -> None:
        self._inner = inner
        self._read = read

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._read(self._inner)

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _refused(_: httpx2.AsyncByteStream) -> AsyncIterator[bytes]:
    raise TooMuch("The server packs its answers, which was not asked for.")
    yield b""


async def _whole(inner: httpx2.AsyncByteStream) -> AsyncIterator[bytes]:
    """All of it, when it has come, if it is not too much."""
    body = bytearray()
    async for part in inner:
        body += part
        if len(body) > LINE_BYTES:
            raise TooMuch(_TOO_MUCH)
    if too_rich(whole := bytes(body)):
        raise TooMuch(_TOO_MUCH)
    yield mended(whole)


async def _lines(inner: httpx2.AsyncByteStream) -> AsyncIterator[bytes]:
    """A stream of events, line by line, each mended."""
    held = bytearray()
    async for part in inner:
        end = max(part.rfind(b"\n"), part.rfind(b"\r")) + 1
        held += part[:end]
        if end:
            yield mended(bytes(held))
            held.clear()
        held += part[end:]
        if len(held) > LINE_BYTES:
            raise TooMuch(_TOO_MUCH)
    yield mended(bytes(held))
