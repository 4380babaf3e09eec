"""`codelaw/context/*`: what the model would see, compaction, the law, and completions of `@paths`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from codelaw.domain.chats import Dialect, Strategy
from codelaw.domain.checkpoints import CompactionReason, SummarySource
from codelaw.domain.reports import BudgetPart, Layer
from codelaw.protocol.base import Method, OrNone, Params, Payload
from codelaw.protocol.chats import Chat, ChatRef, Id, Started
from codelaw.protocol.enclosed import StrategyOptions


class InspectContext(Params):
    """With `strategy` and `strategyOptions` a preview of them: nothing of the chat is changed.

    With `exact` the vendor is asked to count, one request that costs nothing (W-4).
    """

    chat_id: Id | None = None
    text: str | None = None
    strategy: Strategy | None = None
    strategy_options: StrategyOptions | None = None
    exact: bool = False


class RestoreContext(Params):
    """Undo that checkpoint and the newer ones, or the newest alone (K-3)."""

    chat_id: Id
    checkpoint_id: Id | None = None


class ReadLaw(Params):
    pass


class ListMentions(Params):
    prefix: Annotated[str, Field(max_length=1000)]
    limit: Annotated[int, Field(ge=1, le=500)] | None = None


class LookAt(Params):
    uri: Annotated[str, Field(min_length=1, max_length=8192)]


class Section(Payload):
    """A part of the view, in the order it is sent; `cached` lies before a cache breakpoint."""

    layer: Layer
    name: str
    tokens: int
    chars: int
    cut: bool
    cached: bool
    text: str


class Dropped(Payload):
    name: str
    reason: str


class BudgetLine(Payload):
    """What a part of the view takes of its share of the budget, in tokens (B-2)."""

    part: BudgetPart
    share: int
    tokens: int
    over: bool


class ToolOffer(Payload):
    """Whether a tool is offered to the model; `reason` is what enables it, or why it is not (X-1)."""

    name: str
    category: str
    offered: bool
    reason: str


class ContextReport(Payload):
    """What would be sent now; `threshold` is in tokens, `kept` says what of the history is shown, `model` to whom.

    `dialect` is how it is asked. Tokens are estimates; `exactTokens` is the vendor's count where it was asked for,
    `exactProblem` why there is none.
    """

    sections: list[Section]
    total_tokens: int
    context_window: int
    threshold: int
    strategy: str
    dropped: list[Dropped]
    text: str
    kept: str
    budget: list[BudgetLine]
    model: str | None = None
    dialect: Dialect | None = None
    exact_tokens: int | None = None
    exact_problem: OrNone[str] = None
    tools: list[ToolOffer] | None = None


class CompactionReport(Payload):
    """How a compaction went (K-10); tokens are estimates of the whole view.

    `thinned` counts results and arguments that are one line now; `message`, unless it is empty, is what the user is
    told, word for word.
    """

    compacted: bool
    reason: CompactionReason
    checkpoint_id: str | None = None
    rounds_archived: int
    rounds_kept: int
    tokens_before: int
    tokens_after: int
    summary: SummarySource
    seconds: float
    thinned: int
    message: str


class ArchivedRounds(Payload):
    """What one checkpoint stands for; `text` is what the model sees instead, empty where it only thinned."""

    id: str
    at: float
    rounds_archived: int
    summary: SummarySource
    text: str


class Archive(Payload):
    """What was archived and not brought back, oldest first: as one Markdown document, and one by one."""

    text: str
    checkpoints: list[ArchivedRounds]


class LawDocument(Payload):
    folder: str
    uri: str
    tokens: int
    hash: str
    source: Literal["buffer", "disk"]
    name: str


class LawReport(Payload):
    found: bool
    documents: list[LawDocument]
    text: str


class Looked(Payload):
    """Whether the model is told that the user looks at a document: its path there, or why it is not told (L-3).

    `outside` the workspace; `hidden` from listings, by its name or by ignore files; `denied` by a permission rule.
    """

    path: str | None = None
    unsent: Literal["outside", "hidden", "denied"] | None = None


class MentionItem(Payload):
    path: str
    kind: Literal["file", "folder", "symbol", "resource", "special"]
    detail: str | None = None


class MentionList(Payload):
    items: list[MentionItem]


METHODS = {
    "codelaw/context/inspect": Method(InspectContext, ContextReport),
    "codelaw/context/compact": Method(ChatRef, CompactionReport, Started),
    "codelaw/context/restore": Method(RestoreContext, Chat),
    "codelaw/context/archive": Method(ChatRef, Archive),
    "codelaw/context/law": Method(ReadLaw, LawReport),
    "codelaw/context/mentions": Method(ListMentions, MentionList),
    "codelaw/context/editor": Method(LookAt, Looked),
}
