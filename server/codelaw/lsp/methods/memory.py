"""`codelaw/memory/*`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.protocol import memories as wire

if TYPE_CHECKING:
    from codelaw.domain.memories import Memory, Recalled
    from codelaw.lsp.context import Context

PAGE = 100
"""Entries of a list where no limit is named."""
FOUND = 10


async def save(context: Context, params: wire.SaveMemory) -> wire.Memory:
    saved = await context.session.memories.save(
        params.text,
        category=params.category,
        scope=params.scope,
        confidence=params.confidence,
        chat_id=params.chat_id,
    )
    return _memory(saved.memory, merged=True if saved.merged else None)


async def list_memories(context: Context, params: wire.ListMemories) -> wire.MemoryList:
    found, cursor = await context.session.memories.list(
        scope=params.scope,
        category=params.category,
        limit=params.limit or PAGE,
        cursor=params.cursor,
        chat_id=params.chat_id,
    )
    return wire.MemoryList(memories=[_memory(one) for one in found], next_cursor=cursor)


async def search(context: Context, params: wire.SearchMemories) -> wire.MemoryList:
    found = await context.session.memories.search(
        params.query, category=params.category, limit=params.limit or FOUND, chat_id=params.chat_id
    )
    return wire.MemoryList(memories=[_memory(one.memory, recalled=one) for one in found])


async def update(context: Context, params: wire.UpdateMemory) -> wire.Memory:
    changed = await context.session.memories.update(
        params.id,
        text=params.text,
        category=params.category,
        scope=params.scope,
        confidence=params.confidence,
        chat_id=params.chat_id,
    )
    return _memory(changed)


async def forget(context: Context, params: wire.ForgetMemory) -> wire.Forgotten:
    await context.session.memories.forget(params.id)
    return wire.Forgotten()


async def backfill(context: Context, params: wire.Backfill) -> wire.Backfilled:
    return wire.Backfilled(embedded=await context.session.memories.backfill(params.chat_id))


def _memory(value: Memory, *, merged: bool | None = None, recalled: Recalled | None = None) -> wire.Memory:
    return wire.Memory.of(
        value,
        merged=merged,
        similarity=None if recalled is None else round(recalled.similarity, 4),
        score=None if recalled is None else round(recalled.score, 4),
        relevance=None if recalled is None else round(recalled.similarity, 2),
    )


HANDLERS = {
    "codelaw/memory/save": save,
    "codelaw/memory/list": list_memories,
    "codelaw/memory/search": search,
    "codelaw/memory/update": update,
    "codelaw/memory/forget": forget,
    "codelaw/memory/backfill": backfill,
}
