"""`codelaw/context/*`: what the model would see, the law, and completions of `@paths`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from codelaw.domain.reports import Layer
from codelaw.protocol.base import Params, Payload
from codelaw.protocol.chats import Id


class InspectContext(Params):
    chat_id: Id | None = None
    text: str | None = None


class ReadLaw(Params):
    pass


class ListMentions(Params):
    prefix: Annotated[str, Field(max_length=1000)]
    limit: Annotated[int, Field(ge=1, le=500)] | None = None


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


class ContextReport(Payload):
    """What would be sent now; `threshold` is in tokens."""

    sections: list[Section]
    total_tokens: int
    context_window: int
    threshold: int
    strategy: str
    dropped: list[Dropped]
    text: str


class LawDocument(Payload):
    folder: str
    uri: str
    tokens: int
    hash: str
    source: Literal["buffer", "disk"]


class LawReport(Payload):
    found: bool
    documents: list[LawDocument]
    text: str


class MentionItem(Payload):
    path: str
    kind: Literal["file", "folder"]
    detail: str | None = None


class MentionList(Payload):
    items: list[MentionItem]
