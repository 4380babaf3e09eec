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
    """A permission that needs no question any more, in one chat or in all."""

    id: str
    rule: str
    scope: Literal["chat", "always"]


class GrantList(Payload):
    grants: list[Grant]


class Revoked(Payload):
    revoked: Literal[True] = True
