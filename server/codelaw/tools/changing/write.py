"""Write: a whole file (T-5)."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import Field

from codelaw.domain.errors import ToolFailure
from codelaw.domain.results import ToolResult
from codelaw.tools.base import Arguments, Preview, Tool, ToolEnvironment
from codelaw.tools.changing.diffs import difference
from codelaw.tools.changing.editing import Change, made, preview, read_for_change, reviewed, writable
from codelaw.tools.changing.matching import in_style, line_break

MAX_CONTENT = 2_000_000


class WriteArguments(Arguments):
    path: str = Field(min_length=1)
    content: str = Field(max_length=MAX_CONTENT)
    dry_run: bool = False


class Write(Tool[WriteArguments]):
    """Data: `path, applied, operation, lines, changed_lines, diff, diff_truncated?, dry_run?`.

    `operation` is `created` or `overwritten`.
    """

    name = "Write"
    description = "Create a file, with its folders, or overwrite one that was read before. For changes prefer Edit."
    arguments = WriteArguments
    effect = "write"
    paths = "writes"

    def title(self, args: WriteArguments) -> str:
        return f"Write {args.path}"

    async def preview(self, args: WriteArguments, env: ToolEnvironment) -> Preview:
        return preview(await _change(args, env))

    async def reviewed(self, args: WriteArguments, env: ToolEnvironment) -> bool:
        return await reviewed(args.path, env)

    async def run(self, args: WriteArguments, env: ToolEnvironment) -> ToolResult:
        change = await _change(args, env)
        return await made(change, env, _facts(change), dry_run=args.dry_run, label=self.title(args))


async def _change(args: WriteArguments, env: ToolEnvironment) -> Change:
    place = await writable(args.path, env)
    kind = await env.workspace.exists(place)
    if kind == "folder":
        raise ToolFailure("IS_DIRECTORY", f"{place.shown} is a folder.")
    if kind is None:
        diff = await asyncio.to_thread(difference, "", args.content, place.shown)
        return Change(place, None, args.content, diff, 0)
    place, current = await read_for_change(args.path, env)
    text = in_style(args.content, line_break(current.text)) if "\n" in current.text else args.content
    diff = await asyncio.to_thread(difference, current.text, text, place.shown)
    return Change(place, current, text, diff, 0)


def _facts(change: Change) -> dict[str, Any]:
    lines = change.text.count("\n") + (not change.text.endswith("\n") and change.text != "")
    return {"operation": "created" if change.before is None else "overwritten", "lines": lines}
