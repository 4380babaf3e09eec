"""Answers to questions about the context, chats and models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from codelaw.domain.chats import Chat, Dialect
from codelaw.domain.checkpoints import Checkpoint
from codelaw.domain.events import ChatEvent
from codelaw.domain.messages import Message
from codelaw.domain.models import Effort, Prices

Layer = Literal["L1", "L2", "L3", "turn", "tail"]
BudgetPart = Literal["system", "summary", "retrieved", "recent", "input"]


@dataclass(frozen=True, slots=True)
class SectionReport:
    """One section of the view, in the order it is sent (L-5)."""

    layer: Layer
    name: str
    tokens: int
    chars: int
    cut: bool
    cached: bool
    """It lies before a cache breakpoint (L-6)."""
    text: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something left out of the view, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """What one part of the view takes of its share of the budget, in tokens (B-2)."""

    part: BudgetPart
    share: int
    tokens: int
    over: bool


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """Whether a tool is offered to the model, and why (X-1)."""

    name: str
    category: str
    offered: bool
    reason: str
    """What enables it, or why it is not offered."""


@dataclass(frozen=True, slots=True)
class ContextReport:
    """What would be sent now; `text` is the S4 E1 rendering (L-5)."""

    sections: tuple[SectionReport, ...]
    total_tokens: int
    context_window: int
    threshold: int
    """Tokens at which compaction is due (W-2)."""
    strategy: str
    dropped: tuple[Dropped, ...]
    text: str
    kept: str = ""
    """What the strategy shows of the history, in one line; `auto` says here which one it chose (B-1)."""
    budget: tuple[BudgetLine, ...] = ()
    model: str | None = None
    """Which would be asked."""
    dialect: Dialect | None = None
    """In which (R-3, R-4)."""
    exact_tokens: int | None = None
    """What the vendor counts, where it was asked to; all other figures are estimates (W-4)."""
    tools: tuple[ToolOffer, ...] = ()
    """All there may be, in the order of the manual."""
    exact_problem: str = ""
    """Why the vendor's count is not there, in one sentence; empty where it is, or was not asked for."""


@dataclass(frozen=True, slots=True)
class LawDocument:
    """One folder's law, or a file beside it (L-4, X-10)."""

    folder: str
    uri: str
    tokens: int
    hash: str
    """SHA-256 of the text, hexadecimal."""
    source: Literal["buffer", "disk"]
    name: str
    """Of the file, as it is spelt."""


@dataclass(frozen=True, slots=True)
class LawReport:
    found: bool
    documents: tuple[LawDocument, ...]
    text: str
    """L2 as it is sent; empty when no folder has a law."""


@dataclass(frozen=True, slots=True)
class Looked:
    """Whether the model is told that the user looks at a document (L-3)."""

    path: str
    """As the model would know it; empty outside the workspace."""
    unsent: Literal["outside", "hidden", "denied"] | None = None
    """Why it is not told; None when it is."""


@dataclass(frozen=True, slots=True)
class MentionItem:
    """A completion of an `@path` (M-4), of a server's `@server:uri` (X-3), or of another mention (M-8)."""

    path: str
    kind: Literal["file", "folder", "symbol", "resource", "special"]
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class ModelInfo:
    name: str
    context_window: int
    max_output: int
    provider: str
    current: bool
    vision: bool | None = None
    """Whether it sees pictures; None where nobody knows."""
    family: str = ""
    """What the models of its line are called by."""
    effort: tuple[Effort, ...] = ()
    """That it takes, rising; empty where nothing can be said of it."""
    default_effort: Effort | None = None
    prices: Prices | None = None
    """None where they are not known."""
    source: Literal["profile", "endpoint", "editor"] = "profile"
    """Who says so: our data, its endpoint, or the editor that lends it."""
    retired: str = ""
    """The day on which its maker ends it; empty where none is known."""
    largest_window: int | None = None
    """Tokens that it has, where that is more than `context_window`."""


@dataclass(frozen=True, slots=True)
class ChatRecord:
    """A chat with what was said and what happened."""

    chat: Chat
    messages: tuple[Message, ...]
    events: tuple[ChatEvent, ...]
    running: str | None
    earlier: bool = False
    """There are turns before those in it."""
    losses: tuple[str, ...] = ()
    """What of it was damaged or is missing, in words for a person (D-1)."""


@dataclass(frozen=True, slots=True)
class ArchiveReport:
    """What compactions have archived, as a person reads it."""

    text: str
    """One Markdown document: every summary, oldest first."""
    checkpoints: tuple[Checkpoint, ...]
    """Oldest first, the undone ones left out."""
