"""The base protocol's framing, and JSON out of a message's bytes: one reader for pipes and sockets (S-6, V-2)."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from codelaw.lsp.transport.errors import INVALID_REQUEST, PARSE_ERROR, WireError

MAX_MESSAGE = 64 << 20
"""Bytes of one message."""
HEAD = 512
"""Bytes of a message that cannot be taken that are looked at for its id."""
CHUNK = 1 << 16
"""Bytes that are read at once, and of one header line; little more is read ahead of whoever takes the messages."""

# A message with a wrong length runs into the next header: that is found at the end of a strange line.
_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,18})[ \t]*\Z", re.IGNORECASE)
_ID = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,200}")')


@dataclass(frozen=True, slots=True)
class BadMessage:
    """A message that cannot be taken."""

    error: WireError
    request_id: int | str | None = None


Frame = bytes | BadMessage


def too_large(size: int, head: bytes = b"") -> BadMessage:
    """A message over the limit, which begins with `head`."""
    message = f"The message of {size} bytes is over the limit"
    return BadMessage(WireError(INVALID_REQUEST, message), request_id(head))


class Incoming(asyncio.StreamReader):
    """The bytes of one client. With `most` it may send no more than that, until that is lifted."""

    def __init__(self, most: int | None = None) -> None:
        super().__init__(limit=CHUNK)
        self.most = most
        self._sent = 0

    def feed_data(self, data: Any) -> None:
        """Take what has come."""
        self._sent += len(data)
        if self.most is not None and self._sent > self.most:
            self.set_exception(ConnectionError(f"{self._sent} bytes without a token"))
        else:
            super().feed_data(data)


async def next_frame(reader: asyncio.StreamReader, limit: int = MAX_MESSAGE) -> Frame | None:
    """The next message; None at the end. Header names match in any case, and lines may end with LF alone.

    A header block without a usable length is reported, and what follows is searched for the next one. A message over
    the limit is skipped unread.
    """
    length: int | None = None
    strange, behind = False, b""
    while True:
        try:
            line = (behind + await reader.readuntil(b"\n")).strip()
        except asyncio.LimitOverrunError as error:  # it is too long, and only its end is kept
            strange, behind = True, (await reader.readexactly(error.consumed))[-HEAD:]
            continue
        except asyncio.IncompleteReadError:
            return None
        behind = b""
        if line:
            found = _LENGTH.search(line)
            length = int(found[1]) if found is not None else length
            strange = strange or (found is None and not line.lower().startswith(b"content-type"))
        elif length is not None:
            return await _body(reader, length, limit)
        elif strange:
            return BadMessage(WireError(PARSE_ERROR, "Parse error: a header block without a usable Content-Length"))


async def _body(reader: asyncio.StreamReader, length: int, limit: int) -> Frame | None:
    try:
        if length <= limit:
            return await reader.readexactly(length)
        head = await reader.readexactly(min(length, HEAD))
    except asyncio.IncompleteReadError:
        return None
    left = length - len(head)
    while left:
        data = await reader.read(min(left, CHUNK))
        if not data:
            return None
        left -= len(data)
    return too_large(length, head)


def framed(body: bytes) -> bytes:
    """A message with its header."""
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def decode(body: bytes) -> dict[str, Any] | BadMessage:
    """The message in a body.

    What is not JSON is a -32700; what is not an object, or one that is nested too deeply, a -32600.
    """
    try:
        message = json.loads(body, parse_constant=_no_constant)
        if b"\\ud" in body or b"\\uD" in body:
            message = _without_lone_surrogates(message)
    except RecursionError:
        if body.lstrip()[:1] != b"{":
            return BadMessage(WireError(PARSE_ERROR, "Parse error: nested too deeply"))
        head = body[:HEAD]
        error = WireError(INVALID_REQUEST, "Invalid request: nested too deeply")
        return BadMessage(error, request_id(head) if b'"method"' in head else None)
    except ValueError as error:
        return BadMessage(WireError(PARSE_ERROR, f"Parse error: {str(error)[:200]}"))
    if not isinstance(message, dict):
        what = "batches are not supported" if isinstance(message, list) else "an object is expected"
        return BadMessage(WireError(INVALID_REQUEST, f"Invalid request: {what}"))
    return cast("dict[str, Any]", message)


def request_id(head: bytes) -> int | str | None:
    """The id of a request, where its first bytes tell."""
    if b'"params"' in head.partition(b'"id"')[0]:
        return None
    found = _ID.search(head)
    if found is None:
        return None
    text = found[1].decode("utf-8", "replace")
    return text[1:-1] if text.startswith('"') else int(text)


def _no_constant(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise ValueError(message)


def _without_lone_surrogates(value: Any) -> Any:
    """Half a character cannot be stored or hashed: it becomes U+FFFD. In a loop, since clients may nest deeply."""
    waiting: list[Any] = [value]
    while waiting:
        box = waiting.pop()
        if isinstance(box, dict):
            members = cast("dict[str, Any]", box)
            mended = {_mended(key): _mended(item) for key, item in members.items()}
            members.clear()
            members.update(mended)
            waiting += mended.values()
        elif isinstance(box, list):
            box[:] = map(_mended, cast("list[Any]", box))
            waiting += box
    return value


def _mended(text: Any) -> Any:
    return (
        text
        if not isinstance(text, str) or text.isascii()
        else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )
