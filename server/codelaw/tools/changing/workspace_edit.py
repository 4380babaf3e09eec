"""From a change that the editor proposes to the files as they would be, and to the files as they are then (E-6)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from codelaw.domain.code import ProposedChange, ProposedEdits, TextEdit
from codelaw.domain.edits import Splice, fragments, spliced
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import FileText, Located
from codelaw.domain.results import FileChange, ToolResult
from codelaw.ports.editor import LanguageServices
from codelaw.tools.base import Preview, ToolEnvironment
from codelaw.tools.changing.diffs import difference
from codelaw.tools.changing.editing import FileEdit, made, refuse_unfit, shown_whole, writable
from codelaw.tools.changing.matching import in_style, line_break
from codelaw.tools.code.diagnosing import after_edit
from codelaw.tools.freshness import Ledger

MAX_FILES = 200
DIFF_LINES = 60
"""Of one file among several, in the result."""
DIFF_CHARACTERS = 20_000
"""Of all files together."""
DIAGNOSTICS = 20
"""Of all files together."""


@dataclass(frozen=True, slots=True)
class EditorProposal:
    """Changes of files, worked out and not yet made; in the order in which they are made."""

    changes: tuple[FileEdit, ...]
    title: str = ""
    """What the editor calls it."""

    @property
    def preview(self) -> Preview:
        """One diff of all files.

        Raises:
            ToolFailure: INVALID_PARAM where it is too large to be shown whole.
        """
        return shown_whole("\n".join(change.diff.text for change in self.changes))


def versions(env: ToolEnvironment) -> dict[str, int]:
    """The version of every open document: taken before the editor is asked, so that it is known what it looked at."""
    return {buffer.uri: buffer.version for buffer in env.workspace.buffers.all()}


async def proposal(
    proposed: ProposedChange,
    seen: Mapping[str, int],
    env: ToolEnvironment,
    services: LanguageServices,
    *,
    title: str = "",
) -> EditorProposal:
    """What the proposed change makes of the files; nothing is changed yet.

    `seen` are the `versions` from before the editor was asked.

    Raises:
        ToolFailure: EXECUTION_ERROR for what is not a change of texts, or no possible one; CONFLICT when a document is
            not what the editor looked at; ACCESS_DENIED outside the workspace and in `.git`.
    """
    if proposed.operations:
        listed = ", ".join(proposed.operations[:5])
        raise ToolFailure(
            "EXECUTION_ERROR", f"The editor would also {listed}, which this tool does not do. Nothing was changed."
        )
    if len({document.path for document in proposed.documents}) > MAX_FILES:
        raise ToolFailure("EXECUTION_ERROR", f"Over {MAX_FILES} files would change. Nothing was changed.")
    found: dict[str, tuple[Located, FileText, list[ProposedEdits]]] = {}
    for document in proposed.documents:
        place = await writable(document.path, env)
        key = str(place.path)
        if key not in found:
            current = await env.workspace.read(place)
            refuse_unfit(place, current, env)
            found[key] = place, current, []
        _check_version(document, *found[key][:2], seen)
        found[key][2].append(document)
    changes: list[FileEdit] = []
    for place, before, documents in found.values():
        change = await asyncio.to_thread(_change, place, before, documents, services)
        if change is not None:
            changes.append(change)
    if not changes:
        raise ToolFailure("EXECUTION_ERROR", "The editor proposes no change here.")
    return EditorProposal(tuple(changes), title)


def _check_version(document: ProposedEdits, place: Located, current: FileText, seen: Mapping[str, int]) -> None:
    reported = document.version
    # Some servers send 0 for a file that is not open.
    if reported is not None and reported != current.version and not (current.version is None and reported <= 0):
        raise ToolFailure(
            "CONFLICT",
            f"The editor speaks of version {reported} of {place.shown}, which is not its present one: try again.",
        )
    if reported is None and seen.get(document.uri, current.version) != current.version:
        raise ToolFailure("CONFLICT", f"{place.shown} was changed while the editor was asked: try again.")


def _change(
    place: Located, before: FileText, documents: Sequence[ProposedEdits], services: LanguageServices
) -> FileEdit | None:
    text, count = before.text, 0
    for document in documents:
        # Edits of one entry are all about the same text; a further entry is about what the first has made of it.
        text = spliced(text, _splices(text, document.edits, place, services))
        count += len(document.edits)
    if text == before.text:
        return None
    return FileEdit(place, before, text, difference(before.text, text, place.shown), count)


def _splices(text: str, edits: Sequence[TextEdit], place: Located, services: LanguageServices) -> tuple[Splice, ...]:
    starts = services.offsets(text, [edit.span.start for edit in edits])
    ends = services.offsets(text, [edit.span.end for edit in edits])
    style = line_break(text)
    found: list[Splice] = []
    for edit, start, end in zip(edits, starts, ends, strict=True):
        if start is None or end is None or end < start:
            line = edit.span.start.line + 1
            raise ToolFailure(
                "EXECUTION_ERROR",
                f"An edit at line {line} lies outside the text of {place.shown}. Nothing was changed.",
            )
        found.append(Splice(start, end, in_style(edit.text, style)))
    found.sort(key=lambda splice: (splice.start, splice.end))
    joined: list[Splice] = []
    for splice in found:
        last = joined[-1] if joined else None
        if last is not None and splice.start < last.end:
            line = text.count("\n", 0, splice.start) + 1
            raise ToolFailure(
                "EXECUTION_ERROR", f"Two edits overlap at line {line} of {place.shown}. Nothing was changed."
            )
        if last is not None and splice.start == last.end:
            joined[-1] = Splice(last.start, splice.end, last.text + splice.text)
        else:
            joined.append(splice)
    return tuple(joined)


async def all_made(
    work: EditorProposal, env: ToolEnvironment, facts: Mapping[str, Any], label: str, *, dry_run: bool
) -> ToolResult:
    """Make the changes one file after the other, or with `dry_run` only tell of them.

    What fails in the middle leaves the rest alone: the result says what was done and what was not (F-4).

    Raises:
        ToolFailure: the first file could not be changed, so that nothing was.
    """
    files: list[dict[str, Any]] = []
    changes: list[FileChange] = []
    texts: list[str] = []
    written: list[tuple[Located, ToolEnvironment]] = []
    data: dict[str, Any] = {**facts, "applied": not dry_run, "files": files}
    partial = dry_run
    for number, change in enumerate(work.changes):
        try:
            known = _knowing(change, env)
            one = await made(change, known, {"replacements": change.count}, dry_run=dry_run, label=label)
        except ToolFailure as failure:
            if number == 0:
                raise
            data["failed"] = {"path": change.place.shown, "code": failure.code, "message": failure.message}
            data["left"] = [later.place.shown for later in work.changes[number + 1 :]]
            partial = True
            break
        files.append({key: value for key, value in one.data.items() if key not in {"applied", "dry_run"}})
        written.append((change.place, replace(known, services=env.services)))
        changes += one.changes
        texts.append(one.text)
        partial = partial or one.status != "success"
    if not dry_run:
        await _diagnosed(written, files)
    _shorten(files)
    counts = f"{len(files)} of {len(work.changes)} files"
    if dry_run:
        data["dry_run"] = True
        text = f"Dry run, nothing written: {counts} would change."
    elif "failed" in data:
        text = f"Only {counts} were changed: then {data['failed']['message']} The others were left alone."
    else:
        text = texts[0] if len(texts) == 1 else f"Changed: {counts}."
        if len(texts) > 1 and any("unsaved" in file for file in files):
            text += " Those marked `unsaved` are not saved yet."
        if len(texts) > 1 and any("refused" in file for file in files):
            text += " The user refused the parts under `refused`: leave them so, unless they ask for it."
    return ToolResult("partial" if partial else "success", data, text, changes=tuple(changes))


def _knowing(change: FileEdit, env: ToolEnvironment) -> ToolEnvironment:
    """The ledger learns of our write only where the model knew the text before: of another it has seen nothing.

    Without services: what is wrong afterwards is asked once for all files, not after each of them.
    """
    env = replace(env, services=None)
    try:
        if change.before is not None:
            env.ledger.require_read(change.place, change.before)
    except ToolFailure:
        return replace(env, ledger=Ledger())
    return env


async def _diagnosed(written: Sequence[tuple[Located, ToolEnvironment]], files: list[dict[str, Any]]) -> None:
    """Add what is wrong in the open ones now, where it is known."""
    room = DIAGNOSTICS
    every = await asyncio.gather(*(after_edit(place, env) for place, env in written))
    for file, found in zip(files, every, strict=True):
        if found is not None and (found or len(files) == 1) and room > 0:
            file["diagnostics"] = found[:room]
            room -= len(found)


def _shorten(files: list[dict[str, Any]]) -> None:
    """Diffs of many files share the room; each file keeps its counts and lines."""
    if len(files) < 2:
        return
    room = DIFF_CHARACTERS
    for file in files:
        diff = str(file.get("diff", ""))
        short, cut = fragments(diff, DIFF_LINES, max(0, room))
        room -= len(short)
        if cut:
            file["diff"], file["diff_truncated"] = short, True
