"""What Edit, MultiEdit and Write share: from a new text to a result (T-5, F-3)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import FileText, Located
from codelaw.domain.results import FileChange, ToolResult
from codelaw.tools.base import Preview, ToolEnvironment
from codelaw.tools.diffs import Diff, difference
from codelaw.tools.matching import Replacement, replaced
from codelaw.tools.paths import in_git_folder, located

DIFF_LINES = 200
NEW_LINES = 50
MAX_CHANGED = 10_000_000
"""Characters of a file that is changed; a change needs several copies of it in memory (S-6)."""
DIFF_CHARACTERS = 12_000


@dataclass(frozen=True, slots=True)
class Change:
    """A change worked out and not yet made."""

    place: Located
    before: FileText | None
    text: str
    diff: Diff
    count: int
    """Replacements."""


async def read_for_change(path: str, env: ToolEnvironment) -> tuple[Located, FileText]:
    """The file as it is, which the model must have seen.

    Raises:
        ToolFailure: what reading raises; CONFLICT when it was not read, is stale, or is unsaved in the editor;
            INVALID_PARAM when it is too large.
    """
    place = await writable(path, env)
    current = await env.workspace.read(place)
    env.ledger.require_read(place, current)
    if len(current.text) > MAX_CHANGED:
        raise ToolFailure("INVALID_PARAM", f"{place.shown} is over {MAX_CHANGED} characters: change it with Bash.")
    if current.unsaved:
        raise ToolFailure(
            "CONFLICT",
            f"{place.shown} has unsaved changes in the editor, which an edit on disk would bypass: "
            "ask the user to save or revert it.",
        )
    return place, current


async def writable(path: str, env: ToolEnvironment) -> Located:
    """The place of a file that may be written.

    Raises:
        ToolFailure: ACCESS_DENIED outside the workspace, in `.git` and for documents without a file.
    """
    place = await located(env.workspace, path)
    if not place.path.is_absolute():
        raise ToolFailure("ACCESS_DENIED", f"{place.shown} is not a file yet: ask the user to save it.")
    if in_git_folder(place):
        raise ToolFailure("ACCESS_DENIED", f"{place.shown}: `.git` is not written by file tools.")
    return place


async def replacing(path: str, replacements: list[Replacement], env: ToolEnvironment) -> Change:
    """The change that replacements make."""
    place, current = await read_for_change(path, env)
    done, diff = await asyncio.to_thread(_replaced, current.text, replacements, place.shown)
    return Change(place, current, done.text, diff, done.count)


async def made(
    change: Change, env: ToolEnvironment, data: Callable[[Change], dict[str, Any]], *, dry_run: bool
) -> ToolResult:
    """Write the change, or with `dry_run` only tell of it."""
    body = {"path": change.place.shown, "applied": not dry_run, **data(change), **_shown_diff(change)}
    context = {"path_resolved": str(change.place.path)}
    counts = f"+{change.diff.added} -{change.diff.removed} lines in {change.place.shown}"
    if dry_run:
        return ToolResult("partial", {**body, "dry_run": True}, f"Dry run, nothing written: {counts}.", context=context)
    writing = asyncio.create_task(_write(change, env))
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        # A thread cannot be stopped: what it writes must be known as our own before the turn ends.
        await asyncio.gather(writing, return_exceptions=True)
        raise
    return ToolResult("success", body, f"Written: {counts}.", context=context, changes=(_file_change(change),))


async def _write(change: Change, env: ToolEnvironment) -> None:
    written = await env.workspace.write(change.place, change.text, over=change.before)
    env.ledger.note_own_write(change.place, written)


def preview(change: Change) -> Preview:
    return Preview(diff=change.diff.head(2_000, 60_000)[0])


def _shown_diff(change: Change) -> dict[str, Any]:
    """`changed_lines` and `diff`, bounded; of a new file less, since the model has just written it."""
    text, cut = change.diff.head(DIFF_LINES if change.before is not None else NEW_LINES, DIFF_CHARACTERS)
    data: dict[str, Any] = {"changed_lines": [list(pair) for pair in change.diff.ranges[:50]], "diff": text}
    if cut:
        data["diff_truncated"] = True
    return data


def _replaced(text: str, replacements: list[Replacement], shown: str) -> tuple[Any, Diff]:
    done = replaced(text, replacements)
    return done, difference(text, done.text, shown)


def _file_change(change: Change) -> FileChange:
    kind = "created" if change.before is None else "modified"
    diff = change.diff
    return FileChange(change.place.shown, change.place.uri, kind, diff.added, diff.removed, diff.head(500, 20_000)[0])
