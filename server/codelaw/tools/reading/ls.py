"""LS: the names in a folder (T-3)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from codelaw.domain.files import Entry
from codelaw.domain.results import ToolResult
from codelaw.tools.base import Arguments, Tool, ToolEnvironment
from codelaw.tools.paths import is_top, located

_MARKS = {"folder": "/", "link": "@", "file": ""}


class LSArguments(Arguments):
    path: str = "."
    limit: int = Field(100, ge=1, le=200)
    hidden: bool = False


class LS(Tool[LSArguments]):
    """Data: `path, entries (name/ for folders, name@ for links), total, folders, files, truncated?`."""

    name = "LS"
    description = "List a folder, folders (`name/`) first. Ignored files are left out; `hidden` shows dotfiles."
    arguments = LSArguments
    effect = "read"
    paths = "reads"

    def title(self, args: LSArguments) -> str:
        return f"List {args.path}"

    async def run(self, args: LSArguments, env: ToolEnvironment) -> ToolResult:
        folders = env.workspace.folders
        if is_top(args.path) and len(folders) > 1:
            entries = [Entry(folder.name, "folder", 0, 0) for folder in folders]
            return _result(".", entries, args.limit, {})
        place = await located(env.workspace, args.path)
        entries = await env.workspace.entries(place, hidden=args.hidden, ignored=False)
        return _result(place.shown, entries, args.limit, {"path_resolved": str(place.path)})


def _result(shown: str, entries: list[Entry], limit: int, context: dict[str, Any]) -> ToolResult:
    entries = sorted(entries, key=lambda entry: (entry.kind != "folder", entry.name.casefold(), entry.name))
    count = sum(entry.kind == "folder" for entry in entries)
    data: dict[str, Any] = {
        "path": shown,
        "total": len(entries),
        "folders": count,
        "files": len(entries) - count,
        "entries": [entry.name + _MARKS[entry.kind] for entry in entries[:limit]],
    }
    cut = len(entries) > limit
    if cut:
        data["truncated"] = True
    text = f"{len(entries)} entries in {shown}" + (f", the first {limit} shown" if cut else "")
    return ToolResult("partial" if cut else "success", data, text, context=context)
