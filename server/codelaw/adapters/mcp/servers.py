"""All servers of a session; implements `ToolServers` (X-3)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from codelaw.adapters.mcp.means import ServerMeans, forget_login
from codelaw.adapters.mcp.questions import ServerCall
from codelaw.adapters.mcp.server import OwnedServer
from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.domain.served import Address, Offer, ServedResult, ServerSpec, ServerState
from codelaw.ports.servers import CALL_SECONDS, Asking

CLOSE_SECONDS = 1.9


class McpServers:
    """Servers spoken to by the Model Context Protocol. To be made and used on an event loop."""

    def __init__(self, means: ServerMeans, report: Callable[[ServerState], None] | None = None) -> None:
        """`report` is called with each state of a server, and again when its lists have changed."""
        self._means = means
        self._report = report
        self._servers: dict[str, OwnedServer] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._offer = Offer()
        self._closed = False
        self._call_seconds = CALL_SECONDS

    def begin(self, specs: Sequence[ServerSpec], call_seconds: float = CALL_SECONDS) -> None:
        """See `ToolServers.begin`."""
        if self._closed:
            return
        self._call_seconds = call_seconds
        wanted = {spec.name: spec for spec in specs}
        for name, server in [*self._servers.items()]:
            if wanted.get(name) != server.spec:
                self._end(self._servers.pop(name))
        for name, spec in wanted.items():
            if name not in self._servers:
                self._servers[name] = self._started(spec)
        self._look()

    async def settled(self, seconds: float) -> None:
        """See `ToolServers.settled`."""
        await asyncio.gather(*(server.near(seconds) for server in self._servers.values()))

    def states(self) -> tuple[ServerState, ...]:
        """See `ToolServers.states`."""
        return tuple(self._servers[name].state for name in sorted(self._servers))

    def offer(self) -> Offer:
        """See `ToolServers.offer`."""
        return self._offer

    async def restart(self, name: str) -> None:
        """See `ToolServers.restart`."""
        if (server := self._servers.get(name)) is None:
            raise Refusal("server_not_found", f"There is no server {name}.")
        await server.stop()
        self._anew(server, log_in=server.state.state == "needs_auth")

    async def log_out(self, spec: ServerSpec) -> bool:
        """See `ToolServers.log_out`."""
        folder, way = self._means.tokens, spec.way
        if folder is None or not isinstance(way, Address):
            return False
        if not await asyncio.to_thread(forget_login, folder, way.url):
            return False
        if (server := self._servers.get(spec.name)) is not None:
            await server.stop()
            # Until its end it may have kept a new key.
            await asyncio.to_thread(forget_login, folder, way.url)
            self._anew(server)
        return True

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any], asking: Asking) -> ServedResult:
        """See `ToolServers.call`."""
        call = ServerCall("tool", tool, seconds=self._call_seconds, arguments=arguments, asking=asking)
        return await self._server(server).ask(call)

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> str:
        """See `ToolServers.prompt`."""
        call = ServerCall("prompt", name, seconds=self._call_seconds, arguments=arguments)
        return (await self._server(server).ask(call)).text

    async def read(self, server: str, uri: str) -> ServedResult:
        """See `ToolServers.read`."""
        return await self._server(server).ask(ServerCall("resource", uri, seconds=self._call_seconds))

    async def close(self) -> None:
        """See `ToolServers.close`."""
        self._closed = True
        for server in self._servers.values():
            self._end(server)
        self._servers = {}
        self._offer = Offer()
        if self._ending:
            await asyncio.wait(self._ending, timeout=CLOSE_SECONDS)

    def _server(self, name: str) -> OwnedServer:
        if (server := self._servers.get(name)) is None:
            raise ToolFailure("NOT_FOUND", f"There is no server {name} any more.")
        return server

    def _started(self, spec: ServerSpec, *, log_in: bool = False) -> OwnedServer:
        return OwnedServer(spec, replace(self._means, log_in=log_in), self._heard)

    def _anew(self, server: OwnedServer, *, log_in: bool = False) -> None:
        """Begin one that was stopped again, unless another has taken its place."""
        if self._servers.get(server.spec.name) is server:
            self._servers[server.spec.name] = self._started(server.spec, log_in=log_in)
            self._look()

    def _end(self, server: OwnedServer) -> None:
        ending = asyncio.create_task(server.stop())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    def _heard(self, state: ServerState) -> None:
        self._look()
        if self._report is not None and not self._closed:
            self._report(state)

    def _look(self) -> None:
        """Make a new value of what all offer, if it is another."""
        offers = [self._servers[name].offer for name in sorted(self._servers)]
        lists = (tuple(one for offer in offers for one in getattr(offer, kind.name)) for kind in fields(Offer))
        offer = Offer(*lists)
        self._offer = self._offer if offer == self._offer else offer
