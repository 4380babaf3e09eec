"""Requests to a vendor of Responses on loopback, and how its replies go back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from codelaw.adapters.models.openai.model import OpenAIModel
from codelaw.domain.errors import ModelFailure
from codelaw.domain.messages import KeptItems
from codelaw.domain.models import (
    ApiMessage,
    Block,
    CallBlock,
    KeptBlock,
    ModelReply,
    ModelRequest,
    TextBlock,
    ToolSchema,
)
from tests.loopback.responses import ResponsesVendor
from tests.loopback.script import VendorReply

KEY = "sk-proj-51f0c3-0815"
STRICT = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
TOOLS = (ToolSchema("Read", "Reads.", STRICT), ToolSchema("LS", "Lists.", {"type": "object", "properties": {}}))
CALL = {"name": "Read", "input": {"path": "a.py"}}


def request(*messages: ApiMessage, **fields: Any) -> ModelRequest:
    said = messages or (ApiMessage("user", (TextBlock("?", "5m"),)),)
    known: dict[str, Any] = {"thinking": "adaptive", "display": "summarized", "tools": TOOLS}
    return ModelRequest("gpt-6.2-sol", (TextBlock("The law.", "5m"),), said, 512, **known | fields)


@asynccontextmanager
async def asking(
    *replies: VendorReply, silence: float = 5, **options: Any
) -> AsyncIterator[tuple[ResponsesVendor, OpenAIModel]]:
    async with ResponsesVendor(*replies, **options) as vendor:
        model = OpenAIModel(KEY, vendor.url, silence=silence)
        try:
            yield vendor, model
        finally:
            await model.close()


async def failure(*replies: VendorReply, silence: float = 5, **options: Any) -> ModelFailure:
    async with asking(*replies, silence=silence, **options) as (_, model):
        with pytest.raises(ModelFailure) as caught:
            await model.reply(request(), lambda _: None)
    assert KEY not in caught.value.message
    return caught.value


def again(reply: ModelReply) -> ApiMessage:
    """A reply as it goes back."""
    kept = KeptItems("openai", reply.items)
    blocks: list[Block] = [KeptBlock(item, kept) for item in reply.items]
    blocks += [TextBlock(reply.text)] if reply.text else []
    return ApiMessage("assistant", (*blocks, *map(CallBlock, reply.calls)))
