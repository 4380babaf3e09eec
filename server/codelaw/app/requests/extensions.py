"""What a message can call and mention: paths, commands, skills, kinds of subagents (M-4, M-8, X-2, X-4, X-7)."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codelaw.app.ruling import visible
from codelaw.domain.errors import ToolFailure
from codelaw.domain.reports import MentionItem
from codelaw.tools.paths import located, whole

if TYPE_CHECKING:
    from pathlib import Path

    from codelaw.app.in_force import SettingsInForce
    from codelaw.app.servers.session_servers import SessionServers
    from codelaw.app.turns import TurnMaker
    from codelaw.domain.extensions import AgentList, Skill, UserCommand
    from codelaw.domain.files import Located
    from codelaw.ports.workspace import Workspace

_VISITS = 20_000
_SECONDS = 0.3
_GLOB = "*?[]{}\\"
PAGE = 50
"""Completions where no limit is named."""
_OPEN = 10
"""Open documents that come before all else."""


async def completions(workspace: Workspace, prefix: str, limit: int, typed_in: Path | None = None) -> list[MentionItem]:
    """Paths that begin with `prefix`; without a slash in it, files anywhere whose name begins with it follow (M-4).

    Before them, without a slash, come the documents that are open, those opened last first, but for the one that the
    mention is `typed_in`. With several workspace folders their names come next, and a path is completed with a
    folder's name in front or without: `src/a` gives `<folder>/src/a.py` for every folder that has it.
    """
    folder, _, begun = prefix.removeprefix("@").rpartition("/")
    begins = begun.casefold()
    items: dict[str, MentionItem] = {}
    roots = [whole(root) for root in workspace.folders] if len(workspace.folders) > 1 else []
    if not folder:
        items = {path: MentionItem(path, "file") for path in await _opened(workspace, begins, typed_in)}
        items |= {root.shown: MentionItem(root.shown, "folder") for root in roots if _fits(root.shown, begins)}
    for place, shown in await _places(workspace, folder, roots):
        try:
            entries = await workspace.entries(place, hidden=begun.startswith("."), ignored=False)
        except ToolFailure:
            continue
        for entry in sorted(entries, key=lambda entry: (entry.kind != "folder", entry.name.casefold())):
            path = posixpath.join(shown, entry.name)
            if _fits(entry.name, begins):
                items.setdefault(path, MentionItem(path, "folder" if entry.kind == "folder" else "file"))
    if not folder and begun and len(items) < limit and not any(character in begun for character in _GLOB):
        for path in await _below(workspace, roots, begun):
            items.setdefault(path, MentionItem(path, "file"))
    return list(items.values())[:limit]


async def _opened(workspace: Workspace, begins: str, but: Path | None) -> list[str]:
    """Open documents whose name begins so, but for those that no listing shows: hidden, ignored, denied, or outside."""
    found: list[str] = []
    paths = [buffer.path for buffer in workspace.buffers.all() if buffer.path is not None and buffer.path != but]
    for path in reversed(paths):
        if len(found) == _OPEN:
            break
        if not _fits(path.name, begins):
            continue
        try:
            place = await located(workspace, str(path))
            if await workspace.exists(place) == "file" and not await workspace.is_hidden(place):
                found.append(place.shown)
        except ToolFailure:
            continue
    return found


def _fits(name: str, begins: str) -> bool:
    return name.casefold().startswith(begins)


async def _places(workspace: Workspace, folder: str, roots: list[Located]) -> list[tuple[Located, str]]:
    """The folders that what was typed may mean, each with the path under which its files are mentioned."""
    if not roots:
        tries = [folder]
    elif not folder:
        return [(root, root.shown) for root in roots]
    else:
        tries = [folder, *(f"{root.shown}/{folder}" for root in roots)]
    found: dict[str, tuple[Located, str]] = {}
    for path in tries:
        try:
            place = await located(workspace, path or ".")
        except ToolFailure:
            continue
        found.setdefault(str(place.path), (place, path))
    return list(found.values())


async def _below(workspace: Workspace, roots: list[Located], begun: str) -> list[str]:
    """Files anywhere whose name begins so."""
    try:
        starts = roots or [await located(workspace, ".")]
    except ToolFailure:
        return []
    found = await workspace.walk(starts, f"**/{begun}*", max_visits=_VISITS, seconds=_SECONDS)
    return [file.shown for file in found.files]


@dataclass(frozen=True, slots=True)
class Extensions:
    """What can be completed and listed."""

    settings: SettingsInForce
    workspace: Workspace
    turns: TurnMaker
    servers: SessionServers

    async def mentions(self, prefix: str, limit: int | None, typed_in: Path | None = None) -> list[MentionItem]:
        """Completions of an `@path` (M-4), of other mentions (M-8), and of a server's `@server:uri` (X-3)."""
        settings, limit = self.settings.value, limit or PAGE
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
        return [*found, *self.servers.prompts()]

    async def skills(self) -> list[Skill]:
        """The skills of the workspace and of the user, by name, those included that do not count (X-2)."""
        settings = self.settings.value
        shelf = await self.turns.shelf(visible(self.workspace, settings), settings, restricted=self.settings.restricted)
        return sorted(shelf.skills, key=lambda one: (one.sheet.name.casefold(), not one.offered))

    async def agents(self) -> AgentList:
        """The kinds of subagents, those included that do not count (X-4)."""
        settings = self.settings.value
        shown = visible(self.workspace, settings)
        reported = self.turns.profiles.reported
        return await self.turns.agents.listed(shown, settings, restricted=self.settings.restricted, reported=reported)
