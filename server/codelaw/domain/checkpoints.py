"""Cuts of the view: checkpoints, demotions, and how a compaction went (K-3, K-10, C-6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from codelaw.domain.messages import Message

SummarySource = Literal["model", "none"]
CompactionReason = Literal[
    "threshold",
    "manual",
    "overflow",
    "rounds_not_enough",
    "below_low_water",
    "summary_failed",
    "summary_timed_out",
    "cancelled",
    "paused",
]


Part = Literal["cut", "result", "arguments", "aside", "thinking"]


@dataclass(frozen=True, slots=True)
class Aside:
    """A text that the view shows right behind a message, frozen when it was first shown (L-3).

    It is kept with the state of the view, and is in no record, `chat/read` or export.
    """

    message_id: str
    name: str
    """What it is: `profile`, `memories`, `spans`; a message has one of each name."""
    text: str
    about: tuple[str, ...] = ()
    """Ids of the memories that it tells: it goes when one of them is forgotten (B-6)."""


@dataclass(frozen=True, slots=True)
class Demotion:
    """A message that the view shows shorter than the turn did; the record keeps it (C-6).

    `cut` shows a result as the history has it (C-2), `result` as one line; `arguments` shortens those of the calls;
    `aside` leaves out what stands behind the message, `thinking` its kept items, which their maker refused (P-5).
    """

    message_id: str
    part: Part


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """From here on the view begins with `summary` and the round of `first_kept`; the record stays whole (K-3)."""

    id: str
    first_kept: str
    """The turn whose round is the first one that stays."""
    at: float
    """Seconds since the epoch."""
    rounds_archived: int
    """By this checkpoint, not by those before it."""
    summary: Message | None = None
    """Role `summary`. After a cut without one it holds what was computed from the record, or is None."""
    by: SummarySource = "model"
    demotions: tuple[Demotion, ...] = ()
    """What was thinned with it, and comes back when it is undone (K-8)."""


@dataclass(frozen=True, slots=True)
class ThreadSummary:
    """The rolling summary of a chat: one text, written anew as the chat grows (B-3)."""

    text: str
    covers: str
    """The newest turn that is in it."""
    at: float
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class CompactionReport:
    """How a compaction went. Tokens are estimates of the whole view; `reason` tells why it began or did nothing."""

    compacted: bool
    reason: CompactionReason
    rounds_archived: int = 0
    rounds_kept: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    seconds: float = 0.0
    summary: SummarySource = "none"
    checkpoint_id: str | None = None
    thinned: int = 0
    """Results and arguments that the view now shows as one line (K-8)."""
    message: str = ""
    """What the user is told, in one sentence; empty when the numbers say it all."""
