"""Requests about the servers that people bring along (X-3)."""

from __future__ import annotations

import asyncio
import importlib.util
from typing import Literal

from codelaw.app.core import Core
from codelaw.app.health.machine import lacking
from codelaw.domain.served import ServerList
from codelaw.settings.servers.written import shown


class ServerRequests(Core):
    """Servers: listed, begun anew, let start or switched off."""

    async def servers(self) -> ServerList:
        """What is written down now, and how each is doing; starts nothing."""
        found = await self._servers.look(self._settings.value, restricted=self._restricted)
        problems = [notice.message for notice in found.notices]
        if found.servers and (why := await asyncio.to_thread(_lacking_package)) is not None:
            problems.append(f"No server can start: {why}.")
        return ServerList(
            self._servers.shown(),
            {server.name: server.source for server in found.servers},
            tuple(problems),
            {server.name: server.digest for server in found.servers},
            found.asking,
            logged_in=await self._servers.logged_in(),
        )

    async def start_servers(self) -> None:
        """Begin those that may run, in the background, so that they are ready when a turn begins (X-3)."""
        await self._servers.start(self._settings.value, restricted=self._restricted)

    async def restart_server(self, name: str) -> None:
        """Begin a server anew, or for the first time.

        Raises:
            Refusal: `server_not_found`, `not_trusted`, `settings_unreadable`.
        """
        await self._servers.restart(name, await self._settings_now(), restricted=self._restricted)

    async def log_out_of_server(self, name: str) -> bool:
        """Forget the login to a server; whether there was one.

        Raises:
            Refusal: `server_not_found`.
        """
        return await self._servers.log_out(name, self._settings.value, restricted=self._restricted)

    async def enable_server(self, name: str, *, enabled: bool, digest: str | None = None) -> ServerList:
        """Let a server start as it was listed, or switch it off; remembered for this person.

        `digest` is that of what the user has seen.

        Raises:
            Refusal: `server_not_found`, `not_trusted`.
        """
        settings, restricted = self._settings.value, self._restricted
        server = await self._servers.enable(name, settings, enabled=enabled, digest=digest, restricted=restricted)
        made: Literal["trust", "withdraw"] = "trust" if enabled else "withdraw"
        folder = "" if server.folder is None else str(server.folder)
        title = f"The server {server.name} may start" if enabled else f"The server {server.name} is switched off"
        self._recorder.note("trust", made, "user", title=title, detail=shown(server), folder=folder)
        return await self.servers()

    async def decline_server(self, name: str, *, digest: str) -> ServerList:
        """Ask no more about a server as the user has seen it; it stays as it is, to be let start at any time.

        Raises:
            Refusal: `server_not_found`, `not_trusted`.
        """
        settings, restricted = self._settings.value, self._restricted
        await self._servers.decline(name, settings, digest=digest, restricted=restricted)
        return await self.servers()


def _lacking_package() -> str | None:
    """What is missing for all servers; the package itself, which takes its time, is only looked for."""
    return lacking("mcp") if importlib.util.find_spec("mcp") is None else None
