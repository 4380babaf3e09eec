"""`codelaw/permission/*`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.protocol import permissions as wire

if TYPE_CHECKING:
    from codelaw.domain.permissions import Grant
    from codelaw.lsp.connection import Connection

OUTDATED = "It was given before folders were kept, and allows nothing any more: give it again where it is wanted."


async def list_grants(connection: Connection, _params: wire.ListGrants) -> wire.GrantList:
    grants = await connection.session.grants()
    return wire.GrantList(grants=[_grant(one) for one in grants])


def _grant(one: Grant) -> wire.Grant:
    return wire.Grant(
        id=one.id,
        rule=one.rule,
        scope=one.scope,
        folder=one.folder or None,
        person=one.person or None,
        problem=OUTDATED if one.outdated else None,
    )


async def revoke(connection: Connection, params: wire.RevokeGrant) -> wire.Revoked:
    await connection.session.revoke(params.id)
    return wire.Revoked()
