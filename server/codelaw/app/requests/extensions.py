"""What a message can call and mention: paths, commands, skills, kinds of subagents (M-4, M-8, X-2, X-4, X-7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.app.requests.completing import completions
from codelaw.app.ruling import visible

if TYPE_CHECKING:
    from pathlib import Path

    from codelaw.app.in_force import SettingsInForce
    from codelaw.app.servers.brought import BroughtServers
    from codelaw.app.turns import TurnMaker
    from codelaw.domain.brought import AgentList, Skill, UserCommand
    from codelaw.domain.reports import MentionItem
    from codelaw.ports.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Extensions:
    """What can be completed and listed."""

    settings: SettingsInForce
    workspace: Workspace
    turns: TurnMaker
    servers: BroughtServers

    async def mentions(self, prefix: str, limit: int, typed_in: Path | None = None) -> list[MentionItem]:
        """Completions of an `@path` (M-4), of other mentions (M-8), and of a server's `@server:uri` (X-3)."""
        settings = self.settings.value
        found = await completions(visible(self.workspace, settings), prefix, limit, typed_in)
        around = self.turns.around(settings, None, restricted=self.settings.restricted)
        others = await self.turns.referring.items(prefix, around, limit)
        # Where there are many files some room is left for the rest: nothing else tells of it.
        found = [*found[: max(limit - len(others), limit // 2)], *others][:limit]
        return [*found, *self.servers.mentioned(prefix, limit - len(found))]

    async def commands(self) -> list[UserCommand]:
        """The commands of the workspace and of the user, by name (X-7); behind them the prompts of servers (X-3)."""
        shown = visible(self.workspace, self.settings.value)
        found = await self.turns.bringing.commands(shown, restricted=self.settings.restricted)
        return [*found, *self.servers.commands()]

    async def skills(self) -> list[Skill]:
        """The skills of the workspace and of the user, by name, those included that do not count (X-2)."""
        settings = self.settings.value
        shelf = await self.turns.shelf(visible(self.workspace, settings), settings, restricted=self.settings.restricted)
        return sorted(shelf.skills, key=lambda one: (one.sheet.name.casefold(), not one.offered))

    async def agents(self) -> AgentList:
        """The kinds of subagents, those included that do not count (X-4)."""
        settings = self.settings.value
        shown = visible(self.workspace, settings)
        told = self.turns.profiles.told
        return await self.turns.agents.listed(shown, settings, restricted=self.settings.restricted, told=told)
