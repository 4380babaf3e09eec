"""What a prompt may have, by the name of the model, and what it takes (B-9)."""

from __future__ import annotations

from dataclasses import dataclass

from codelaw.adapters.models.catalog import profile
from codelaw.adapters.tokenizer import counter
from codelaw.context.tokens import estimate, output_reserve

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
