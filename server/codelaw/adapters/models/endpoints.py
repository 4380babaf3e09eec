"""What is demanded of every HTTP endpoint, whoever runs it: plain, bounded answers from the place that was asked (S-6).

The endpoint is the user's choice, and their key goes with every request: it is neither trusted with our memory nor
followed to another place.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from codelaw.adapters.models.unreachable import place_of

if TYPE_CHECKING:
    from httpx2 import AsyncByteStream, Request, Response

LARGEST_ERROR = 64 << 10
"""Bytes of an error's body that are read; the rest is left unread."""
EVENT_STREAM = "text/event-stream"
Hook = Callable[[Any], Awaitable[None]]


class Misbehaved(Exception):
    """An endpoint does what no endpoint may; asking it again is of no use."""


def guards(largest: int, setting: str) -> dict[str, list[Hook]]:
    """The event hooks of a client: answers have at most `largest` bytes, streams of events excepted.

    Neither compressed answers nor redirects are taken: a redirect's message names the `setting` to mend. The client
    must not follow redirects itself, which it would do after the hook.
    """

    async def ask(request: Request) -> None:
        request.headers["accept-encoding"] = "identity"

    async def check(response: Response) -> None:
        place = place_of(str(response.request.url))
        if 300 <= response.status_code < 400:
            raise Misbehaved(f"{place} answered {response.status_code} {_elsewhere(response, setting)}")
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity"):
            message = f"{place} answered with compressed data ({encoding[:40]}), which was not asked for"
            raise Misbehaved(f"{message} and is not unpacked.")
        whole = _Bounded(response.stream, LARGEST_ERROR, None)  # pyright: ignore[reportArgumentType] - an async client's
        if response.is_success:
            if response.headers.get("content-type", "").startswith(EVENT_STREAM):
                return  # who reads it event by event counts its bytes
            message = f"{place} answered with more than {largest} bytes, which is not an answer of its kind."
            whole = _Bounded(response.stream, largest, message)  # pyright: ignore[reportArgumentType]
        response.stream = whole.as_stream()

    return {"request": [ask], "response": [check]}


def _elsewhere(response: Response, setting: str) -> str:
    location = response.headers.get("location", "")
    if not location:
        return f"and has no answer there; set {setting} to where it really is."
    try:
        target = place_of(urljoin(str(response.request.url), location))
    except ValueError:
        target = "an address that cannot be read"
    return (
        f"and sends us elsewhere, to {target}: it is not followed, since the key would go along. "
        f"Set {setting} to where it really is, if you trust that place."
    )


class _Bounded:
    """A body of at most `most` bytes; what is more raises `message`, or without one is cut off."""

    def __init__(self, body: AsyncByteStream, most: int, message: str | None) -> None:
        self._body = body
        self._most = most
        self._message = message

    def as_stream(self) -> AsyncByteStream:
        from httpx2 import AsyncByteStream  # noqa: PLC0415 - heavy; loaded by now

        outer = self

        class Stream(AsyncByteStream):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                async for piece in outer.pieces():
                    yield piece

            async def aclose(self) -> None:
                await outer.close()

        return Stream()

    async def pieces(self) -> AsyncIterator[bytes]:
        left = self._most
        async for piece in self._body:
            if len(piece) > left:
                if self._message is not None:
                    raise Misbehaved(self._message)
                yield piece[:left]
                return
            left -= len(piece)
            yield piece
            # Others shall have their turn, however fast this one sends.
            await asyncio.sleep(0)

    async def close(self) -> None:
        await self._body.aclose()
