"""What the API gives back, what a prompt may have by the name of the model, and what it takes (B-9)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from codelaw.adapters.models.catalog import profile
from codelaw.adapters.tokenizer import counter
from codelaw.api.reading import SYSTEM, ApiMessage, role_of, text_of
from codelaw.context.past.strategies import Resolved
from codelaw.context.tokens import estimate, output_reserve
from codelaw.domain.reports import BudgetLine, Dropped

PROMPT_LIMITS: dict[str, int] = {"gpt-4": 8_192, "claude-3": 100_000, "gpt-3.5": 4_096}
"""By the name, or the beginning of the name, of a model."""
_NOT_CLAUDE = ("gpt", "chatgpt", "o1", "o3", "o4", "openai/")


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """A prompt with one model."""

    model: str
    tokens: int
    limit: int
    """Tokens that a prompt to this model may have, see `prompt_limit`."""

    @property
    def fits(self) -> bool:
        return self.tokens <= self.limit


def estimate_tokens(text: str, model: str = "") -> int:
    """Tokens of a text: counted by o200k for OpenAI's models, estimated as for Claude for all others (W-4)."""
    return counter()(text) if model.startswith(_NOT_CLAUDE) else estimate(text)


def prompt_limit(model: str) -> int:
    """Tokens for a prompt to `model`.

    A name that stands in the table has its number there. Else the model's profile decides: its window without what is
    kept for the answer (W-7). Else the longest beginning of the name that stands in the table, else 4 096.
    """
    if model in PROMPT_LIMITS:
        return PROMPT_LIMITS[model]
    known = profile(model) if model else None
    if known is not None:
        return known.context_window - output_reserve(known.context_window, profile=known)
    families = [family for family in PROMPT_LIMITS if model.startswith(family)]
    return PROMPT_LIMITS[max(families, key=len)] if families else 4_096


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

    def render(self) -> str:
        """The prompt as text: system messages as they are, then `[user] …`, `[assistant] …`, `[tool] …` (L-5)."""
        return "\n\n".join(_rendered(message) for message in self.messages)

    def request(self) -> dict[str, Any]:
        """The prompt as the Messages API takes it: `{"system": text, "messages": [{"role", "content"}]}`.

        Users and assistants take turns: neighbours of one role are joined. Results that have a role of their own are
        text of the user's, `[tool] …`; what is in blocks stays in blocks.
        """
        turns: list[dict[str, Any]] = []
        for message in self.messages:
            if message.get("role") in SYSTEM:
                continue
            role = "assistant" if role_of(message) == "assistant" else "user"
            blocks = _blocks(message)
            if not blocks:
                continue
            if turns and turns[-1]["role"] == role:
                turns[-1]["content"] = [*turns[-1]["content"], *blocks]
            else:
                turns.append({"role": role, "content": blocks})
        return {
            "system": "\n\n".join(text_of(one) for one in self.messages if one.get("role") in SYSTEM),
            "messages": turns,
        }

    def estimates(self, models: Iterable[str] | None = None) -> dict[str, ModelEstimate]:
        """What the prompt takes with each of `models`, by default those of `PROMPT_LIMITS`, and whether it fits."""
        text, names = self.render(), PROMPT_LIMITS if models is None else models
        return {name: ModelEstimate(name, estimate_tokens(text, name), prompt_limit(name)) for name in names}


def _rendered(message: ApiMessage) -> str:
    text = text_of(message)
    return text if message.get("role") in SYSTEM else f"[{role_of(message)}] {text}"


def _blocks(message: ApiMessage) -> list[Any]:
    content = message.get("content")
    if isinstance(content, list):
        return [*cast("list[Any]", content)]
    text = text_of(message)
    if not text.strip():
        return []  # vendors refuse it
    return [{"type": "text", "text": f"[tool] {text}" if role_of(message) == "tool" else text}]
