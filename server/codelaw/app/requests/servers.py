"""Requests about the servers that people bring along (X-3)."""

from __future__ import annotations

import asyncio
import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from codelaw.app.health.machine import lacking
from codelaw.domain.served import ServerList
from codelaw.settings.servers.written import shown

if TYPE_CHECKING:
    from codelaw.agent.recording.recorder import Recorder
    from codelaw.app.in_force import SettingsInForce
    from codelaw.app.servers.session_servers import BroughtServers


@dataclass(frozen=True, slots=True)
class Servers:
    """Servers: listed, begun anew, let start or switched off."""

    settings: SettingsInForce
    brought: BroughtServers
    recorder: Recorder

    async def list(self) -> ServerList:
        """What is written down now, and how each is doing; starts nothing."""
        found = await self.brought.look(self.settings.value, restricted=self.settings.restricted)
        problems = [notice.message for notice in found.notices]
        if found.servers and (why := await asyncio.to_thread(_lacking_package)) is not None:
            problems.append(f"No server can start: {why}.")
        return ServerList(
            self.brought.shown(),
            {server.name: server.source for server in found.servers},
            tuple(problems),
            {server.name: server.digest for server in found.servers},
            found.asking,
            logged_in=await self.brought.logged_in(),
        )

    async def start(self) -> None:
        """Begin those that may run, in the background, so that they are ready when a turn begins (X-3)."""
        await self.brought.start(self.settings.value, restricted=self.settings.restricted)

    async def restart(self, name: str) -> None:
        """Begin a server anew, or for the first time.

        Raises:
            Refusal: `server_not_found`, `not_trusted`, `settings_unreadable`.
        """
        await self.brought.restart(name, await self.settings.now(), restricted=self.settings.restricted)

    async def log_out(self, name: str) -> bool:
        """Forget the login to a server; whether there was one.

        Raises:
            Refusal: `server_not_found`.
        """
        return await self.brought.log_out(name, self.settings.value, restricted=self.settings.restricted)

    async def enable(self, name: str, *, enabled: bool, digest: str | None = None) -> ServerList:
        """Let a server start as it was listed, or switch it off; remembered for this person.

        `digest` is that of what the user has seen.

        Raises:
            Refusal: `server_not_found`, `not_trusted`.
        """
        settings, restricted = self.settings.value, self.settings.restricted
        server = await self.brought.enable(name, settings, enabled=enabled, digest=digest, restricted=restricted)
        made: Literal["trust", "withdraw"] = "trust" if enabled else "withdraw"
        folder = "" if server.folder is None else str(server.folder)
        title = f"The server {server.name} may start" if enabled else f"The server {server.name} is switched off"
        self.recorder.note("trust", made, "user", title=title, detail=shown(server), folder=folder)
        return await self.list()

    async def decline(self, name: str, *, digest: str) -> ServerList:
        """Ask no more about a server as the user has seen it; it stays as it is, to be let start at any time.

        Raises:
            Refusal: `server_not_found`, `not_trusted`.
        """
        settings, restricted = self.settings.value, self.settings.restricted
        await self.brought.decline(name, settings, digest=digest, restricted=restricted)
        return await self.list()


def _lacking_package() -> str | None:
    """What is missing for all servers; the package itself, which takes its time, is only looked for."""
    return lacking("mcp") if importlib.util.find_spec("mcp") is None else None
