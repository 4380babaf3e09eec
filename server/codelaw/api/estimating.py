"""What a text or a prompt takes with one model and another (B-9)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from codelaw.adapters.tokenizer import counter
from codelaw.api.limits import PROMPT_LIMITS, prompt_limit
from codelaw.context.tokens import estimate

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


def estimates_of(text: str, models: Iterable[str] | None = None) -> dict[str, ModelEstimate]:
    """A prompt with each of `models`, by default those of `PROMPT_LIMITS`."""
    names = PROMPT_LIMITS if models is None else models
    return {name: ModelEstimate(name, estimate_tokens(text, name), prompt_limit(name)) for name in names}
