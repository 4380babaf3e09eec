"""What is demanded of every HTTP endpoint, whoever runs it: plain, bounded answers from the place that was asked (S-6).

The endpoint is the user's choice, and their key goes with every request: it is neither trusted with our memory nor
followed to another place.
"""

from __future__ import annotations

import asyncio
import base64
import errno
import io
import math
import re
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urljoin, urlsplit

if TYPE_CHECKING:
    from httpx2 import AsyncByteStream, Request, Response

LARGEST_ERROR = 64 << 10
"""Bytes of an error's body that are read; the rest is left unread."""
LARGEST_EVENT = 8 << 20
"""Bytes of one event of a stream."""
AT_ONCE = 1 << 17
"""Characters of one that are read on the event loop."""
MOST_LINES = 1024
"""Of one event, and of what stands between two."""
LONGEST_ASKED = 86_400.0
"""Seconds: who asks for more means a day."""
VALUES = 150_000
"""Of one JSON text: a value costs the more memory the less there is in it."""
OBJECTS = 30_000
"""Of one JSON text, which cost ten times as much as other values."""
_LIGHT_BYTES = 250_000
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
EVENT_STREAM = "text/event-stream"
SHORTEST_PASSWORD = 4
"""Characters of one that is looked for in messages."""
SHORTEST_VALUE = 8
"""Characters of a query's value that is looked for."""
_ERRORS = {
    errno.ECONNREFUSED: "nothing listens there; is the server running?",
    errno.EHOSTUNREACH: "there is no way to it; is the network up?",
    errno.ENETUNREACH: "there is no way to it; is the network up?",
    errno.ECONNRESET: "it closed the connection",
    errno.EPIPE: "it closed the connection",
}

Hook = Callable[[Any], Awaitable[None]]
Bound = Callable[[bytes], bytes | None]
"""What is let through of a piece of a body; None ends it there."""


class Misbehaved(Exception):
    """An endpoint does what no endpoint may; asking it again is of no use."""


class TooLarge(ValueError):
    """One event, or what stands between two, is larger than any real one."""


def guards(largest: int, setting: str, *, events: bool = True) -> dict[str, list[Hook]]:
    """The event hooks of a client: answers have at most `largest` bytes, streams of `events` excepted.

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
            bound = _at_most(LARGEST_ERROR)
        elif events and kind.startswith(EVENT_STREAM):
            bound = _each_event()
        else:
            message = f"{place} answered with more than {largest} bytes, which is not an answer of its kind."
            bound = _at_most(largest, message)
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


def _at_most(most: int, message: str = "") -> Bound:
    """The first `most` bytes of a body; more of it is an error where there is a `message`."""
    left = most

    def bound(piece: bytes) -> bytes | None:
        nonlocal left
        let, left = piece[: max(left, 0)], left - len(piece)
        if left < 0 and message:
            raise Misbehaved(message)
        return let or None

    return bound


def _each_event() -> Bound:
    """Events of a bounded size: whoever cuts them joins their lines one by one."""
    newlines = io.IncrementalNewlineDecoder(None, translate=True)
    held = lines = 0
    last = ""

    def count(part: str) -> None:
        nonlocal held, lines
        held += len(part)
        lines += part.count("\n")
        if held > LARGEST_EVENT or lines > MOST_LINES:
            raise TooLarge(f"an event has more than {LARGEST_EVENT} bytes or {MOST_LINES} lines")

    def bound(piece: bytes) -> bytes:
        nonlocal held, lines, last
        text = last + newlines.decode(piece.decode("latin-1"))
        first, *others = text.split("\n\n")
        count(first.removeprefix(last))
        if others:
            held = lines = 0
            count(others[-1])
        last = "\n" if text.endswith("\n") else ""
        return piece

    return bound


def _bounded(body: AsyncByteStream, bound: Bound) -> AsyncByteStream:
    from httpx2 import AsyncByteStream  # noqa: PLC0415 - heavy; loaded by now

    class BoundedStream(AsyncByteStream):
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

    return BoundedStream()


def place_of(url: str) -> str:
    """Host and port of a URL, without what may be secret in it (S-5)."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        return "an address that cannot be read"
    host = f"[{host}]" if ":" in host else host
    return host if port is None else f"{host}:{port}"


def secrets_of(url: str) -> tuple[str, ...]:
    """What a URL holds of secrets: the values of its query, and its password.

    Each as it is written and as it is meant; the password also as a request carries it.
    """
    try:
        parts = urlsplit(url)
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        written = [pair.partition("=")[2] for pair in parts.query.split("&")]
    except ValueError:
        return ()
    found = [one for value in written if len(value) >= SHORTEST_VALUE for one in (value, unquote(value))]
    if password:
        found.append(base64.b64encode(f"{user}:{password}".encode()).decode())
    # A very short one stands in many words.
    if len(password) >= SHORTEST_PASSWORD:
        found += [password, parts.password or ""]
    return tuple(dict.fromkeys(found))


def cause_of(error: BaseException) -> str:
    """The first known cause in a chain of errors; else the words of the last error that has any."""
    words = type(error).__name__
    at: BaseException | None = error
    seen: list[BaseException] = []
    while at is not None and at not in seen:
        seen.append(at)
        known = _known(at)
        if known is not None:
            return known
        words = f"{type(at).__name__}: {at}"[:300] if str(at) else words
        at = at.__cause__ or at.__context__
    return words


def _known(error: BaseException) -> str | None:
    match error:
        case socket.gaierror():
            return "the name is not known here; is it spelt right, and is the network up?"
        case ssl.SSLCertVerificationError():
            return f"its certificate is not trusted here ({error.verify_message}); a proxy may need SSL_CERT_FILE"
        case ssl.SSLError():
            return f"it does not speak TLS ({error.reason or error}); is it http instead of https?"
        case TimeoutError():
            return "it did not answer in time; is there a proxy or a firewall?"
        case OSError() if error.errno in _ERRORS:
            return _ERRORS[error.errno]
        case _:
            return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the vendor asks to wait, at most a day: `retry-after-ms`, or `retry-after` in seconds or as a date.

    What is neither counts as nothing.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return None if math.isnan(seconds) else min(max(0.0, seconds), LONGEST_ASKED)
    try:
        until = parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time()
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return min(max(0.0, until), LONGEST_ASKED)


def too_rich(text: bytes) -> bool:
    """Whether a JSON text has more values than may be read into memory."""
    if len(text) < _LIGHT_BYTES or not _over(text):
        return False
    return _over(_STRING.sub(b"", text))


def _over(text: bytes) -> bool:
    objects = text.count(b"{")
    return objects > OBJECTS or objects + text.count(b",") + text.count(b"[") > VALUES


def dig(value: object, *keys: str) -> Any:
    """What stands below these keys in foreign JSON; None where nothing does."""
    for key in keys:
        value = cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None
    return value
