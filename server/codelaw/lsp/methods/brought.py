"""What people bring along, listed (X-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.protocol import brought as wire

if TYPE_CHECKING:
    from codelaw.lsp.server.connection import Connection


async def commands(connection: Connection, _params: wire.ListCommands) -> wire.CommandList:
    found = await connection.session.commands()
    return wire.CommandList(
        commands=[
            wire.UserCommand(
                name=one.sheet.name,
                description=one.description,
                arguments=one.arguments or None,
                source=one.sheet.shown,
            )
            for one in found
        ]
    )


HANDLERS = {
    "codelaw/command/list": commands,
}
