"""A request of the Messages API for no output, which only fills the vendor's cache (L-6)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codelaw.adapters.models.anthropic_body import BodyWriter
from codelaw.adapters.models.anthropic_stream import ReplyReader

if TYPE_CHECKING:
    from codelaw.domain.models import ModelRequest, Usage


async def filled(client: Any, request: ModelRequest) -> Usage:
    """What was billed, by a `client` of the SDK.

    The vendor reads and marks such a request like another, and takes no stream of it.

    Raises:
        MalformedEvent: the answer is no message.
    """
    body = await asyncio.to_thread(BodyWriter().write, replace(request, max_tokens=0))
    answer: object = await client.post("/v1/messages", cast_to=object, content=body)
    reader = ReplyReader(lambda _: None)
    reader.take({"type": "message_start", "message": answer})
    return reader.usage
