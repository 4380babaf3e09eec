"""`codelaw/approval/request`, from server to client (S-2)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from codelaw.domain.permissions import OptionKind, Risk
from codelaw.protocol.base import OrNone, Payload, Reply


class ApprovalOption(Payload):
    """One way to answer; `rule` is what a standing permission would add."""

    id: str
    title: str
    kind: OptionKind
    rule: str | None = None


class ApprovalPreview(Payload):
    """What would be done, whole: nobody is to allow what they have not seen the end of."""

    diff: str | None = None
    command: str | None = None
    text: str | None = None
    """Where it is neither a diff nor a command."""


class ApprovalRequest(Payload):
    chat_id: str
    turn_id: str
    call_id: str
    tool: str
    title: str
    risk: Risk
    preview: ApprovalPreview
    options: list[ApprovalOption]
    always_asked: OrNone[bool] = None
    """True for a file that other programs obey: no rule of the client's, like `--yes`, may answer (S-8)."""
    description: OrNone[str] = None
    """The model's own words for the call, on one line: shown as such, after what it does."""
    why: OrNone[str] = None
    """Why it is asked."""


class ApprovalReply(Reply):
    """Either an option that was offered, or `cancelled`. `by`: whether a person answered (absent: one did)."""

    option_id: str | None = None
    comment: Annotated[str, Field(max_length=10_000)] | None = None
    cancelled: bool | None = None
    by: Literal["user", "headless"] | None = None
