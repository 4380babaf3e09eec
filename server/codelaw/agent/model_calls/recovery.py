"""What to do when a model call fails: a table of failure × attempt → action (P-1)."""

from __future__ import annotations

from dataclasses import dataclass
from random import random

from codelaw.domain.chats import TurnError
from codelaw.domain.errors import ModelFailure, RefusalCode
from codelaw.domain.models import FailureKind

ATTEMPTS = 5
"""Most attempts of one request."""
LONGEST_WAIT = 60.0
"""Seconds we let a vendor make us wait; beyond it the turn ends and says so."""
NO_KEY_HINT = (
    "Set one of ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY, GEMINI_API_KEY, MISTRAL_API_KEY and "
    "DEEPSEEK_API_KEY, or model.apiKey in codelaw's config.toml."
)
"""For clients without a command of their own for it."""
SPENT_HINT = (
    "Add credit or raise the limit in the vendor's console, set the key of another account, or choose a model of "
    "another vendor. The message is kept: send it again then."
)
ADDRESS_HINT = "Check model.baseUrl, and whether the endpoint speaks the Messages API."
REASONING = "reasoning_extraction"
"""The category of a refusal to write down reasoning."""
_REFUSED = "The model refused to answer."
TOO_LONG_HINT = "Start a new chat, mention less at once, or choose a model with a larger window."

_RETRIED: frozenset[FailureKind] = frozenset(
    {"rate_limit", "overload", "network", "malformed", "truncated", "server", "roles"}
)
_REASONS: dict[FailureKind, str] = {
    "rate_limit": "the model's rate limit was reached",
    "overload": "the model is overloaded",
    "network": "the connection to the model broke",
    "malformed": "the model's stream could not be read",
    "truncated": "the model's stream ended early",
    "server": "the model's server failed",
    "roles": "the endpoint may take no system messages; they are sent as text",
}

_ENDS: dict[FailureKind, tuple[RefusalCode, str]] = {
    "auth": ("auth_failed", NO_KEY_HINT),
    "consent": (
        "not_lent",
        "Send the message again and allow it when the editor asks, or choose another model.",
    ),
    "spending": ("spending_limit", SPENT_HINT),
    "unknown_model": ("model_not_found", "Choose another model, or check model.name and model.baseUrl."),
    "overflow": ("context_overflow", TOO_LONG_HINT),
    "refused": ("model_refused", "Word the request differently or choose another model."),
    "invalid": ("model_unavailable", ADDRESS_HINT),
}
"""The code and the hint of failures that are not worth another attempt."""


@dataclass(frozen=True, slots=True)
class NextAttempt:
    """The next attempt, as the user is told of it before the wait."""

    attempt: int
    """From 2."""
    seconds: float
    """To wait before it."""
    reason: str


@dataclass(slots=True)
class Recovery:
    """The attempts of one request."""

    kept: str = ""
    """What broken attempts have said."""
    _made: int = 0

    def after(self, failure: ModelFailure) -> NextAttempt:
        """Take in a failed attempt; gives the next one.

        Raises:
            ModelFailure: the one given, when it is not worth another attempt; `partial` holds all that was said.
        """
        self._made += 1
        self.kept = failure.partial or self.kept
        wait = delay(failure, self._made, random())  # noqa: S311 - no secret
        if wait is None:
            raise failure
        where = f" ({failure.place})" if failure.place else ""
        return NextAttempt(self._made + 1, wait, f"{_REASONS[failure.kind]}{where}")


def delay(failure: ModelFailure, attempt: int, jitter: float) -> float | None:
    """Seconds to wait before the next attempt; None when there shall be none.

    The vendor's retry-after counts up to 60 s; else half a second, doubled each time, with `jitter` in 0..1.
    """
    if failure.kind not in _RETRIED or attempt >= ATTEMPTS:
        return None
    if failure.retry_after is not None:
        return failure.retry_after if failure.retry_after <= LONGEST_WAIT else None
    return min(2 ** (attempt - 1) * 0.5, 16.0) * (0.75 + 0.5 * jitter)


def refused(why: str, *, asked_to_reason: bool) -> TurnError:
    """The turn's error for a reply that is a refusal; `why` has its category first (P-8).

    `asked_to_reason`: the model was asked to write down its reasoning (R-3).
    """
    if asked_to_reason and why.startswith(REASONING):
        hint = "The text dialect asks the model to write down its thoughts: set model.dialect to native."
    else:
        hint = "Word the request differently, or choose another model: the same request is refused again."
    return TurnError("model_refused", f"The model refused to answer ({why})." if why else _REFUSED, hint)


def explain(failure: ModelFailure) -> TurnError:
    """The turn's error for a failure that ended it, in words for the user."""
    if failure.kind in _ENDS:
        code, hint = _ENDS[failure.kind]
        return TurnError(code, failure.message, failure.hint or hint)
    hint = "Nothing is lost: send the message again when the model answers."
    if failure.kind == "network":
        hint = f"{hint} Is the address right (model.baseUrl), and does a proxy stand between?"
    if failure.retry_after is not None and failure.retry_after > LONGEST_WAIT:
        hint = f"The vendor asks to wait {failure.retry_after:.0f} s. {hint}"
    return TurnError("model_unavailable", failure.message, hint)
