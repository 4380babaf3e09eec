"""The kinds of subagents that a turn can begin, as values (X-4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from codelaw.domain.chats import Mode

if TYPE_CHECKING:
    from codelaw.agent.dialects.base import Dialect
    from codelaw.domain.models import Effort, ModelProfile, Prices


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model that a kind asks for, at the endpoint of the turn."""

    name: str
    window: int
    reserve: int
    """Tokens, both."""
    dialect: Dialect
    other: Dialect | None
    """As `TurnInputs` has them."""
    prices: Prices | None = None
    caches: bool = True
    sees: bool = False
    """Whether it sees pictures."""
    output: int = 0
    """Tokens of one reply at most."""
    profile: ModelProfile | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of subagent, as a turn offers it."""

    name: str
    description: str
    text: str
    """What it is told in front of its task."""
    mode: Mode | None = None
    """None: that of the turn."""
    tools: frozenset[str] | None = None
    """Names; None for all of the mode."""
    denied: frozenset[str] = frozenset()
    model: ModelFacts | None = None
    """None: the turn's own."""
    steps: int | None = None
    """A lower limit than the settings' own."""
    effort: Effort | None = None
    """None: that of the turn where the model is, else the vendor's (P-6)."""


@dataclass(frozen=True)
class Agents:
    """The kinds of one turn, and the limits of its children."""

    kinds: tuple[Kind, ...]
    mode: Mode
    steps: int
    tokens: int
    """What one child may use."""

    @cached_property
    def by_name(self) -> dict[str, Kind]:
        return {kind.name: kind for kind in self.kinds}
