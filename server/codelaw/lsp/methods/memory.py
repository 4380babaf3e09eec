"""`codelaw/memory/*`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.lsp.methods.routing import route
from codelaw.protocol import memories as wire

if TYPE_CHECKING:
    from codelaw.domain.memories import Recalled
    from codelaw.lsp.context import Context

PAGE = 100
"""Entries of a list where no limit is named."""
FOUND = 10


@route("codelaw/memory/save", wire.SaveMemory, wire.Memory)
async def save(context: Context, params: wire.SaveMemory) -> object:
    saved = await context.session.memories.save(
        params.text,
        category=params.category,
        scope=params.scope,
        confidence=params.confidence,
        chat_id=params.chat_id,
    )
    return wire.Memory.of(saved.memory, merged=saved.merged)


@route("codelaw/memory/list", wire.ListMemories, wire.MemoryList, large=True)
async def list_memories(context: Context, params: wire.ListMemories) -> object:
    found, cursor = await context.session.memories.list(
        scope=params.scope,
        category=params.category,
        limit=params.limit or PAGE,
        cursor=params.cursor,
        chat_id=params.chat_id,
    )
    return {"memories": found, "next_cursor": cursor}


@route("codelaw/memory/search", wire.SearchMemories, wire.MemoryList)
async def search(context: Context, params: wire.SearchMemories) -> object:
    found = await context.session.memories.search(
        params.query, category=params.category, limit=params.limit or FOUND, chat_id=params.chat_id
    )
    return {"memories": [_recalled(one) for one in found]}


@route("codelaw/memory/update", wire.UpdateMemory, wire.Memory)
async def update(context: Context, params: wire.UpdateMemory) -> object:
    return await context.session.memories.update(
        params.id,
        text=params.text,
        category=params.category,
        scope=params.scope,
        confidence=params.confidence,
        chat_id=params.chat_id,
    )


@route("codelaw/memory/forget", wire.ForgetMemory, wire.Forgotten)
async def forget(context: Context, params: wire.ForgetMemory) -> object:
    await context.session.memories.forget(params.id)
    return wire.Forgotten()


@route("codelaw/memory/backfill", wire.Backfill, wire.Backfilled)
async def backfill(context: Context, params: wire.Backfill) -> object:
    return wire.Backfilled(embedded=await context.session.memories.backfill(params.chat_id))


def _recalled(one: Recalled) -> wire.Memory:
    nearness = one.similarity
    return wire.Memory.of(
        one.memory, similarity=round(nearness, 4), score=round(one.score, 4), relevance=round(nearness, 2)
    )
