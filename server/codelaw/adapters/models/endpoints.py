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
LARGEST_EVENT = 8 << 20
"""Bytes of one event of a stream."""
MOST_LINES = 1024
"""Of one event, and of what stands between two."""
_ENDS = (b"\n\n", b"\r\r", b"\r\n\r\n")
"""What an event ends with."""
EVENT_STREAM = "text/event-stream"
Hook = Callable[[Any], Awaitable[None]]


class Misbehaved(Exception):
    """An endpoint does what no endpoint may; asking it again is of no use."""


class TooLarge(ValueError):
    """One event, or what stands between two, is larger than any real one."""


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
        kind = response.headers.get("content-type", "")
        if not response.is_success:
            bound = _cut_off(LARGEST_ERROR)
        elif kind.startswith(EVENT_STREAM):
            bound = _each_event()
        else:
            message = f"{place} answered with more than {largest} bytes, which is not an answer of its kind."
            bound = _whole(largest, message)
        response.stream = _bounded(response.stream, bound)  # pyright: ignore[reportArgumentType] - an async client's

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


Bound = Callable[[bytes], bytes | None]
"""What is let through of a piece of a body; None ends it there."""


def _cut_off(most: int) -> Bound:
    """The first `most` bytes."""
    left = most

    def bound(piece: bytes) -> bytes | None:
        nonlocal left
        let, left = piece[:left], left - len(piece)
        return let or None

    return bound


def _whole(most: int, message: str) -> Bound:
    """A body of at most `most` bytes; of a longer one nothing more."""
    left = most

    def bound(piece: bytes) -> bytes:
        nonlocal left
        left -= len(piece)
        if left < 0:
            raise Misbehaved(message)
        return piece

    return bound


def _each_event() -> Bound:
    """Events of a bounded size: whoever cuts them joins their lines one by one."""
    held = lines = 0
    tail = b""

    def count(part: bytes) -> None:
        nonlocal held, lines
        held += len(part)
        lines += max(part.count(b"\n"), part.count(b"\r"))
        if held > LARGEST_EVENT or lines > MOST_LINES:
            raise TooLarge(f"an event has more than {LARGEST_EVENT} bytes or {MOST_LINES} lines")

    def bound(piece: bytes) -> bytes:
        nonlocal held, lines, tail
        known, seen = len(tail), tail + piece
        tail = seen[-3:]
        # One that is complete with this piece may have begun before it.
        places = ((mark, max(0, known - len(mark) + 1)) for mark in _ENDS)
        found = ((mark, at) for mark, start in places for at in (seen.find(mark, start), seen.rfind(mark, start)))
        ends = [at + len(mark) - known for mark, at in found if at >= 0]
        count(piece[: min(ends)] if ends else piece)
        if ends:
            held = lines = 0
            count(piece[max(ends) :])
        return piece

    return bound


def _bounded(body: AsyncByteStream, bound: Bound) -> AsyncByteStream:
    from httpx2 import AsyncByteStream  # noqa: PLC0415 - heavy; loaded by now

    class Stream(AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for piece in body:
                let = bound(piece)
                if let is None:
                    return
                yield let
                # Others shall have their turn, however fast this one sends.
                await asyncio.sleep(0)

        async def aclose(self) -> None:
            await body.aclose()

    return Stream()
