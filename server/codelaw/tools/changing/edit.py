"""Edit: replace one text in a file (T-5)."""

from __future__ import annotations

from pydantic import Field

from codelaw.domain.results import ToolResult
from codelaw.tools.base import Arguments, Preview, Tool, ToolEnvironment
from codelaw.tools.changing.editing import made, preview, replacing, reviewed
from codelaw.tools.changing.matching import Replacement


class EditArguments(Arguments):
    path: str = Field(min_length=1)
    old_string: str = Field(min_length=1)
    new_string: str
    replace_all: bool = False
    dry_run: bool = False


class Edit(Tool[EditArguments]):
    """Data: `path, applied, replacements, changed_lines [[first, last]], diff, diff_truncated?, dry_run?`."""

    name = "Edit"
    description = (
        "Replace `old_string`, which must stand in the file exactly once (or use `replace_all`). Read the file first; "
        "copy the text exactly, without line numbers."
    )
    arguments = EditArguments
    effect = "write"
    paths = "writes"

    def title(self, args: EditArguments) -> str:
        return f"Edit {args.path}"

    async def preview(self, args: EditArguments, env: ToolEnvironment) -> Preview:
        return preview(await replacing(args.path, [_replacement(args)], env))

    async def reviewed(self, args: EditArguments, env: ToolEnvironment) -> bool:
        return await reviewed(args.path, env)

    async def run(self, args: EditArguments, env: ToolEnvironment) -> ToolResult:
        change = await replacing(args.path, [_replacement(args)], env)
        data = {"replacements": change.count}
        return await made(change, env, data, dry_run=args.dry_run, label=self.title(args))


def _replacement(args: EditArguments) -> Replacement:
    return Replacement(args.old_string, args.new_string, args.replace_all)
