"""LS, Glob and Grep: the names in a folder, files by their names, lines by a regular expression (T-3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Entry, Located
from codelaw.domain.results import ToolResult
from codelaw.domain.safety.key_files import keeps_keys
from codelaw.tools.base import Arguments, Tool, ToolEnvironment, applying, cut_result
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
            return _listed(".", entries, args.limit, {})
        place = await located(env.workspace, args.path)
        entries = await env.workspace.entries(place, hidden=args.hidden, ignored=False)
        return _listed(place.shown, entries, args.limit, {"path_resolved": str(place.path)})


def _listed(shown: str, entries: list[Entry], limit: int, context: dict[str, Any]) -> ToolResult:
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
    text = f"{len(entries)} entries in {shown}" + (f", the first {limit} shown" if cut else "")
    return cut_result({**data, **applying(truncated=cut)}, text, cut=cut, context=context)


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
        reason = found.stopped or (f"limit of {args.limit} files" if total > args.limit else "")
        files = [file.shown for file in found.files[: args.limit]]
        data = {"pattern": args.pattern, "path": args.path, "total": total, "files": files}
        data |= applying(truncated=bool(reason), reason=reason)
        text = f"{total} files match {args.pattern}" + (f" ({reason})" if reason else "")
        hint = "" if total else _hint(args.pattern)
        return cut_result(data, text + hint, cut=reason, context=_searched(begin))


def _searched(begin: Sequence[Located]) -> dict[str, Any]:
    return {"path_resolved": str(begin[0].path)} if len(begin) == 1 else {}


def _hint(pattern: str) -> str:
    """What may be wrong with a glob that matches nothing."""
    if problem := misspelt(pattern):
        return f": {problem}"
    if not any(char in pattern for char in "*?[{"):
        return f". Only files match: what is in a folder is `{pattern.rstrip('/')}/**`."
    return ""


GREP_SECONDS = 5.0
_DENIED = "Files that a permission rule denies were not searched."
_OF_KEYS = "A file made to hold keys is searched only as `path`."


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
        reason = hits.stopped or (f"limit of {args.limit} matches" if hits.total > len(hits.hits) else "")
        data = {
            "pattern": args.pattern,
            "total": hits.total,
            "files": hits.files,
            "matches": [{"file": hit.shown, "line": hit.line, "text": hit.text} for hit in hits.hits],
        }
        data |= applying(
            # Whether or not they match: that would tell what stands in them.
            withheld=" ".join([_DENIED] * env.withheld + [_OF_KEYS] * keeps_keys(args.glob or "")),
            truncated=bool(reason),
            reason=reason,
            buffers=list(hits.from_buffers[:20]),
            fallback=hits.engine == "python",
        )
        text = f"{hits.total} matching lines in {hits.files} files" + (f" ({reason})" if reason else "")
        return cut_result(data, text, cut=reason, context=_searched(begin))
