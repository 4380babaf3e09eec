"""Tools as people bring them along, with a schema that somebody else has written (X-3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import create_model

from codelaw.agent.inputs.gathering import Called
from codelaw.app.servers.offering import Brought
from codelaw.domain.results import ToolResult
from codelaw.domain.served import ServedInstructions
from codelaw.settings.model import Settings
from codelaw.tools.base import Arguments, Effect, Tool, ToolEnvironment

PYTHON = {"string": str, "integer": int, "boolean": bool}


@cache
def given(arguments: tuple[tuple[str, str], ...]) -> type[Arguments]:
    """The model of arguments with these names and types."""
    fields: dict[str, Any] = {name: (PYTHON[kind], ...) for name, kind in arguments}
    return create_model("Given", __base__=Arguments, **fields)


class BroughtTool(Tool[Any]):
    """Answers with its arguments. `properties` are those of a JSON Schema, all of them required."""

    def __init__(
        self,
        name: str,
        description: str = "",
        properties: Mapping[str, Mapping[str, Any]] | None = None,
        effect: Effect = "execute",
    ) -> None:
        self.name, self.description, self.effect = name, description, effect
        self.properties = properties or {}
        self.arguments = given(tuple((key, one["type"]) for key, one in self.properties.items()))
        self.calls: list[dict[str, Any]] = []

    def schema(self) -> Mapping[str, Any]:
        return {"type": "object", "properties": self.properties, "required": list(self.properties)}

    def title(self, args: Any) -> str:
        return f"{self.name} {' '.join(map(str, args.model_dump().values()))}".strip()

    async def run(self, args: Any, env: ToolEnvironment) -> ToolResult:
        self.calls.append(args.model_dump())
        return ToolResult("success", {"answer": f"DONE {self.name}"}, "")


@dataclass
class Bringing:
    """A session's servers, which always bring these tools and nothing else."""

    tools: tuple[BroughtTool, ...]
    instructions: tuple[ServedInstructions, ...] = ()

    async def brought(self, settings: Settings, **_more: object) -> Brought:
        return Brought(self.tools, self.instructions)

    async def gathered(self, text: str, called: Called) -> Called:
        return called


def text(description: str = "") -> dict[str, Any]:
    """The schema of an argument that is a text."""
    return {"type": "string", "description": description}


def issue_tool(effect: Effect = "execute") -> BroughtTool:
    """A tool that many tasks look for."""
    said = {"owner": text("Who owns the repository"), "title": text("The headline of the issue")}
    return BroughtTool("mcp__github__create_issue", "Open a new issue in a GitHub repository.", said, effect)


def many(count: int, effect: Effect = "execute") -> list[BroughtTool]:
    """So many tools of other kinds."""
    verbs = ("list", "delete", "archive", "rename", "export")
    things = ("invoice", "calendar event", "playlist", "dashboard", "ticket", "warehouse", "invitation")
    made: list[BroughtTool] = []
    for number in range(count):
        verb, thing = verbs[number % 5], things[number % 7]
        words = f"{verb.title()} one {thing} of the workspace number {number}, and tell what became of it afterwards."
        name = f"mcp__server{number % 9}__{verb}_{thing.replace(' ', '_')}_{number}"
        made.append(BroughtTool(name, words, {"id": text(f"Which {thing}"), "reason": text("Why")}, effect))
    return made
