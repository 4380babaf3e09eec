"""What of a server's messages is let in, before the package makes anything of it (S-6)."""

from __future__ import annotations

from typing import Any, cast

import anyio
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCRequest, JSONRPCResponse, Prompt, Resource, Tool

from codelaw.adapters.mcp.reading import BLOCKS, TOOLS, is_large

OPEN = 64
"""Requests of a server that wait for an answer; more are not heard."""
RATE = 2_000.0
"""Messages a second that are read for long; sixteen kilobytes count as one more."""
_LISTS = {"tools": TOOLS, "prompts": TOOLS, "resources": TOOLS}
_Shape = Tool | Prompt | Resource
_SHAPES: dict[str, type[_Shape]] = {"prompts": Prompt, "resources": Resource}
_PARTS = {"content": BLOCKS, "contents": BLOCKS, "messages": BLOCKS}


class Gate:
    """Of one connection."""

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
