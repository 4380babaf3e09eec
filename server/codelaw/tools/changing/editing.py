"""What Edit, MultiEdit and Write share: from a new text to a result (T-5, F-3)."""

from __future__ import annotations

import asyncio
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import Field

from codelaw.domain.edits import fragments
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import FileText, Located
from codelaw.domain.results import FileChange, ToolResult
from codelaw.ports.cancelling import outlast
from codelaw.tools.base import Arguments, Preview, Tool, ToolEnvironment, applying
from codelaw.tools.changing.diffs import Diff, difference
from codelaw.tools.changing.matching import Replacement, in_style, line_break, replaced, same_lines
from codelaw.tools.code.diagnosing import after_edit
from codelaw.tools.paths import located, refuse_protected
from codelaw.transcript.chat_file.chat_file import named_chat_file

PREVIEW_CHARACTERS = 500_000
"""Of a diff that the user is asked about."""
DIFF_LINES = 200
NEW_LINES = 50
MAX_CHANGED = 10_000_000
"""Characters of a file that is changed; a change needs several copies of it in memory (S-6)."""
DIFF_CHARACTERS = 12_000
_SHORTENED = re.compile(r"… \[\d+ characters, shortened(?:: result:\w+)?\]")


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A change worked out and not yet made."""

    place: Located
    before: FileText | None
    text: str
    diff: Diff
    count: int
    """Replacements."""
    mended: tuple[str, ...] = ()
    """What is told of edits that were mended."""

    @property
    def was(self) -> str:
        """The text before it."""
        return self.before.text if self.before is not None else ""


async def read_for_change(path: str, env: ToolEnvironment) -> tuple[Located, FileText]:
    """The file as it is, which the model must have seen.

    Raises:
        ToolFailure: what reading raises; CONFLICT when it was not read, is stale, or is unsaved in the editor;
            INVALID_PARAM when it is too large.
    """
    place = await writable(path, env)
    current = await env.workspace.read(place)
    env.ledger.require_read(place, current)
    refuse_unfit(place, current, env)
    return place, current


def refuse_unfit(place: Located, current: FileText, env: ToolEnvironment) -> None:
    """Nothing, for a text that a change on the disk neither bypasses nor holds too often in memory.

    Raises:
        ToolFailure: CONFLICT, INVALID_PARAM.
    """
    if len(current.text) > MAX_CHANGED:
        raise ToolFailure("INVALID_PARAM", f"{place.shown} is over {MAX_CHANGED} characters: change it with Bash.")
    if current.unsaved and not env.workspace.in_editor(place):
        raise ToolFailure(
            "CONFLICT",
            f"{place.shown} has unsaved changes in the editor, which an edit on disk would bypass: "
            "ask the user to save or revert it.",
        )


async def writable(path: str, env: ToolEnvironment) -> Located:
    """The place of a file that may be written.

    Raises:
        ToolFailure: ACCESS_DENIED outside the workspace, in `.git` and for documents without a file.
    """
    place = await located(env.workspace, path)
    if not place.path.is_absolute() and not env.workspace.in_editor(place):
        raise ToolFailure("ACCESS_DENIED", f"{place.shown} is not a file yet: ask the user to save it.")
    if place.path.is_absolute():
        refuse_protected(place)
    if named_chat_file(place.shown):
        raise ToolFailure("ACCESS_DENIED", f"{place.shown} is a chat file: the person writes there, and your answers.")
    return place


async def replacing(path: str, replacements: list[Replacement], env: ToolEnvironment) -> FileEdit:
    """The change that replacements make."""
    place, current = await read_for_change(path, env)
    done = await asyncio.to_thread(replaced, current.text, replacements)
    diff = await asyncio.to_thread(difference, current.text, done.text, place.shown)
    return FileEdit(place=place, before=current, text=done.text, diff=diff, count=done.count, mended=done.mended)


async def made(
    change: FileEdit, env: ToolEnvironment, data: Mapping[str, Any], *, dry_run: bool, label: str = ""
) -> ToolResult:
    """Write the change, or with `dry_run` only tell of it; `data` is what the tool itself says of it.

    Raises:
        ToolFailure: what writing raises; INVALID_PARAM for a text that the history has shortened.
    """
    _refuse_shortened(change)
    body = {"path": change.place.shown, "applied": not dry_run, **data, **applying(mended=bool(change.mended))}
    context = {"path_resolved": str(change.place.path)}
    mends = " ".join(["", *change.mended, "Check the diff."]) if change.mended else ""
    if dry_run:
        text = f"Dry run, nothing written: {_counts(change)}.{mends}"
        return ToolResult("partial", {**body, **_shown_diff(change), "dry_run": True}, text, context=context)
    writing = asyncio.create_task(_write(change, env, label))
    try:
        written = await asyncio.shield(writing)
    except asyncio.CancelledError:
        # It is withdrawn if that can still be done, else known as our own before the turn ends.
        writing.cancel()
        await outlast(writing)
        if not writing.cancelled():
            writing.exception()  # the cancel is told of, not this
        raise
    done, refused = await asyncio.to_thread(_came_of, change, written)
    part = fragments(refused.text, DIFF_LINES, DIFF_CHARACTERS)[0] if refused is not None else ""
    body |= {**_shown_diff(done), **applying(unsaved=written.unsaved, refused=part)}
    found = await after_edit(change.place, env)
    body |= {} if found is None else {"diagnostics": found}
    text = "Changed in the editor, not saved yet" if written.unsaved else "Written"
    said = " The user looked at it and refused the part under `refused`: leave it so, unless they ask for it."
    text = f"{text}: {_counts(done)}.{said if refused is not None else ''}{mends}"
    diff = done.diff
    made_change = FileChange(
        path=done.place.shown,
        uri=done.place.uri,
        kind="created" if done.before is None else "modified",
        added=diff.added,
        removed=diff.removed,
        diff=diff.head(500, 20_000)[0],
    )
    status = "partial" if refused is not None or change.mended else "success"
    return ToolResult(status, body, text, context=context, changes=(made_change,))


async def reviewed(path: str, env: ToolEnvironment) -> bool:
    """Whether the user will confirm each part of a change of that file in the editor (E-1)."""
    try:
        return env.workspace.reviews(await located(env.workspace, path))
    except ToolFailure:
        return False


async def _write(change: FileEdit, env: ToolEnvironment, label: str) -> FileText:
    journal = env.journal
    number = await journal.plan(change.place, change.before, change.text) if journal is not None else 0
    try:
        # Nothing may come between this and the write: the file may be closed at any time.
        if env.confirmed_in_editor and not env.workspace.reviews(change.place):
            message = f"{change.place.shown} cannot be confirmed in the editor any more: try again."
            raise ToolFailure("CONFLICT", message)  # noqa: TRY301 - the plan is withdrawn below
        written = await env.workspace.write(change.place, change.text, over=change.before, label=label)
    except ToolFailure as failed:
        # Whether an uncertain one, or one that was stopped, was made is found out when it is to be undone.
        if journal is not None and not failed.uncertain:
            await journal.withdraw(number)
        raise
    env.ledger.note_read(change.place, written)
    if journal is not None:
        await journal.settle(number, written.text)
    return written


def _came_of(change: FileEdit, written: FileText) -> tuple[FileEdit, Diff | None]:
    """The change as it was made, and what the user refused of it."""
    if same_lines(written.text, change.text):
        return change, None
    before = change.was
    done = replace(change, text=written.text, diff=difference(before, written.text, change.place.shown))
    return done, difference(written.text, change.text, change.place.shown)


def _refuse_shortened(change: FileEdit) -> None:
    """A model that copies from its own history may copy the mark that stands there for the rest of a text (C-6)."""
    new = Counter(_SHORTENED.findall(change.text)) - Counter(_SHORTENED.findall(change.was))
    if new:
        raise ToolFailure(
            "INVALID_PARAM",
            f"The text holds {min(new)!r}, which marks what was shortened in the history: write the text itself.",
        )


def _counts(change: FileEdit) -> str:
    return f"+{change.diff.added} -{change.diff.removed} lines in {change.place.shown}"


def shown_whole(diff: str) -> Preview:
    """A diff as a preview; nothing of it is ever left out (S-2).

    Raises:
        ToolFailure: INVALID_PARAM where it is too large.
    """
    if len(diff) > PREVIEW_CHARACTERS:
        raise ToolFailure(
            "INVALID_PARAM",
            f"The user is asked about this change and has to see all of it, and its diff has {len(diff)} characters: "
            f"make it in parts of at most {PREVIEW_CHARACTERS}.",
        )
    return Preview(diff=diff)


def _shown_diff(change: FileEdit) -> dict[str, Any]:
    """`changed_lines` and `diff`, bounded; of a new file less, since the model has just written it."""
    text, cut = fragments(change.diff.text, DIFF_LINES if change.before is not None else NEW_LINES, DIFF_CHARACTERS)
    lines = [list(pair) for pair in change.diff.ranges[:50]]
    return {"changed_lines": lines, "diff": text, **applying(diff_truncated=cut)}


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
