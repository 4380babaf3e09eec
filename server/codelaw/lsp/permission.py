"""`codelaw/permission/*`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.protocol import permissions as wire

if TYPE_CHECKING:
    from codelaw.lsp.connection import Connection


async def list_grants(connection: Connection, _params: wire.ListGrants) -> wire.GrantList:
    grants = await connection.session.grants()
    return wire.GrantList(grants=[wire.Grant(id=one.id, rule=one.rule, scope=one.scope) for one in grants])


async def revoke(connection: Connection, params: wire.RevokeGrant) -> wire.Revoked:
    await connection.session.revoke(params.id)
    return wire.Revoked()
