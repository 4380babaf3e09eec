"""Edit, MultiEdit and Write: texts replaced in a file, or a whole file (T-5)."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from typing import Any, TypeVar

from pydantic import Field

from codelaw.domain.errors import ToolFailure
from codelaw.domain.results import ToolResult
from codelaw.tools.base import Arguments, Preview, Tool, ToolEnvironment
from codelaw.tools.changing.diffs import difference
from codelaw.tools.changing.editing import FileEdit, made, read_for_change, replacing, reviewed, shown_whole, writable
from codelaw.tools.changing.matching import Replacement, in_style, line_break

MAX_CONTENT = 2_000_000


class ChangeArguments(Arguments):
    path: str = Field(min_length=1)


class OneEdit(Arguments):
    old_string: str = Field(min_length=1)
    new_string: str
    replace_all: bool = False


class EditArguments(ChangeArguments):
    old_string: str = Field(min_length=1)
    new_string: str
    replace_all: bool = False
    dry_run: bool = False


class MultiEditArguments(ChangeArguments):
    edits: list[OneEdit] = Field(min_length=1, max_length=50)
    dry_run: bool = False


class WriteArguments(ChangeArguments):
    content: str = Field(max_length=MAX_CONTENT)
    dry_run: bool = False


A = TypeVar("A", EditArguments, MultiEditArguments, WriteArguments)


class Changing(Tool[A]):
    """A tool that changes one file."""

    effect = "write"
    paths = "writes"

    @abstractmethod
    async def change(self, args: A, env: ToolEnvironment) -> tuple[FileEdit, dict[str, Any]]:
        """The change, not yet made, and what the tool says of it.

        Raises:
            ToolFailure: it cannot be made.
        """

    async def preview(self, args: A, env: ToolEnvironment) -> Preview:
        change, _ = await self.change(args, env)
        return shown_whole(change.diff.text)

    async def reviewed(self, args: A, env: ToolEnvironment) -> bool:
        return await reviewed(args.path, env)

    async def run(self, args: A, env: ToolEnvironment) -> ToolResult:
        change, facts = await self.change(args, env)
        return await made(change, env, facts, dry_run=args.dry_run, label=self.title(args))


class Edit(Changing[EditArguments]):
    """Data: `path, applied, replacements, changed_lines [[first, last]], diff, diff_truncated?, dry_run?`."""

    name = "Edit"
    description = (
        "Replace `old_string`, which must stand in the file exactly once (or use `replace_all`). Read the file first; "
        "copy the text exactly, without line numbers."
    )
    arguments = EditArguments

    def title(self, args: EditArguments) -> str:
        return f"Edit {args.path}"

    async def change(self, args: EditArguments, env: ToolEnvironment) -> tuple[FileEdit, dict[str, Any]]:
        change = await replacing(args.path, [Replacement(args.old_string, args.new_string, args.replace_all)], env)
        return change, {"replacements": change.count}


class MultiEdit(Changing[MultiEditArguments]):
    """Data: `path, applied, edits, replacements, changed_lines, diff, diff_truncated?, dry_run?`."""

    name = "MultiEdit"
    description = "Several Edits of one file, all matched against its present text, not overlapping; all or nothing."
    arguments = MultiEditArguments

    def title(self, args: MultiEditArguments) -> str:
        return f"Edit {args.path} in {len(args.edits)} places"

    async def change(self, args: MultiEditArguments, env: ToolEnvironment) -> tuple[FileEdit, dict[str, Any]]:
        replacements = [
            Replacement(edit.old_string, edit.new_string, edit.replace_all, f"edits[{index}].old_string")
            for index, edit in enumerate(args.edits)
        ]
        change = await replacing(args.path, replacements, env)
        return change, {"edits": len(args.edits), "replacements": change.count}


class Write(Changing[WriteArguments]):
    """Data: `path, applied, operation, lines, changed_lines, diff, diff_truncated?, dry_run?`.

    `operation` is `created` or `overwritten`.
    """

    name = "Write"
    description = "Create a file, with its folders, or overwrite one that was read before. For changes prefer Edit."
    arguments = WriteArguments

    def title(self, args: WriteArguments) -> str:
        return f"Write {args.path}"

    async def change(self, args: WriteArguments, env: ToolEnvironment) -> tuple[FileEdit, dict[str, Any]]:
        place, current, text = await writable(args.path, env), None, args.content
        kind = await env.workspace.exists(place)
        if kind == "folder":
            raise ToolFailure("IS_DIRECTORY", f"{place.shown} is a folder.")
        if kind is not None:
            place, current = await read_for_change(args.path, env)
            text = in_style(text, line_break(current.text)) if "\n" in current.text else text
        diff = await asyncio.to_thread(difference, current.text if current is not None else "", text, place.shown)
        lines = text.count("\n") + (not text.endswith("\n") and text != "")
        operation = "created" if current is None else "overwritten"
        return FileEdit(place, current, text, diff, 0), {"operation": operation, "lines": lines}
