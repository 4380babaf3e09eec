"""`codelaw/permission/*`: the standing permissions the user gave (S-2)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from codelaw.domain import permissions
from codelaw.protocol.base import Params, Payload


class ListGrants(Params):
    pass


class RevokeGrant(Params):
    id: Annotated[str, Field(min_length=1, max_length=200)]


class Grant(Payload, copies=permissions.Grant, maybe="folder person"):
    """A permission that needs no question any more: in one chat, or in all chats of one person in one folder.

    `folder` is a real path, to which the rule's paths are relative; `problem` says why it allows nothing any more.
    """

    problem: str | None = None


class GrantList(Payload):
    grants: list[Grant]


class Revoked(Payload):
    revoked: Literal[True] = True


class Audit(Params):
    """Of all chats where none is named; `limit` is 100 by default."""

    chat_id: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    limit: Annotated[int, Field(ge=1, le=10_000)] | None = None


class AuditEntry(Payload, copies=permissions.AuditEntry, maybe="rule detail folder person"):
    """What was decided, by whom and by which rule.

    `chatId` is empty where it is about no chat. `rule` is the rule that spoke, or how the user answered; `detail` the
    whole command or path, or what a command failed on, a line each; long texts are cut.
    """


class AuditList(Payload):
    """Newest first."""

    entries: list[AuditEntry]
