"""What people bring along, listed (X-7, X-2)."""

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


async def skills(connection: Connection, _params: wire.ListSkills) -> wire.SkillList:
    found = await connection.session.skills()
    return wire.SkillList(
        skills=[
            wire.Skill(
                name=one.sheet.name,
                description=one.description,
                uri=one.sheet.uri,
                source=one.sheet.shown,
                shadowed=one.shadowed or None,
                problem=one.problem or None,
                unreadable=None if one.readable else True,
            )
            for one in found
        ]
    )


HANDLERS = {
    "codelaw/command/list": commands,
    "codelaw/skill/list": skills,
}
