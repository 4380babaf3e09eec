"""What the API gives back (B-9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codelaw.context.strategies import Resolved
from codelaw.domain.reports import BudgetLine, Dropped

ApiMessage = Mapping[str, Any]
"""`{"role": …, "content": …}`, and whatever else a vendor knows."""


@dataclass(frozen=True, slots=True)
class TokenStats:
    """Estimated tokens of each section, and what the strategy has saved against sending all of it."""

    system_prompt: int
    """The law is part of it."""
    summary: int
    retrieved: int
    recent_messages: int
    current_input: int
    total: int
    saved: int
    """Never below 0."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """Counts of what went in."""

    included_message_count: int
    """Messages of the chat that stand among the recent ones."""
    summarized_message_count: int
    """Messages that the summary speaks of; 0 when it was not used."""
    used_summary: bool
    retrieved_memory_count: int
    retrieved_message_count: int
    """Messages of the chat that were found and are quoted."""


@dataclass(frozen=True, slots=True)
class BuiltContext:
    """A prompt, ready to be sent."""

    messages: list[ApiMessage]
    """System messages first, then the chat's own, the current input, what was retrieved, and the pin."""
    token_stats: TokenStats
    metadata: Metadata
    strategy: Resolved
    """The one that was used, also where `auto` was asked for."""
    max_prompt_tokens: int
    budget: tuple[BudgetLine, ...]
    """What each part takes of its share (B-2)."""
    dropped: tuple[Dropped, ...] = ()
    """What was left out, and why."""
