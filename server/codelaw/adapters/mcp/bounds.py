"""What of a server's bytes and messages is let in, before the package makes anything of it (S-6)."""

from __future__ import annotations

import re
from collections import deque
from typing import Any, cast

import anyio
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCRequest, JSONRPCResponse, Prompt, Resource, Tool

from codelaw.adapters.mcp.reading import BLOCKS, TOOLS, is_large

LINE_BYTES = 8_000_000
"""Of one message: five megabytes of an image, as text, and what stands around it."""
HELD_BYTES = 1_000_000
"""Of whole lines that nobody has taken yet, before the stream is to wait."""
_WHOLE = re.compile(
    rb"(?:[^\\]++|\\(?!u[dD][89a-fA-F]).|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?!))*+",
    re.DOTALL,
)
"""Of JSON, up to half a character that stands without its other half.

The last alternative matches nothing: before Python 3.11.5 the loop would keep what another had read before it failed.
"""
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_HALF_BYTES = 6
_MOST_HALVES = 10_000
OPEN = 64
"""Requests of a server that wait for an answer; more are not heard."""
RATE = 2_000.0
"""Messages a second that are read for long; sixteen kilobytes count as one more."""
_LISTS = {"tools": TOOLS, "prompts": TOOLS, "resources": TOOLS}
_Shape = Tool | Prompt | Resource
_SHAPES: dict[str, type[_Shape]] = {"prompts": Prompt, "resources": Resource}
_PARTS = {"content": BLOCKS, "contents": BLOCKS, "messages": BLOCKS}


class Lines:
    """Puts lines together. `too_long` is set once one has more than `bound` bytes, and from then on nothing comes."""

    def __init__(self, bound: int = LINE_BYTES) -> None:
        self._bound = bound
        self._part = bytearray()
        self._whole: deque[bytes] = deque()
        self.held = 0
        """Bytes of the lines that wait to be taken."""
        self.too_long = False

    def feed(self, data: bytes) -> None:
        if self.too_long:
            return
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._part += data[start:end]
            self._end_line()
            start = end + 1
        self._part += data[start:]
        self._judge(len(self._part))

    def take(self) -> bytes | None:
        """The next whole line, without its end; blank ones are left out."""
        if not self._whole:
            return None
        line = self._whole.popleft()
        self.held -= len(line)
        return line

    def _end_line(self) -> None:
        self._judge(len(self._part))
        if self._part.strip() and not self.too_long:
            self._whole.append(bytes(self._part))
            self.held += len(self._part)
        self._part = bytearray()

    def _judge(self, size: int) -> None:
        if size > self._bound:
            self.too_long = True
            self._part = bytearray()


def mended(text: bytes) -> bytes:
    """A JSON text with U+FFFD for halves of characters, and for bytes that are none: programs cut texts anywhere."""
    known = text.decode("utf-8", "replace").encode()
    if _HALF.search(known) is None:
        return known
    pieces: list[bytes] = []
    at = 0
    for _ in range(_MOST_HALVES):
        run = _WHOLE.match(known, at)
        assert run is not None  # noqa: S101 - it fits nothing too
        pieces.append(run[0])
        if run.end() == len(known):
            break
        pieces.append(rb"\ufffd")
        at = run.end() + _HALF_BYTES
    else:
        return text
    return b"".join(pieces)


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
    for key, most in (*_LISTS.items(), *_PARTS.items()):
        if key in result and isinstance(result[key], list):
            del result[key][most + 1 :]
    if isinstance(result.get("tools"), list):
        result["tools"] = [_tool(tool) for tool in cast("list[object]", result["tools"])]
    for key, shape in _SHAPES.items():
        if isinstance(result.get(key), list):
            # One that the package would not take would cost it the others.
            result[key] = [one for one in cast("list[object]", result[key]) if _is(shape, one)]


def _tool(found: object) -> dict[str, Any]:
    """A tool as it is let in: one that the package would not take costs the list no other, and is left out later."""
    tool = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    # Judging results by it would let the server choose patterns that take for ever.
    tool.pop("outputSchema", None)
    if is_large(tool) or not _is(Tool, tool) or tool["inputSchema"].get("type", "object") != "object":
        return {"name": "", "inputSchema": {"type": "object"}}
    return tool


def _is(shape: type[_Shape], found: object) -> bool:
    try:
        shape.model_validate(found, by_name=False)
    except ValueError:
        return False
    return True
