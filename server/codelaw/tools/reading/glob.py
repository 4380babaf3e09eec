"""Glob: files by name, newest first (T-3)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from codelaw.domain.results import ToolResult
from codelaw.tools.base import Arguments, Tool, ToolEnvironment
from codelaw.tools.paths import misspelt, starts

MAX_VISITS = 100_000
MAX_SECONDS = 2.0


class GlobArguments(Arguments):
    pattern: str = Field(min_length=1, max_length=1000)
    path: str = "."
    limit: int = Field(100, ge=1, le=500)


class Glob(Tool[GlobArguments]):
    """Data: `pattern, path, total, files, truncated?, reason?`."""

    name = "Glob"
    description = "Find files by glob, newest first. `*.py` without a slash matches at any depth; `{a,b}` is known."
    arguments = GlobArguments
    effect = "read"
    paths = "reads"

    def title(self, args: GlobArguments) -> str:
        return f"Find {args.pattern}"

    async def run(self, args: GlobArguments, env: ToolEnvironment) -> ToolResult:
        begin = await starts(env.workspace, args.path)
        found = await env.workspace.walk(begin, args.pattern, max_visits=MAX_VISITS, seconds=MAX_SECONDS)
        total = len(found.files)
        data: dict[str, Any] = {
            "pattern": args.pattern,
            "path": args.path,
            "total": total,
            "files": [file.shown for file in found.files[: args.limit]],
        }
        cut = total > args.limit or bool(found.stopped)
        if cut:
            data["truncated"] = True
            data["reason"] = found.stopped or f"limit of {args.limit} files"
        text = f"{total} files match {args.pattern}" + (f" ({data['reason']})" if cut else "")
        if not total:
            text += _hint(args.pattern)
        context = {"path_resolved": str(begin[0].path)} if len(begin) == 1 else {}
        return ToolResult("partial" if cut else "success", data, text, context=context)


def _hint(pattern: str) -> str:
    """What may be wrong with a glob that matches nothing."""
    if problem := misspelt(pattern):
        return f": {problem}"
    if not any(char in pattern for char in "*?[{"):
        return f". Only files match: what is in a folder is `{pattern.rstrip('/')}/**`."
    return ""
