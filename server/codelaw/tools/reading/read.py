"""Read and load_skill: numbered lines of a file or of an earlier result, and skills (T-4, F-1, F-2, C-4, X-2)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import accumulate, takewhile
from typing import Any, cast

from pydantic import Field

from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Located
from codelaw.domain.listing import plain_lines
from codelaw.domain.results import ToolResult
from codelaw.tools.base import Arguments, Tool, ToolEnvironment, applying, cut_result
from codelaw.tools.paths import located


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
        data = {"name": loaded.name, "folder": loaded.folder, **applying(file=loaded.file), "body": loaded.body}
        data |= {"files": [*loaded.paths], "by": loaded.by} if loaded.files else {}
        notes = {
            f"Only the first {len(loaded.body)} characters are here.": loaded.cut,
            f"It has more files than the {len(loaded.files)} that are named.": loaded.more,
        }
        data |= applying(truncated=loaded.cut)
        return cut_result(data, " ".join(note for note, true in notes.items() if true), cut=loaded.cut)


MAX_LINE = 2_000
"""Characters of a line; longer ones are cut and flagged."""
MAX_CONTENT = 50_000
"""Characters of the slice as JSON; what comes after waits for the next Read (S-6)."""
RESULT = "result:"
ARCHIVE = "archive:"


class ReadArguments(Arguments):
    path: str = Field(min_length=1)
    start_line: int = Field(1, ge=1)
    limit: int = Field(500, ge=1, le=2000)


class Read(Tool[ReadArguments]):
    """Data: `path, start_line, end_line, total_lines, content, mtime, size, source`, and what applies of the rest.

    That is `version, unsaved, truncated, cut_lines, replaced, note`.
    """

    name = "Read"
    description = "Read a text file as numbered lines. `result:<ref>` reads an earlier result that was shortened."
    arguments = ReadArguments
    effect = "read"
    paths = "reads"

    def title(self, args: ReadArguments) -> str:
        return f"Read {args.path}" + (f":{args.start_line}" if args.start_line > 1 else "")

    async def run(self, args: ReadArguments, env: ToolEnvironment) -> ToolResult:
        if args.path.startswith((RESULT, ARCHIVE)):
            return await _read_result(args, env)
        place = await located(env.workspace, args.path)
        part = await env.workspace.part(place, first=args.start_line, count=args.limit, width=MAX_LINE)
        if part is not None:
            # The slice of a file that is too large to be read whole.
            body = _numbered(list(zip(part.lines, part.lengths, strict=True)), part.total_lines, args)
            facts = {"mtime": part.mtime, "size": part.size, "source": "disk", **applying(replaced=part.replaced)}
            return _result({"path": place.shown, **body, **facts}, "", _resolved(place))
        file = await env.workspace.read(place)
        body = _slice(file.text, args)
        changed = env.ledger.changed_since_read(place, file)
        env.ledger.note_read(place, file)
        note = f"Note: {place.shown} was modified externally." if changed else ""
        facts = {"mtime": file.mtime, "size": file.size, "source": file.source}
        facts |= applying(version=file.version, unsaved=file.unsaved, replaced=file.replaced, note=note)
        return _result({"path": place.shown, **body, **facts}, note, _resolved(place))


async def _read_result(args: ReadArguments, env: ToolEnvironment) -> ToolResult:
    full = await env.results(args.path.removeprefix(RESULT))
    if full is None:
        raise ToolFailure("NOT_FOUND", f"No result is kept under {args.path}.")
    kept: dict[str, Any] = {key: full[key] for key in ("status", "data", "error") if key in full} or full
    context = full.get("context")
    if isinstance(context, Mapping) and "params_input" in context:
        # The call's own words may have been left out of the history as well (C-6).
        kept = {"arguments": cast("Mapping[str, Any]", context)["params_input"], **kept}
    lines = [line[at : at + MAX_LINE] for line in plain_lines(kept) for at in range(0, len(line) or 1, MAX_LINE)]
    return _result({"path": args.path, **_slice("\n".join(lines), args), "source": "result"}, "", {})


def _slice(text: str, args: ReadArguments) -> dict[str, Any]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    first = args.start_line - 1
    wanted = [line.removesuffix("\r") for line in lines[first : first + args.limit]]
    return _numbered([(line, len(line)) for line in wanted], len(lines), args)


def _numbered(wanted: Sequence[tuple[str, int]], total: int, args: ReadArguments) -> dict[str, Any]:
    """The slice, from lines with the number of characters that each has in the file."""
    if args.start_line > max(total, 1):
        raise ToolFailure(
            "INVALID_PARAM", f"start_line = {args.start_line} is past the end: {args.path} has {total} lines."
        )
    numbered = [
        f"{number}\t{line if len(line) <= MAX_LINE else f'{line[:MAX_LINE]}… ({length} characters)'}"
        for number, (line, length) in enumerate(wanted, args.start_line)
    ]
    shown = numbered[: _fitting(numbered)]
    end = args.start_line - 1 + len(shown)
    kept = enumerate(wanted[: len(shown)], args.start_line)
    body = {"start_line": args.start_line, "end_line": end, "total_lines": total, "content": "\n".join(shown)}
    cut_lines = [number for number, (line, _) in kept if len(line) > MAX_LINE]
    return {**body, **applying(truncated=end < total, cut_lines=cut_lines)}


def _fitting(lines: Sequence[str]) -> int:
    """How many of these lines may be shown: one at least, and no more than fit as JSON."""
    # A line break takes two characters there, as the quotes of a line by itself do: the sum is the same.
    sizes = accumulate(len(json.dumps(line, ensure_ascii=False)) for line in lines)
    return max(1, sum(1 for _ in takewhile(lambda size: size <= MAX_CONTENT, sizes)))


def _resolved(place: Located) -> dict[str, Any]:
    return {"path_resolved": str(place.path)}


def _result(data: dict[str, Any], note: str, context: dict[str, Any]) -> ToolResult:
    lines = f"Lines {data['start_line']}-{data['end_line']} of {data['total_lines']} of {data['path']}."
    notes = {
        "truncated": f"Go on with start_line {data['end_line'] + 1}.",
        "cut_lines": f"Lines over {MAX_LINE} characters are cut.",
        "replaced": "Bytes that are not UTF-8 stand as U+FFFD.",
    }
    said = [words for flag, words in notes.items() if flag in data]
    first = lines if data["total_lines"] else f"{data['path']} is empty."
    return cut_result(data, " ".join(filter(None, (first, *said, note))), cut=said, context=context)
