"""Chats and turns as they are listed, stored and reported."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypedDict

from codelaw.domain.checkpoints import Aside, Checkpoint, Demotion, ThreadSummary
from codelaw.domain.errors import RefusalCode
from codelaw.domain.messages import Message
from codelaw.domain.models import CacheMiss, Effort, Usage
from codelaw.domain.results import FileChange

Mode = Literal["agent", "ask", "plan"]
Strategy = Literal["layered", "full", "last-n", "summary+recent", "span-retrieval", "sliding-window", "auto"]
Dialect = Literal["react", "native"]
DialectChoice = Literal["auto", "react", "native"]
"""As it is set; with `auto` the model and the chat decide (R-3, R-4)."""
EffortChoice = Effort | Literal["default"]
"""`default`: what the settings say, or else the vendor."""
Level = Literal["info", "warning", "error"]
TurnStatus = Literal["running", "ended"]
TurnStop = Literal["finished", "cancelled", "step_limit", "token_limit", "refused", "failed"]


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation. Times are seconds since the epoch."""

    id: str
    title: str
    kind: str
    """`panel`, `inline`, `headless` or `shared` (H-5)."""
    mode: Mode
    model: str
    """The model that was chosen or asked last; which one will be asked the settings decide as well (P-4)."""
    strategy: Strategy
    created_at: float
    updated_at: float
    turns: int = 0
    running: str | None = None
    """The id of the running turn."""
    generation: int = 0
    """Rises with every checkpoint, demotion and restore: who has seen another number must load again (D-4, K-7)."""
    chosen: bool = False
    """Whether a person chose `model`; a chat without a choice goes along with the settings."""
    places: tuple[str, ...] = ()
    """Where its text went or may go: `offline` is this machine, anything else a host. The newest is the last."""
    effort: Effort | None = None
    """Chosen for it; None: it goes along with the settings (P-6)."""


class Choices(TypedDict, total=False):
    """What is chosen for a chat; None, or no word, leaves it as it is."""

    title: str | None
    mode: Mode | None
    model: str | None
    strategy: Strategy | None
    effort: EffortChoice | None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know; never a reason to stop."""

    level: Level
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class TurnError:
    """Why a turn ended as `failed` or `refused`."""

    code: RefusalCode
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """How a turn ended (wire.md). A cancel is a result, not an error."""

    chat_id: str
    turn_id: str
    stop_reason: TurnStop
    answer: str
    steps: int
    usage: Usage
    notices: tuple[Notice, ...] = ()
    changes: tuple[FileChange, ...] = ()
    error: TurnError | None = None
    cost_usd: float | None = None
    model: str | None = None
    """The model that was asked."""
    cache_miss: CacheMiss | None = None
    """The first of the turn."""


@dataclass(frozen=True, slots=True)
class Todo:
    """One line of the todo list (T-7)."""

    content: str
    status: Literal["pending", "in_progress", "completed", "cancelled"]


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn as the store knows it."""

    id: str
    chat_id: str
    status: TurnStatus
    owner: str
    """The server instance that runs it, or ran it when it died."""
    started_at: float
    last_usage: Usage | None = None
    """Usage of the turn's latest real answer (W-2)."""
    stop_reason: TurnStop | None = None


@dataclass(frozen=True, slots=True)
class ChatHead:
    """What is known of a chat without reading what was said, however long it is."""

    chat: Chat
    checkpoints: tuple[Checkpoint, ...] = ()
    """Oldest first, the undone ones left out."""
    last: StoredTurn | None = None
    """The newest turn."""
    crashed: bool = False
    """A turn is still to be closed whose server died."""
    losses: tuple[str, ...] = ()
    """What of this is damaged or missing, in words for a person."""


@dataclass(frozen=True, slots=True)
class StoredChat:
    """Everything a chat is rebuilt from."""

    chat: Chat
    messages: tuple[Message, ...] = ()
    """The whole record, in order, the running turn's messages included."""
    turns: tuple[StoredTurn, ...] = ()
    todos: tuple[Todo, ...] = ()
    notices: frozenset[str] = field(default_factory=frozenset[str])
    """Codes of the once-per-chat notices already given."""
    checkpoints: tuple[Checkpoint, ...] = ()
    """Oldest first, the undone ones left out."""
    demotions: tuple[Demotion, ...] = ()
    """Those made for economy, in order."""
    asides: tuple[Aside, ...] = ()
    """What the view shows behind messages, in the order in which it was first shown (L-3)."""
    withdrawn: frozenset[str] = field(default_factory=frozenset[str])
    """The turns that were taken out of the view (E-2)."""
    thread_summary: ThreadSummary | None = None
    """The rolling summary, for the strategies that use one (B-3)."""
    settled: str = ""
    """The newest turn that had ended at the last compaction or restore: its usage, and older, counts no more (W-2)."""
    losses: tuple[str, ...] = ()
    """What was damaged or is missing, in words for a person; events and results aside (D-1)."""
