"""`codelaw/memory/*`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.protocol import memories as wire

if TYPE_CHECKING:
    from codelaw.domain.memories import Memory, Recalled
    from codelaw.lsp.server.connection import Connection

PAGE = 100
"""Entries of a list where no limit is named."""
FOUND = 10


async def save(connection: Connection, params: wire.SaveMemory) -> wire.Memory:
    saved = await connection.session.save_memory(
        params.text,
        category=params.category,
        scope=params.scope,
        confidence=params.confidence,
        chat_id=params.chat_id,
    )
    return _memory(saved.memory, merged=True if saved.merged else None)


async def list_memories(connection: Connection, params: wire.ListMemories) -> wire.MemoryList:
    found, cursor = await connection.session.memories(
        scope=params.scope,
        category=params.category,
        limit=params.limit or PAGE,
        cursor=params.cursor,
        chat_id=params.chat_id,
    )
    return wire.MemoryList(memories=[_memory(one) for one in found], next_cursor=cursor)


async def search(connection: Connection, params: wire.SearchMemories) -> wire.MemoryList:
    found = await connection.session.search_memories(
        params.query, category=params.category, limit=params.limit or FOUND, chat_id=params.chat_id
    )
    return wire.MemoryList(memories=[_memory(one.memory, recalled=one) for one in found])


async def update(connection: Connection, params: wire.UpdateMemory) -> wire.Memory:
    changed = await connection.session.update_memory(
        params.id,
        text=params.text,
        category=params.category,
        scope=params.scope,
        confidence=params.confidence,
        chat_id=params.chat_id,
    )
    return _memory(changed)


async def forget(connection: Connection, params: wire.ForgetMemory) -> wire.Forgotten:
    await connection.session.forget_memory(params.id)
    return wire.Forgotten()


async def backfill(connection: Connection, params: wire.Backfill) -> wire.Backfilled:
    return wire.Backfilled(embedded=await connection.session.backfill(params.chat_id))


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
