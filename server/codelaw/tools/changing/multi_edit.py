"""MultiEdit: several replacements in one file, all or nothing (T-5)."""

from __future__ import annotations

from pydantic import Field

from codelaw.domain.results import ToolResult
from codelaw.tools.base import Arguments, Preview, Tool, ToolEnvironment
from codelaw.tools.changing.editing import made, preview, replacing, reviewed
from codelaw.tools.changing.matching import Replacement


class OneEdit(Arguments):
    old_string: str = Field(min_length=1)
    new_string: str
    replace_all: bool = False


class MultiEditArguments(Arguments):
    path: str = Field(min_length=1)
    edits: list[OneEdit] = Field(min_length=1, max_length=50)
    dry_run: bool = False


class MultiEdit(Tool[MultiEditArguments]):
    """Data: `path, applied, edits, replacements, changed_lines, diff, diff_truncated?, dry_run?`."""

    name = "MultiEdit"
    description = "Several Edits of one file, all matched against its present text, not overlapping; all or nothing."
    arguments = MultiEditArguments
    effect = "write"
    paths = "writes"

    def title(self, args: MultiEditArguments) -> str:
        return f"Edit {args.path} in {len(args.edits)} places"

    async def preview(self, args: MultiEditArguments, env: ToolEnvironment) -> Preview:
        return preview(await replacing(args.path, _replacements(args), env))

    async def reviewed(self, args: MultiEditArguments, env: ToolEnvironment) -> bool:
        return await reviewed(args.path, env)

    async def run(self, args: MultiEditArguments, env: ToolEnvironment) -> ToolResult:
        change = await replacing(args.path, _replacements(args), env)
        counts = {"edits": len(args.edits), "replacements": change.count}
        return await made(change, env, counts, dry_run=args.dry_run, label=self.title(args))


def _replacements(args: MultiEditArguments) -> list[Replacement]:
    return [
        Replacement(edit.old_string, edit.new_string, edit.replace_all, f"edits[{index}].old_string")
        for index, edit in enumerate(args.edits)
    ]
