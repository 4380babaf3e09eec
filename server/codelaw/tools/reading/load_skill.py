"""load_skill: the text of a skill, or of one of its files (X-2, T-8)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from codelaw.domain.errors import ToolFailure
from codelaw.domain.results import ToolResult
from codelaw.tools.base import Arguments, Tool, ToolEnvironment


class LoadSkillArguments(Arguments):
    name: str = Field(min_length=1, max_length=1_000)


class LoadSkill(Tool[LoadSkillArguments]):
    """Data: `name, folder, body, files?, by?` (the tool that brings the files), or `name, folder, file, body`."""

    name = "load_skill"
    description = (
        "Load a skill of the list by its name: how to do work of its kind. `name/path` brings one of its files."
    )
    arguments = LoadSkillArguments
    effect = "read"

    def title(self, args: LoadSkillArguments) -> str:
        return f"Load the skill {args.name}"

    async def run(self, args: LoadSkillArguments, env: ToolEnvironment) -> ToolResult:
        if env.skills is None:
            raise ToolFailure("NOT_FOUND", "There are no skills here.")
        loaded = await env.skills.load(args.name)
        data: dict[str, Any] = {"name": loaded.name, "folder": loaded.folder}
        if loaded.file:
            data["file"] = loaded.file
        data["body"] = loaded.body
        if loaded.files:
            data |= {"files": [*loaded.paths], "by": loaded.by}
        notes: list[str] = []
        if loaded.cut:
            data["truncated"] = True
            notes.append(f"Only the first {len(loaded.body)} characters are here.")
        if loaded.more:
            notes.append(f"It has more files than the {len(loaded.files)} that are named.")
        return ToolResult("partial" if loaded.cut else "success", data, " ".join(notes))
