"""`codelaw/approval/request`, from server to client (S-2)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from codelaw.domain.permissions import OptionKind, Risk
from codelaw.protocol.base import Payload, Reply


class ApprovalOption(Payload):
    """One way to answer; `rule` is what a standing permission would add."""

    id: str
    title: str
    kind: OptionKind
    rule: str | None = None


class ApprovalPreview(Payload):
    diff: str | None = None
    command: str | None = None


class ApprovalRequest(Payload):
    chat_id: str
    turn_id: str
    call_id: str
    tool: str
    title: str
    risk: Risk
    preview: ApprovalPreview
    options: list[ApprovalOption]


class ApprovalReply(Reply):
    """Either an option that was offered, or `cancelled`."""

    option_id: str | None = None
    comment: Annotated[str, Field(max_length=10_000)] | None = None
    cancelled: bool | None = None
