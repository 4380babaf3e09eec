"""Servers without processes: what they serve and answer is what the test has put there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.domain.served import Offer, ServedResult, ServerAnswer, ServerQuestion, ServerSpec, ServerState
from codelaw.ports.servers import CALL_SECONDS, Asking


@dataclass
class FakeServers:
    """Implements `ToolServers`: a server that is begun is ready at once, unless it is one of `slow` or `broken`."""

    serves: Offer = field(default_factory=Offer)
    """Of all servers; those of one that is not ready are not offered."""
    answers: dict[str, ServedResult | ToolFailure] = field(default_factory=dict)
    """By the server's own name of the tool, the prompt, or the resource."""
    question: ServerQuestion | None = None
    """Put to the user in every call."""
    hangs: set[str] = field(default_factory=set)
    """Prompts and resources that are never answered."""
    hanging: asyncio.Event = field(default_factory=asyncio.Event)
    """One of them was asked for."""
    slow: set[str] = field(default_factory=set)
    broken: dict[str, str] = field(default_factory=dict)
    specs: tuple[ServerSpec, ...] = ()
    begun: list[tuple[ServerSpec, ...]] = field(default_factory=list)
    calls: list[tuple[str, str, Mapping[str, Any]]] = field(default_factory=list)
    answered: list[ServerAnswer] = field(default_factory=list)
    restarted: list[str] = field(default_factory=list)
    logins: set[str] = field(default_factory=set)
    """Names of servers to which there is one."""
    left: list[ServerSpec] = field(default_factory=list)
    """Those that were logged out of."""
    near: asyncio.Event = field(default_factory=asyncio.Event)
    """Those that are slow are waited for until this is set."""
    waited: list[float] = field(default_factory=list)
    closed: bool = False
    call_seconds: float = 0.0
    says: str = ""
    """In the midst of a call."""

    def begin(self, specs: Sequence[ServerSpec], call_seconds: float = CALL_SECONDS) -> None:
        self.specs = tuple(specs)
        self.begun.append(self.specs)
        self.call_seconds = call_seconds

    async def settled(self, seconds: float) -> None:
        self.waited.append(seconds)
        await (self.near.wait() if self.slow else asyncio.sleep(0))

    def states(self) -> tuple[ServerState, ...]:
        return tuple(self._state(spec.name) for spec in self.specs)

    def offer(self) -> Offer:
        ready = {state.name for state in self.states() if state.state == "ready"}
        return Offer(
            tuple(tool for tool in self.serves.tools if tool.server in ready),
            tuple(prompt for prompt in self.serves.prompts if prompt.server in ready),
            tuple(resource for resource in self.serves.resources if resource.server in ready),
            tuple(said for said in self.serves.instructions if said.server in ready),
        )

    async def restart(self, name: str) -> None:
        if name not in {spec.name for spec in self.specs}:
            raise Refusal("server_not_found", f"There is no server {name}.")
        self.restarted.append(name)
        self.broken.pop(name, None)

    async def log_out(self, spec: ServerSpec) -> bool:
        self.left.append(spec)
        return spec.name in self.logins

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any], asking: Asking) -> ServedResult:
        self.calls.append((server, tool, dict(arguments)))
        if self.question is not None:
            self.answered.append(await asking.ask(self.question))
        if self.says:
            asking.reported(self.says)
        return self._answer(tool)

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> str:
        self.calls.append((server, name, dict(arguments)))
        await self._hang(name)
        return self._answer(name).text

    async def read(self, server: str, uri: str) -> ServedResult:
        self.calls.append((server, uri, {}))
        await self._hang(uri)
        return self._answer(uri)

    async def close(self) -> None:
        self.closed = True

    async def _hang(self, name: str) -> None:
        if name in self.hangs:
            self.hanging.set()
            await asyncio.Event().wait()

    def _state(self, name: str) -> ServerState:
        if name in self.broken:
            return ServerState(name, "failed", message=self.broken[name])
        if name in self.slow:
            return ServerState(name, "starting")
        return ServerState(name, "ready", sum(tool.server == name for tool in self.serves.tools))

    def _answer(self, name: str) -> ServedResult:
        answer = self.answers.get(name, ServedResult("done"))
        if isinstance(answer, ToolFailure):
            raise answer
        return answer
