"""`codelaw/approval/request`, from server to client (S-2)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from codelaw.domain import permissions
from codelaw.protocol.base import Payload, Reply


class ApprovalOption(Payload, copies=permissions.ApprovalOption):
    """One way to answer; `rule` is what a standing permission would add."""


class ApprovalPreview(Payload):
    """What would be done, whole: nobody is to allow what they have not seen the end of."""

    diff: str | None = None
    command: str | None = None
    text: str | None = None
    """Where it is neither a diff nor a command."""


class ApprovalRequest(
    Payload, copies=permissions.ApprovalQuestion, without="diff command text", maybe="always_asked description why"
):
    preview: ApprovalPreview


class ApprovalReply(Reply):
    """Either an option that was offered, or `cancelled`. `by`: whether a person answered (absent: one did)."""

    option_id: str | None = None
    comment: Annotated[str, Field(max_length=10_000)] | None = None
    cancelled: bool | None = None
    by: Literal["user", "headless"] | None = None
