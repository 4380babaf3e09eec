"""Servers that people bring along, and what they serve: tools, prompts, resources (X-3)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from codelaw.domain.safety.hosts import Network

EDITOR = "editor"
"""In the place of a server's name where it is the editor whose extensions serve a tool (P-7)."""
ServerStateName = Literal["off", "starting", "ready", "failed", "needs_trust", "needs_auth"]


@dataclass(frozen=True, slots=True)
class Pin:
    """A file that has to be as it was when the user agreed to what is started from it."""

    path: Path
    """Whole, without links."""
    shown: str
    """From the workspace folder on."""
    digest: str
    """SHA-256, hexadecimal."""


@dataclass(frozen=True, slots=True)
class Program:
    """A server that is a program, spoken to over its standard streams."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    """What it gets beside a clean environment."""
    cwd: Path | None = None
    pins: tuple[Pin, ...] = ()
    """Files of the workspace that it is started from; without them it does not start."""
    network: Network | None = None
    """What it reaches from within the sandbox; None: it runs outside of it."""
    rules: tuple[str, ...] = ()
    """What keeps something from it there; with others it begins anew."""
    answer: int = 0
    """Which answer of the user's lets it start, once; 0: it may start again by itself."""


@dataclass(frozen=True, slots=True)
class Address:
    """A server that is reached by HTTP."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """A server as somebody has written it down, with every variable filled in."""

    name: str
    """Letters, digits, `_` and `-`; unique among the specs that are in force."""
    way: Program | Address
    source: str
    """Where it is written, as people know it: a path as shown, or `settings`."""


@dataclass(frozen=True, slots=True)
class ServerState:
    """How a server is doing."""

    name: str
    state: ServerStateName
    tools: int = 0
    message: str = ""
    """Why, in one sentence, where that is not plain."""
    source: str | None = None
    """Where it is written; this and the next are known where all are listed."""
    digest: str | None = None
    """Of all that it is started with or reached by."""
    ask: bool = False
    """The user has yet to be asked about it."""
    logged_in: bool = False


@dataclass(frozen=True, slots=True)
class ServerList:
    """All servers that are written down, and what is wrong with what is written."""

    servers: tuple[ServerState, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServedTool:
    """A tool of a server, in the server's own words: none of it is to be believed (R-5)."""

    server: str
    name: str
    """The server's own name for it."""
    description: str
    schema: Mapping[str, Any]
    """JSON Schema of its arguments, an object's."""
    says_read_only: bool = False
    """`readOnlyHint`: a claim that counts only where the user has allowed it."""

    @property
    def digest(self) -> str:
        """Of all that the server says of it, by which a standing answer knows it again; 16 hexadecimal digits."""
        told = [self.name, self.description, self.schema, self.says_read_only]
        written = json.dumps(told, ensure_ascii=True, sort_keys=True, default=str)
        return hashlib.sha256(written.encode()).hexdigest()[:16]

    @property
    def full_name(self) -> str:
        """What the model and the rules call it."""
        return f"mcp__{self.server}__{self.name}"


@dataclass(frozen=True, slots=True)
class ServedPrompt:
    """A prompt of a server, which people call as a slash command."""

    server: str
    name: str
    description: str
    arguments: tuple[str, ...] = ()
    """Their names, in the server's order."""


@dataclass(frozen=True, slots=True)
class ServedResource:
    """Something that a server lets people read as `@server:uri`."""

    server: str
    uri: str
    name: str
    description: str = ""
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class ServedInstructions:
    """What a server says of how it is to be used, in its own words: none of it is to be believed (R-5)."""

    server: str
    text: str


@dataclass(frozen=True, slots=True)
class Offer:
    """What all servers that are ready serve at one moment, sorted by server and name."""

    tools: tuple[ServedTool, ...] = ()
    prompts: tuple[ServedPrompt, ...] = ()
    resources: tuple[ServedResource, ...] = ()
    instructions: tuple[ServedInstructions, ...] = ()


@dataclass(frozen=True, slots=True)
class ServedImage:
    """A picture that came with a result."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ServedResult:
    """What a call, or the reading of a resource, gave; bounded by who made it (S-6)."""

    text: str
    """All textual parts, in order, with a line between them."""
    structured: Mapping[str, Any] | None = None
    images: tuple[ServedImage, ...] = ()
    failed: bool = False
    """The server says that the call went wrong; `text` says how."""
    cut: bool = False
    """Something was left out because there was too much of it."""


@dataclass(frozen=True, slots=True)
class ServerQuestion:
    """What a server wants to know from the user in the middle of a call (elicitation)."""

    server: str
    message: str
    schema: Mapping[str, Any] | None = None
    """Of the fields that are asked for; None where a page is to be opened instead."""
    url: str | None = None
    """The page to be opened."""


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """What the user says to it."""

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Any] | None = None
