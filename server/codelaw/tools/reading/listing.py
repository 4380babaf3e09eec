"""LS, Glob and Grep: the names in a folder, files by their names, lines by a regular expression (T-3)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Entry
from codelaw.domain.results import ToolResult
from codelaw.tools.base import Arguments, Tool, ToolEnvironment
from codelaw.tools.paths import is_top, located, misspelt, starts

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


MAX_VISITS = 100_000
GLOB_SECONDS = 2.0


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
        found = await env.workspace.walk(begin, args.pattern, max_visits=MAX_VISITS, seconds=GLOB_SECONDS)
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


GREP_SECONDS = 5.0


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
            seconds=GREP_SECONDS,
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
