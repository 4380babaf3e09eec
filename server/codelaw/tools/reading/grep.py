"""Grep: lines by regular expression, newest files first (T-3)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from codelaw.domain.errors import ToolFailure
from codelaw.domain.results import ToolResult
from codelaw.tools.base import Arguments, Tool, ToolEnvironment
from codelaw.tools.paths import starts

MAX_SECONDS = 5.0


class GrepArguments(Arguments):
    pattern: str = Field(min_length=1, max_length=1000)
    path: str = "."
    glob: str | None = None
    case_sensitive: bool = True
    limit: int = Field(100, ge=1, le=100)


class Grep(Tool[GrepArguments]):
    """Data: `pattern, total, files, matches [{file, line, text}], withheld?, truncated?, reason?, buffers?, fallback?`.

    `buffers` names the files whose unsaved or open text was searched instead of the disk (F-1); `fallback` says that
    the search ran without `rg`.
    """

    name = "Grep"
    description = (
        "Search file contents, line by line, with a regular expression (no lookaround or backreferences). "
        "`glob` narrows the files. Newest files first; open editors are searched as they stand."
    )
    arguments = GrepArguments
    effect = "read"
    paths = "reads"

    def title(self, args: GrepArguments) -> str:
        return f"Search {args.pattern}" + ("" if args.path == "." else f" in {args.path}")

    async def run(self, args: GrepArguments, env: ToolEnvironment) -> ToolResult:
        begin = await starts(env.workspace, args.path)
        hits = await env.workspace.search(
            begin,
            args.pattern,
            glob=args.glob,
            case_sensitive=args.case_sensitive,
            limit=args.limit,
            seconds=MAX_SECONDS,
        )
        if hits.stopped and not hits.hits:
            raise ToolFailure(
                "TIMEOUT", f"No match found before the search ended: {hits.stopped}. Narrow path or glob."
            )
        data: dict[str, Any] = {"pattern": args.pattern, "total": hits.total, "files": hits.files}
        data["matches"] = [{"file": hit.shown, "line": hit.line, "text": hit.text} for hit in hits.hits]
        if env.withheld:
            # Whether or not they match: that would tell what stands in them.
            data["withheld"] = "Files that a permission rule denies were not searched."
        cut = hits.total > len(hits.hits) or bool(hits.stopped)
        if cut:
            data["truncated"] = True
            data["reason"] = hits.stopped or f"limit of {args.limit} matches"
        if hits.from_buffers:
            data["buffers"] = list(hits.from_buffers[:20])
        if hits.engine == "python":
            data["fallback"] = True
        text = f"{data['total']} matching lines in {hits.files} files" + (f" ({data['reason']})" if cut else "")
        context = {"path_resolved": str(begin[0].path)} if len(begin) == 1 else {}
        return ToolResult("partial" if cut else "success", data, text, context=context)
