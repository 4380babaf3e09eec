"""Requests about the servers that people bring along (X-3)."""

from __future__ import annotations

from typing import Literal

from codelaw.app.core import Core
from codelaw.domain.served import ServerList
from codelaw.settings.servers.written import shown


class ServerRequests(Core):
    """Servers: listed, begun anew, let start or switched off."""

    async def servers(self) -> ServerList:
        """What is written down now, and how each is doing; starts nothing."""
        found = await self._servers.look(self._settings.value, restricted=self._restricted)
        return ServerList(
            self._servers.states(),
            {server.name: server.source for server in found.servers},
            tuple(notice.message for notice in found.notices),
        )

    async def restart_server(self, name: str) -> None:
        """Begin a server anew, or for the first time.

        Raises:
            Refusal: `server_not_found`, `not_trusted`.
        """
        await self._servers.restart(name, self._settings.value, restricted=self._restricted)

    async def enable_server(self, name: str, *, enabled: bool) -> ServerList:
        """Let a server start as it was listed, or switch it off; remembered for this person.

        Raises:
            Refusal: `server_not_found`, `not_trusted`.
        """
        server = await self._servers.enable(name, self._settings.value, enabled=enabled, restricted=self._restricted)
        made: Literal["trust", "withdraw"] = "trust" if enabled else "withdraw"
        folder = "" if server.folder is None else str(server.folder)
        title = f"The server {server.name} may start" if enabled else f"The server {server.name} is switched off"
        self._recorder.note("trust", made, "user", title=title, detail=shown(server), folder=folder)
        return await self.servers()
