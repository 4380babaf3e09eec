"""`codelaw/context/*`: what the model would see, compaction, the law, and completions of `@paths`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from codelaw.domain import checkpoints, reports
from codelaw.domain.chats import Strategy
from codelaw.domain.checkpoints import SummarySource
from codelaw.protocol.base import Params, Payload
from codelaw.protocol.chats import Id
from codelaw.protocol.enclosed import GivenOptions


class InspectContext(Params):
    """With `strategy` and `strategyOptions` a preview of them: nothing of the chat is changed.

    With `exact` the vendor is asked to count, one request that costs nothing (W-4).
    """

    chat_id: Id | None = None
    text: str | None = None
    strategy: Strategy | None = None
    strategy_options: GivenOptions | None = None
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


class SectionPayload(Payload, copies=reports.SectionReport):
    """A part of the view, in the order it is sent; `cached` lies before a cache breakpoint."""


class DroppedPayload(Payload, copies=reports.Dropped):
    pass


class BudgetLinePayload(Payload, copies=reports.BudgetLine):
    """What a part of the view takes of its share of the budget, in tokens (B-2)."""


class ToolOfferPayload(Payload, copies=reports.ToolOffer):
    """Whether a tool is offered to the model; `reason` is what enables it, or why it is not (X-1)."""


class ContextReportPayload(Payload, copies=reports.ContextReport, maybe="tools exact_problem"):
    """What would be sent now; `threshold` is in tokens, `kept` says what of the history is shown, `model` to whom.

    `dialect` is how it is asked. Tokens are estimates; `exactTokens` is the vendor's count where it was asked for,
    `exactProblem` why there is none.
    """


class CompactionReportPayload(Payload, copies=checkpoints.CompactionReport):
    """How a compaction went (K-10); tokens are estimates of the whole view.

    `thinned` counts results and arguments that are one line now; `message`, unless it is empty, is what the user is
    told, word for word.
    """


class ArchivedRounds(Payload, copies=checkpoints.Checkpoint, without="first_kept by demotions"):
    """What one checkpoint stands for; `text` is what the model sees instead, empty where it only thinned."""

    summary: SummarySource
    text: str

    @model_validator(mode="before")
    @classmethod
    def _of_checkpoint(cls, value: Any) -> Any:
        if not isinstance(value, checkpoints.Checkpoint):
            return value
        text = value.summary.content if value.summary is not None else ""
        return cls.facts(value) | {"summary": value.by, "text": text}


class Archive(Payload, copies=reports.ArchiveReport):
    """What was archived and not brought back, oldest first: as one Markdown document, and one by one."""


class LawDocumentPayload(Payload, copies=reports.LawDocument):
    pass


class LawReportPayload(Payload, copies=reports.LawReport):
    pass


class LookedPayload(Payload, copies=reports.Looked, maybe="path"):
    """Whether the model is told that the user looks at a document: its path there, or why it is not told (L-3).

    `outside` the workspace; `hidden` from listings, by its name or by ignore files; `denied` by a permission rule.
    """


class MentionItemPayload(Payload, copies=reports.MentionItem):
    pass


class MentionList(Payload):
    items: list[MentionItemPayload]
