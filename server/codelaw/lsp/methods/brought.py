"""What people bring along, listed (X-7, X-2, X-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.protocol import brought as wire

if TYPE_CHECKING:
    from codelaw.domain.brought import AgentSheet
    from codelaw.lsp.context import Context


async def commands(context: Context, _params: wire.ListCommands) -> wire.CommandList:
    found = await context.session.extensions.commands()
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


async def skills(context: Context, _params: wire.ListSkills) -> wire.SkillList:
    found = await context.session.extensions.skills()
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


async def agents(context: Context, _params: wire.ListAgents) -> wire.AgentList:
    found = await context.session.extensions.agents()
    built_in = (wire.Agent(name=one.name, description=one.description, mode=one.mode) for one in found.built_in)
    return wire.AgentList(enabled=found.enabled, agents=[*built_in, *map(_brought, found.brought)])


def _brought(one: AgentSheet) -> wire.Agent:
    return wire.Agent(
        name=one.sheet.name,
        description=one.description,
        uri=one.sheet.uri,
        source=one.sheet.shown,
        tools=None if one.tools is None else list(one.tools),
        disallowed_tools=list(one.denied) or None,
        model=one.model or None,
        max_turns=one.steps,
        effort=one.effort,
        problem=one.problem or None,
        refused=None if one.counts else True,
    )


HANDLERS = {
    "codelaw/command/list": commands,
    "codelaw/skill/list": skills,
    "codelaw/agent/list": agents,
}
