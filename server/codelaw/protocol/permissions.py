"""`codelaw/permission/*`, `codelaw/approval/request` (S-2), and `codelaw/workspace/*`: trust (S-3)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from codelaw.domain import permissions
from codelaw.protocol.base import Params, Payload, Reply


class ApprovalOptionPayload(Payload, copies=permissions.ApprovalOption):
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


class ListGrants(Params):
    pass


class RevokeGrant(Params):
    grant_id: Annotated[str, Field(alias="id", min_length=1, max_length=200)]


class GrantPayload(Payload, copies=permissions.Grant, maybe="folder person"):
    """A permission that needs no question any more: in one chat, or in all chats of one person in one folder.

    `folder` is a real path, to which the rule's paths are relative.
    """


class GrantList(Payload):
    grants: list[GrantPayload]


class Revoked(Payload):
    revoked: Literal[True] = True


class Audit(Params):
    """Of all chats where none is named; `limit` is 100 by default."""

    chat_id: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    limit: Annotated[int, Field(ge=1, le=10_000)] | None = None


class AuditEntryPayload(Payload, copies=permissions.AuditEntry, maybe="rule detail folder person"):
    """What was decided, by whom and by which rule.

    `chatId` is empty where it is about no chat. `rule` is the rule that spoke, or how the user answered; `detail` the
    whole command or path, or what a command failed on, a line each; long texts are cut.
    """


class AuditList(Payload):
    """Newest first."""

    entries: list[AuditEntryPayload]


class TrustFolder(Params):
    """`folder` is the uri or the absolute path of one of the workspace's folders."""

    folder: Annotated[str, Field(min_length=1, max_length=8192)]
    trusted: bool
    digest: Annotated[str, Field(max_length=200)] | None = None
    """Of the settings file whose values the user was shown; without it, or when the file says something else by now,
    trust is refused."""


class ReadWorkspaceSettings(Params):
    pass


class WorkspaceFilePayload(Payload):
    """A folder's own settings file: its digest, and what in it counts only when the folder is trusted.

    `values` are JSON by dotted key, secrets masked, characters that are not seen as their codes.
    """

    folder: str
    path: str
    file: str
    digest: str
    trusted: bool
    values: dict[str, str]


class WorkspaceSettings(Payload):
    files: list[WorkspaceFilePayload]


class Trust(Payload):
    trusted: bool


class EditorTrust(Params):
    """Whether the editor itself trusts the folder (its restricted mode), where that has changed (S-7)."""

    trusted: bool
