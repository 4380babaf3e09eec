"""`codelaw/permission/*`: the standing permissions the user gave (S-2)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from codelaw.protocol.base import Params, Payload


class ListGrants(Params):
    pass


class RevokeGrant(Params):
    id: Annotated[str, Field(min_length=1, max_length=200)]


class Grant(Payload):
    """A permission that needs no question any more: in one chat, or in all chats of one person in one folder.

    `folder` is a real path, to which the rule's paths are relative; `problem` says why it allows nothing any more.
    """

    id: str
    rule: str
    scope: Literal["chat", "always"]
    folder: str | None = None
    person: str | None = None
    problem: str | None = None


class GrantList(Payload):
    grants: list[Grant]


class Revoked(Payload):
    revoked: Literal[True] = True
