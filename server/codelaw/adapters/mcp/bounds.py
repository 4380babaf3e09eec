"""What of a server's bytes and messages is let in, before the package makes anything of it (S-6)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from http import HTTPStatus
from itertools import islice
from typing import Any, cast

import anyio
import httpx2
from mcp.client.auth.utils import extract_field_from_www_auth
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCRequest, JSONRPCResponse, Prompt, Resource, Tool

from codelaw.adapters.loading import trusted
from codelaw.adapters.mcp.means import ASK, NeedsAuth, ServerFailure
from codelaw.adapters.mcp.questions import QUESTIONS
from codelaw.adapters.models.endpoints import too_rich
from codelaw.domain.served import Address
from codelaw.tools.served.limits import BLOCKS, TOOLS, fits

LINE_BYTES = 8_000_000
"""Of one message: five megabytes of an image, as text, and what stands around it."""
_RUN_OR_HALF = re.compile(
    rb"((?:[^\\]++|\\(?!u[dD][89a-fA-F]).|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?!))++)"
    rb"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}",
    re.DOTALL,
)
"""Of JSON, a run without half a character that stands alone, or such a half.

The last alternative of the run matches nothing: before Python 3.11.5 the loop would keep what another had read before
it failed.
"""
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_MOST_PARTS = 20_000
OPEN = 64
"""Requests of a server that wait for an answer; more are not heard."""
RATE = 2_000.0
"""Messages a second that are read for long; sixteen kilobytes count as one more."""
_MOST = {
    **dict.fromkeys(("tools", "prompts", "resources"), TOOLS),
    **dict.fromkeys(("content", "contents", "messages"), BLOCKS),
}
"""Of the lists in a result."""
_Shape = Tool | Prompt | Resource
_SHAPES: dict[str, type[_Shape]] = {"prompts": Prompt, "resources": Resource}


def mended(text: bytes) -> bytes:
    """A JSON text with U+FFFD for halves of characters, and for bytes that are none: programs cut texts anywhere."""
    known = text.decode("utf-8", "replace").encode()
    if _HALF.search(known) is None:
        return known
    return _RUN_OR_HALF.sub(lambda match: match[1] or rb"\ufffd", known, count=_MOST_PARTS)


class Admission:
    """Of the messages of one connection."""

    def __init__(self) -> None:
        self._open = 0
        self._credit = RATE
        self._counted = anyio.current_time()

    async def pace(self, size: int) -> None:
        """Wait for as long as a message of this many bytes comes too early, so that others have their turn."""
        now = anyio.current_time()
        self._credit = min(RATE, self._credit + (now - self._counted) * RATE)
        self._counted = now
        self._credit -= 1 + size / 16_384
        if self._credit < 0:
            await anyio.sleep(-self._credit / RATE)

    def lets_in(self, message: JSONRPCMessage) -> bool:
        """Whether it is to be heard; a result is cut down to what will be looked at."""
        if isinstance(message, JSONRPCResponse):
            _trim(message.result)
        if isinstance(message, JSONRPCRequest):
            if self._open == OPEN:
                return False
            self._open += 1
        return True

    def sent(self, message: JSONRPCMessage) -> None:
        """A message of ours has left."""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._open = max(0, self._open - 1)


def _trim(result: dict[str, Any]) -> None:
    for key, most in _MOST.items():
        found: object = result.get(key)
        if not isinstance(found, list):
            continue
        listed = cast("list[object]", found)
        del listed[most + 1 :]
        if key == "tools":
            result[key] = [_tool(tool) for tool in listed]
        elif (shape := _SHAPES.get(key)) is not None:
            # One that the package would not take would cost it the others.
            result[key] = [one for one in listed if _read(shape, one)]
    asked: object = result.get("inputRequests")
    if isinstance(asked, dict):
        result["inputRequests"] = dict(islice(cast("dict[str, object]", asked).items(), QUESTIONS))


def _tool(found: object) -> dict[str, Any]:
    """A tool as it is let in: one that nobody could use costs the list no other, and is left out later."""
    tool = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    # Judging results by it would let the server choose patterns that take for ever.
    tool.pop("outputSchema", None)
    known = _read(Tool, tool)
    can_be_told = isinstance(known, Tool) and fits(known.name, known.description or "", known.input_schema)
    return tool if can_be_told else {"name": "", "inputSchema": {"type": "object"}}


def _read(shape: type[_Shape], found: object) -> _Shape | None:
    try:
        return shape.model_validate(found, by_name=False)
    except ValueError:
        return None


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
        transport=Bounded(inner, address, known=auth is not None),
    )


class Bounded(httpx2.AsyncBaseTransport):
    """Ends answers that are too large, and those that would grow when they are unpacked.

    A login stays encrypted where the server is. Who lets people in is asked of the server's own origin alone, where
    RFC 9728 (3.1) has it.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, address: Address, *, known: bool) -> None:
        """`known` says that somebody else sees to it when the server wants to know who we are."""
        self._inner = inner
        self._own = httpx2.URL(address.url)
        self._known = known

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self._own.scheme == "https" and request.url.scheme != "https":
            raise ServerFailure(f"Its login leads to {request.url.host}, and is not encrypted there.")
        response = await self._inner.handle_async_request(request)
        if response.status_code == HTTPStatus.UNAUTHORIZED and not self._known:
            await response.aclose()
            if "authorization" in request.headers:
                raise ServerFailure("It does not take the key that it is sent.")
            raise NeedsAuth(ASK)
        named = response.headers.get("www-authenticate", "")
        if _METADATA in named and not _is_at(extract_field_from_www_auth(response, _METADATA), self._own):
            response.headers["www-authenticate"] = named.replace(_METADATA, "elsewhere")
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - narrowing
        packed = response.headers.pop("content-encoding", "identity").strip().lower() not in ("identity", "")
        in_lines = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        response.stream = _Body(response.stream, packed=packed, in_lines=in_lines)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


_METADATA = "resource_metadata"


def _is_at(url: str | None, own: httpx2.URL) -> bool:
    try:
        found = httpx2.URL(url or "")
    except httpx2.InvalidURL:
        return False
    return (found.scheme, found.host, found.port) == (own.scheme, own.host, own.port)


class _Body(httpx2.AsyncByteStream):
    """A body that is read within bounds, and mended: line by line, or as a whole."""

    def __init__(self, inner: httpx2.AsyncByteStream, *, packed: bool, in_lines: bool) -> None:
        self._inner = inner
        self._packed = packed
        self._in_lines = in_lines

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._packed:
            raise TooMuch("The server packs its answers, which was not asked for.")
        held = bytearray()
        async for part in self._inner:
            end = max(part.rfind(b"\n"), part.rfind(b"\r")) + 1 if self._in_lines else 0
            held += part[:end]
            if end:
                yield _known(held)
                held.clear()
            held += part[end:]
            if len(held) > LINE_BYTES:
                raise TooMuch(_TOO_MUCH)
        yield _known(held)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _known(held: bytearray) -> bytes:
    if too_rich(text := bytes(held)):
        raise TooMuch(_TOO_MUCH)
    return mended(text)
