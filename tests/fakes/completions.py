"""Requests, replies and streams of Chat Completions by hand."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from codelaw.adapters.models.openai.model import OpenAIModel
from codelaw.agent.dialects.native import Native
from codelaw.domain.errors import ModelFailure
from codelaw.domain.messages import Call, KeptItems, Message, Metadata
from codelaw.domain.models import (
    ApiMessage,
    Delta,
    ModelReply,
    ModelRequest,
    ResultBlock,
    TextBlock,
    ToolSchema,
)
from tests.loopback.completions import CompletionsVendor
from tests.loopback.script import VendorReply
from tests.loopback.scripted import Raw

KEY = "key-51f0c3-0815-of-nobody"
TOOLS = (
    ToolSchema("Read", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}}),
    ToolSchema("LS", "Lists.", {"type": "object", "properties": {}}),
)
CALLS = [{"name": "Read", "input": {"path": 'a "{" \\.py'}}, {"name": "LS", "input": {}}]
QUESTION = ApiMessage("user", (TextBlock("?"),))


def request(*messages: ApiMessage, **fields: Any) -> ModelRequest:
    known: dict[str, Any] = {"tools": TOOLS, "max_tokens": 512} | fields
    return ModelRequest("some-model", (TextBlock("The law."),), messages or (QUESTION,), **known)


@asynccontextmanager
async def asking(
    flavour: str, *replies: VendorReply | Raw, silence: float = 5, **options: Any
) -> AsyncIterator[tuple[CompletionsVendor, OpenAIModel]]:
    async with CompletionsVendor(flavour, *replies, **options) as vendor:
        model = OpenAIModel(KEY, vendor.url, wire="completions", silence=silence)
        try:
            yield vendor, model
        finally:
            await model.close()


async def failure(flavour: str, reply: VendorReply | Raw, silence: float = 5) -> ModelFailure:
    async with asking(flavour, reply, silence=silence) as (_, model):
        with pytest.raises(ModelFailure) as caught:
            await model.reply(request(), lambda _: None)
    assert KEY not in caught.value.message
    return caught.value


def again(reply: ModelReply, *results: str) -> tuple[ApiMessage, ...]:
    """A reply as the engine sends it back, and the results of its calls."""
    read = Native().read(reply, "s")
    calls = tuple(one if isinstance(one, Call) else one.call for one in read.calls)
    kept = KeptItems("m", reply.items) if reply.items else None
    said = Message("m", "t", "assistant", reply.text, Metadata(calls=calls, native=True, kept=kept))
    role, blocks = Native().message(said)
    answers = tuple(ResultBlock(call.id, text) for call, text in zip(calls, results, strict=False))
    messages = (ApiMessage(role, tuple(blocks)),)
    return (*messages, ApiMessage("user", answers)) if answers else messages


def stream(*chunks: Any, done: bool = True, content_type: str = "text/event-stream") -> Raw:
    """A stream by hand; each is a choice, or a whole chunk where it has `choices`."""
    rows = [chunk if not isinstance(chunk, dict) or chunk.keys() & {"choices", "error", "object", "usage"}
            else {"id": "x", "choices": [chunk]} for chunk in chunks]  # fmt: skip
    text = "".join(f"data: {json.dumps(row)}\n\n" for row in rows) + ("data: [DONE]\n\n" if done else "")
    return Raw(text.encode(), content_type)


def delta(finish: str | None = None, /, **fields: Any) -> dict[str, Any]:
    return {"index": 0, "delta": fields, "finish_reason": finish}


def call(name: str | None, arguments: Any, **more: Any) -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return delta(tool_calls=[{"type": "function", "function": function, **more}])


async def read(*chunks: Any, heard: list[Delta] | None = None, **more: Any) -> ModelReply:
    async with asking("openai", stream(*chunks, **more)) as (_, model):
        return await model.reply(request(), ([] if heard is None else heard).append)


def made(reply: ModelReply) -> list[tuple[str, Any]]:
    return [(one.tool, dict(one.arguments)) for one in reply.calls]
