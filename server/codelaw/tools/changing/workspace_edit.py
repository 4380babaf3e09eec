"""From a change that the editor proposes to the files as they would be, and to the files as they are then (E-6)."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import Field

from codelaw.domain.code import Fix, Position, ProposedChange, ProposedEdits, Span, TextEdit
from codelaw.domain.edits import Splice, fragments, spliced
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import FileText, Located
from codelaw.domain.results import FileChange, ToolResult
from codelaw.ports.editor import LanguageServices
from codelaw.tools.base import Arguments, Preview, Tool, ToolEnvironment
from codelaw.tools.changing.diffs import difference
from codelaw.tools.changing.editing import FileEdit, made, refuse_unfit, shown_whole, writable
from codelaw.tools.changing.matching import in_style, line_break
from codelaw.tools.code.diagnosing import after_edit
from codelaw.tools.code.symbols import SymbolArguments, aimed, editor_uri, line_of, services_of
from codelaw.tools.freshness import Ledger
from codelaw.tools.paths import located

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
    made = [await asyncio.to_thread(_change, *one, services) for one in found.values()]
    changes = tuple(change for change in made if change.text != change.was)
    if not changes:
        raise ToolFailure("EXECUTION_ERROR", "The editor proposes no change here.")
    return EditorProposal(changes, title)


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
) -> FileEdit:
    text, count = before.text, 0
    for document in documents:
        # Edits of one entry are all about the same text; a further entry is about what the first has made of it.
        text = spliced(text, _splices(text, document.edits, place, services))
        count += len(document.edits)
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
        last = joined[-1] if joined else Splice(-1, -1, "")
        if splice.start < last.end:
            line = text.count("\n", 0, splice.start) + 1
            raise ToolFailure(
                "EXECUTION_ERROR", f"Two edits overlap at line {line} of {place.shown}. Nothing was changed."
            )
        if splice.start == last.end:
            splice = Splice(last.start, splice.end, joined.pop().text + splice.text)  # noqa: PLW2901 - the two are one
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
    await _diagnosed([] if dry_run else written, files)
    _shorten(files)
    counts = f"{len(files)} of {len(work.changes)} files"
    if dry_run:
        data["dry_run"] = True
        text = f"Dry run, nothing written: {counts} would change."
    elif "failed" in data:
        text = f"Only {counts} were changed: then {data['failed']['message']} The others were left alone."
    else:
        notes = {
            "unsaved": " Those marked `unsaved` are not saved yet.",
            "refused": " The user refused the parts under `refused`: leave them so, unless they ask for it.",
        }
        said = [note for flag, note in notes.items() if any(flag in file for file in files)]
        text = texts[0] if len(texts) == 1 else f"Changed: {counts}.{''.join(said)}"
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
    for file, found in zip(files, every, strict=False):
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


KEPT = 8
"""Proposals that wait for their approval."""
SHOWN_FIXES = 20

A = TypeVar("A", bound=Arguments)


class ProposingTool(Tool[A]):
    """A tool whose change the editor works out.

    It is asked once for each call: what is judged and shown to the user is what is made, and where a file has changed
    in between, that is a conflict.
    """

    effect = "write"
    paths = "writes"

    def __init__(self) -> None:
        self._waiting: OrderedDict[int, tuple[A, EditorProposal]] = OrderedDict()

    async def subjects(self, args: A, env: ToolEnvironment) -> tuple[str, ...]:
        """Every file that would change (S-1)."""
        return tuple(change.place.shown for change in (await self._proposal(args, env)).changes)

    async def preview(self, args: A, env: ToolEnvironment) -> Preview:
        return (await self._proposal(args, env)).preview

    async def reviewed(self, args: A, env: ToolEnvironment) -> bool:
        return all(env.workspace.reviews(change.place) for change in (await self._proposal(args, env)).changes)

    async def _proposal(self, args: A, env: ToolEnvironment) -> EditorProposal:
        known = self._waiting.get(id(args))
        if known is not None and known[0] is args:
            return known[1]
        made = await self.proposed(args, env)
        self._waiting[id(args)] = args, made
        while len(self._waiting) > KEPT:
            self._waiting.popitem(last=False)
        return made

    async def _taken(self, args: A, env: ToolEnvironment) -> EditorProposal:
        work = await self._proposal(args, env)
        self._waiting.pop(id(args), None)
        return work

    @abstractmethod
    async def proposed(self, args: A, env: ToolEnvironment) -> EditorProposal:
        """Ask the editor.

        Raises:
            ToolFailure: there is nothing to change, or it cannot be changed.
        """


class RenameArguments(SymbolArguments):
    new_name: str = Field(min_length=1, max_length=500)
    dry_run: bool = False


class Rename(ProposingTool[RenameArguments]):
    """Data: `symbol, new_name, applied, files [{path, replacements, changed_lines, diff}], dry_run?, failed?, left?`.

    `failed` is the file at which a conflict ended it, `left` those after it.
    """

    name = "Rename"
    description = (
        "Give a symbol another name wherever it is used, by the editor's language server: safer than Edit, in one call."
    )
    arguments = RenameArguments

    def title(self, args: RenameArguments) -> str:
        return f"Rename {args.symbol} to {args.new_name}"

    async def proposed(self, args: RenameArguments, env: ToolEnvironment) -> EditorProposal:
        services = services_of(env, "rename")
        seen = versions(env)
        uri, at = await aimed(args, env, services)
        change = await services.rename(uri, at, args.new_name)
        return await proposal(change, seen, env, services)

    async def run(self, args: RenameArguments, env: ToolEnvironment) -> ToolResult:
        facts = {"symbol": args.symbol, "new_name": args.new_name}
        return await all_made(await self._taken(args, env), env, facts, self.title(args), dry_run=args.dry_run)


class QuickFixArguments(Arguments):
    path: str = Field(min_length=1)
    line: int = Field(ge=1)
    title: str | None = Field(None, min_length=1, max_length=1000)
    dry_run: bool = False


class QuickFix(ProposingTool[QuickFixArguments]):
    """Data: `title, applied, files [{path, replacements, changed_lines, diff}], dry_run?, failed?, left?`."""

    name = "QuickFix"
    description = (
        "Apply a fix that the editor offers for a line with a diagnostic. Without `title` the only one, or an error "
        "that lists the titles."
    )
    arguments = QuickFixArguments

    def title(self, args: QuickFixArguments) -> str:
        return f"Fix {args.path}:{args.line}" + (f": {args.title}" if args.title else "")

    async def proposed(self, args: QuickFixArguments, env: ToolEnvironment) -> EditorProposal:
        services = services_of(env, "quickFix")
        seen = versions(env)
        place = await located(env.workspace, args.path)
        file = await env.workspace.read(place)
        start, line = line_of(file.text, args.line, place.shown)
        first: Position = services.position(file.text, start)
        span = Span(first, services.position(file.text, start + len(line)))
        fix = _chosen(list(await services.fixes(editor_uri(place, env), span)), args, place.shown)
        return await proposal(fix.change, seen, env, services, title=fix.title)

    async def run(self, args: QuickFixArguments, env: ToolEnvironment) -> ToolResult:
        work = await self._taken(args, env)
        facts: dict[str, Any] = {"title": work.title}
        return await all_made(work, env, facts, work.title, dry_run=args.dry_run)


def _chosen(fixes: list[Fix], args: QuickFixArguments, shown: str) -> Fix:
    if not fixes:
        raise ToolFailure("NOT_FOUND", f"The editor offers no fix for line {args.line} of {shown}: use Edit.")
    wanted = " ".join((args.title or "").split()).casefold()
    matching = [fix for fix in fixes if not wanted or fix.title.casefold() == wanted]
    if len(matching) == 1 or (wanted and matching):  # some offer one twice, under one name
        return matching[0]
    titles = "; ".join(fix.title for fix in fixes[:SHOWN_FIXES])
    problem = f"There is no fix {args.title!r}" if wanted else "There are several fixes, so `title` must name one"
    raise ToolFailure("INVALID_PARAM", f"{problem}. Offered for line {args.line} of {shown}: {titles}.")
