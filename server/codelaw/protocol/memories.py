"""`codelaw/memory/*`: what is remembered beyond a chat. Times are seconds since the epoch, with fractions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from codelaw.domain import memories
from codelaw.domain.memories import Category, MemoryScope
from codelaw.protocol.base import OrNone, Params, Payload
from codelaw.protocol.chats import Id

MemoryText = Annotated[str, Field(min_length=1, max_length=100_000)]
Confidence = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Limit = Annotated[int, Field(ge=1, le=500)]


class SaveMemory(Params):
    """`chatId` is the chat that an entry of the scope `session` belongs to."""

    text: MemoryText
    category: Category | None = None
    scope: MemoryScope | None = None
    confidence: Confidence | None = None
    chat_id: Id | None = None


class ListMemories(Params):
    scope: MemoryScope | None = None
    category: Category | None = None
    limit: Limit | None = None
    cursor: Annotated[str, Field(max_length=1000)] | None = None
    chat_id: Id | None = None


class SearchMemories(Params):
    query: Annotated[str, Field(max_length=100_000)]
    category: Category | None = None
    limit: Limit | None = None
    chat_id: Id | None = None


class UpdateMemory(Params):
    """What is left out stays as it is."""

    memory_id: Id = Field(alias="id")
    text: MemoryText | None = None
    category: Category | None = None
    scope: MemoryScope | None = None
    confidence: Confidence | None = None
    chat_id: Id | None = None


class ForgetMemory(Params):
    memory_id: Id = Field(alias="id")


class MemoryPayload(Payload, copies=memories.Memory):
    """One entry. `merged` is sent by a save that an older entry has taken in, the last three by a search.

    `relevance`, from 0 to 1, says how much an entry has to do with what was searched for; it is the `similarity` that
    `score` is made of, rounded as the model is shown it.
    """

    merged: OrNone[bool] = None
    similarity: float | None = None
    score: float | None = None
    relevance: float | None = None


class MemoryList(Payload):
    memories: list[MemoryPayload]
    next_cursor: str | None = None


class Forgotten(Payload):
    forgotten: Literal[True] = True


class Backfill(Params):
    """Embed what waits, of one chat or of all (B-5)."""

    chat_id: Id | None = None


class Backfilled(Payload):
    """How many passages and memories were embedded."""

    embedded: int
