"""Servers that people bring along, and the user whom they may ask (X-3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from codelaw.domain.served import Offer, ServedResult, ServerAnswer, ServerQuestion, ServerSpec, ServerState

CALL_SECONDS = 120.0
"""That a call may take without a sign of progress, where nothing else is said."""


class Asking(Protocol):
    """Whom a server asks in the middle of a call."""

    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        """The answer; cancelling the task withdraws the question."""
        ...

    def reported(self, line: str) -> None:
        """How far the call is, in the server's words; returns at once, and raises nothing."""
        ...


class Browser(Protocol):
    """Opens pages where the user can see them."""

    async def open(self, url: str) -> None:
        """Open a page; returns at once, and raises nothing where there is no browser."""
        ...


class KnownServers(Protocol):
    """All servers that are written down, those too that do not run."""

    def states(self) -> tuple[ServerState, ...]:
        """How each is doing, sorted by name."""
        ...


class ToolCaller(Protocol):
    """Calls tools that are not ours."""

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any], asking: Asking) -> ServedResult:
        """Call a tool; cancelling the task tells the server and returns within a second (R-8).

        Raises:
            ToolFailure: the server is not ready, ended, hung, or answered something that cannot be read.
        """
        ...


class ToolServers(ToolCaller, Protocol):
    """Runs servers in the background and speaks with them; a broken server breaks nothing else."""

    def begin(self, specs: Sequence[ServerSpec], call_seconds: float = CALL_SECONDS) -> None:
        """Make these the servers in force: begin what is new or changed, end what is gone. Returns at once.

        `call_seconds` is the time that a call from now on may take without a sign of progress.
        """
        ...

    async def settled(self, seconds: float) -> None:
        """Wait for the servers that have begun to start less than `seconds` ago.

        For each until it is ready or has failed, and no longer than until so long after its beginning.
        """
        ...

    def states(self) -> tuple[ServerState, ...]:
        """Of the servers in force, sorted by name."""
        ...

    def offer(self) -> Offer:
        """What is served now; the same value until it changes."""
        ...

    async def restart(self, name: str) -> None:
        """Begin a server anew.

        Raises:
            Refusal: no server in force has this name (`server_not_found`).
        """
        ...

    async def log_out(self, spec: ServerSpec) -> bool:
        """Forget what was agreed with a server when the user logged in; whether there was something.

        One that runs begins anew without it, and opens no browser.

        Raises:
            OSError: it cannot be forgotten.
        """
        ...

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> str:
        """The text of a prompt.

        Raises:
            ToolFailure: as for `call`.
        """
        ...

    async def read(self, server: str, uri: str) -> ServedResult:
        """A resource.

        Raises:
            ToolFailure: as for `call`.
        """
        ...

    async def close(self) -> None:
        """End all servers and their processes, within two seconds (V-3)."""
        ...
