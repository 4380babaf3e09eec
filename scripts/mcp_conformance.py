# ruff: noqa: INP001
"""The client of the protocol's own conformance suite, played by our adapter (X-3).

    npx @modelcontextprotocol/conformance client --suite core --command "python3 scripts/mcp_conformance.py"

The suite starts it with the address of a server of its own as the last word. It does what any client does: it connects,
logs in where it has to, calls each tool once with plausible arguments, accepts what it is asked, and ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
from mcp.shared.auth import OAuthClientInformationFull

from codelaw.adapters.mcp.login import KeptLogin
from codelaw.adapters.mcp.means import Fence, ServerMeans
from codelaw.adapters.mcp.servers import McpServers
from codelaw.domain.errors import ToolFailure
from codelaw.domain.served import Address, Offer, ServerAnswer, ServerQuestion, ServerSpec, ServerState

SECONDS = 100.0
ECHO = "json_schema_echo"
"""A tool that wants to be told the schema of the other one."""
DESCRIBED = "https://conformance-test.local/client-metadata.json"
KNOWN = {"redirect_uris": ["http://127.0.0.1/callback"], "token_endpoint_auth_method": "client_secret_basic"}
SAMPLES: Mapping[str, Any] = {"string": "text", "integer": 5, "number": 3, "boolean": True, "array": [], "object": {}}


class Person:
    """Accepts everything, with what is proposed."""

    async def ask(self, question: ServerQuestion) -> ServerAnswer:
        if question.schema is None:
            return ServerAnswer("accept")
        fields = question.schema.get("properties", {})
        proposed = {name: field["default"] for name, field in fields.items() if "default" in field}
        return ServerAnswer("accept", proposed)

    def reported(self, line: str) -> None:
        sys.stderr.write(f"{line}\n")


class Headless:
    """Goes wherever it is sent."""

    def __init__(self) -> None:
        self._going: set[asyncio.Task[None]] = set()

    async def open(self, url: str) -> None:
        going = asyncio.create_task(self._go(url))
        self._going.add(going)

    async def _go(self, url: str) -> None:
        async with httpx2.AsyncClient(follow_redirects=True) as client:
            await client.get(url)


async def know(folder: Path, url: str) -> None:
    """Keep what the suite says that the server's authority knows us by."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    if "client_id" in context:
        kept = KeptLogin(folder, url)
        await kept.load()
        await kept.set_client_info(OAuthClientInformationFull.model_validate(context | KNOWN))


class States:
    """What was told of the server, as it comes."""

    def __init__(self) -> None:
        self.now = ServerState("suite", "starting")
        self._came = asyncio.Event()

    def __call__(self, state: ServerState) -> None:
        self.now = state
        self._came.set()

    async def until(self, *states: str) -> None:
        while self.now.state not in states:
            self._came.clear()
            await self._came.wait()


def wanted(offer: Offer) -> list[tuple[str, dict[str, Any]]]:
    """The calls that the suite has said, or one of each tool."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    said = [(call["name"], call.get("arguments") or {}) for call in context.get("toolCalls", ())]
    if ECHO in {tool.name for tool in offer.tools}:
        said = [(ECHO, {"schema": dict(tool.schema)}) for tool in offer.tools if tool.name != ECHO]
    return said or [(tool.name, plausible(tool.schema)) for tool in offer.tools]


def plausible(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that fit the fields of a schema."""
    return {name: _value(field) for name, field in schema.get("properties", {}).items()}


def _value(field: Any) -> Any:
    if not isinstance(field, Mapping):
        return "text"
    kind = field.get("type")
    return field.get("default", field["enum"][0] if field.get("enum") else SAMPLES.get(str(kind), "text"))


async def play(url: str, folder: Path) -> int:
    """Be a client; gives the exit code."""
    means = ServerMeans(
        cwd=folder,
        version="conformance",
        fence=Fence(environment=dict(os.environ)),
        tokens=folder,
        described=DESCRIBED,
        browser=Headless(),
    )
    await know(folder, url)
    states = States()
    servers = McpServers(means, states)
    servers.begin([ServerSpec("suite", Address(url), "suite")])
    try:
        await states.until("ready", "failed", "needs_auth")
        if states.now.state == "needs_auth":
            await servers.restart("suite")
            await states.until("ready", "failed")
        if (now := states.now).state != "ready":
            sys.stderr.write(f"{now}\n")
            return 1
        for name, arguments in wanted(servers.offer()):
            try:
                result = await servers.call("suite", name, arguments, Person())
                sys.stderr.write(f"{name}: {result}\n")
            except ToolFailure as failure:
                sys.stderr.write(f"{name}: {failure}\n")
        for prompt in servers.offer().prompts:
            await servers.prompt("suite", prompt.name, dict.fromkeys(prompt.arguments, "text"))
        for resource in servers.offer().resources:
            await servers.read("suite", resource.uri)
    finally:
        await servers.close()
    return 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        sys.exit(asyncio.run(asyncio.wait_for(play(sys.argv[-1], Path(name)), SECONDS)))
