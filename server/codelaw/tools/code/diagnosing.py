"""Diagnostics: what the editor's language servers find wrong, and only of the text as it is now (E-6)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from codelaw.domain.code import DocumentFindings, Finding
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Located
from codelaw.domain.results import ToolResult
from codelaw.ports.editor import LanguageServices
from codelaw.tools.base import Arguments, Tool, ToolEnvironment, applying, cut_result
from codelaw.tools.code.symbols import editor_uri, services_of
from codelaw.tools.paths import is_top, located

FRESH_SECONDS = 2.0
"""How long diagnostics of the present text are waited for; language servers need a moment."""
AGAIN_SECONDS = 0.15
AFTER_EDIT = 10
"""Diagnostics that an edit's result carries."""
MESSAGE_CHARACTERS = 300
_RANK = {"error": 0, "warning": 1, "information": 2, "hint": 3}


class DiagnosticsArguments(Arguments):
    path: str | None = Field(None, min_length=1)
    limit: int = Field(50, ge=1, le=200)


class Diagnostics(Tool[DiagnosticsArguments]):
    """Data: `path?, total, errors, diagnostics [{file, line, severity, message, code?, source?}]`, and what applies.

    That is `version, truncated, withheld`, and `unversioned`: the editor does not say which text they are about.
    """

    name = "Diagnostics"
    description = (
        "Errors and warnings of the editor's language servers and linters: of one file, of a folder, or without "
        "`path` of all. Errors first."
    )
    arguments = DiagnosticsArguments
    effect = "read"
    paths = "reads"

    def title(self, args: DiagnosticsArguments) -> str:
        return "Diagnostics" if args.path is None else f"Diagnostics of {args.path}"

    async def run(self, args: DiagnosticsArguments, env: ToolEnvironment) -> ToolResult:
        services = services_of(env, "diagnostics")
        place: Located | None = None
        if args.path is not None and not is_top(args.path):
            place = await located(env.workspace, args.path)
            kind = await env.workspace.exists(place)
            if kind is None:
                raise ToolFailure("NOT_FOUND", f"There is no {place.shown}.")
            if kind == "file":
                return await _of_file(args, place, env, services)
        every = await services.diagnostics()
        return await _result(args, place, [entry for entry in every if entry.findings], env, {})


async def after_edit(place: Located, env: ToolEnvironment) -> list[dict[str, Any]] | None:
    """What is wrong with an open document as an edit has left it, errors first, at most ten.

    It must be of the very version that the ledger says the edit has made. None when that is not known: no such
    service, a file that is not open or was written on the disk, no answer in time, an answer about another version, or
    a document that the user has changed meanwhile. Never raises but for a cancel.
    """
    services = env.services
    buffer = env.workspace.buffers.at(place.path)
    if services is None or "diagnostics" not in services.offered or buffer is None:
        return None
    written = next((entry for entry in env.ledger.entries() if entry.located.path == place.path), None)
    if written is None or written.stamp is None or written.stamp.version != buffer.version:
        return None
    try:
        found = await _fresh(services, buffer.uri, buffer.version, lambda: _version(place, env))
    except ToolFailure:
        return None
    if not isinstance(found, DocumentFindings):
        return None
    return [_entry(finding, None) for finding in _ranked(found.findings)[:AFTER_EDIT]]


async def _of_file(
    args: DiagnosticsArguments, place: Located, env: ToolEnvironment, services: LanguageServices
) -> ToolResult:
    uri, version = editor_uri(place, env), _version(place, env)
    if version is None:
        every = await services.diagnostics(uri)
        own = [entry for entry in every if entry.uri == uri]
        return await _result(args, place, own, env, {"unversioned": True} if own else {})
    found = await _fresh(services, uri, version, lambda: _version(place, env), unversioned=True)
    if found == "nobody":
        data = {"path": place.shown, "unreported": True}
        text = f"Nothing in the editor has reported on {place.shown}: there may be no language server or linter for it."
        return ToolResult("partial", data, text)
    if found is None:
        data = {"path": place.shown, "stale": True}
        text = f"The editor has no diagnostics of the present text of {place.shown} yet: ask again in a moment."
        return ToolResult("partial", data, text)
    marks = {"unversioned": True} if found.version is None else {"version": found.version}
    return await _result(args, place, [found], env, marks)


async def _fresh(
    services: LanguageServices, uri: str, version: int, now: Any, *, unversioned: bool = False
) -> DocumentFindings | Literal["nobody"] | None:
    """The diagnostics of exactly that version, waited for; `now` gives the document's version of the moment.

    With `unversioned`, those of an editor that never says of which version they are, too. An editor that knows nothing
    of the document, or never says versions, is not asked again: nobody reports on it.
    """
    until = time.monotonic() + FRESH_SECONDS
    while (left := until - time.monotonic()) > 0:
        try:
            every = await services.diagnostics(uri, version, seconds=left)
        except ToolFailure as failure:
            if failure.code == "TIMEOUT":
                return None
            raise
        if now() != version:
            return None
        found = next((entry for entry in every if entry.uri == uri), None)
        if found is None:
            return "nobody"
        if found.version is None:
            return found if unversioned else None
        if found.version == version:
            return found
        await asyncio.sleep(AGAIN_SECONDS)
    return None


async def _result(
    args: DiagnosticsArguments,
    place: Located | None,
    every: Sequence[DocumentFindings],
    env: ToolEnvironment,
    marks: dict[str, Any],
) -> ToolResult:
    withheld = False
    entries: list[tuple[int, str, int, Finding]] = []
    for document in every:
        try:
            at = await located(env.workspace, document.path)
        except ToolFailure as failure:
            # Else it is outside the workspace, as a library that is looked at.
            withheld = withheld or failure.code == "PERMISSION_DENIED"
            continue
        if place is not None and at.path != place.path and place.path not in at.path.parents:
            continue
        entries += [(_RANK[one.severity], at.shown, one.span.start.line, one) for one in document.findings]
    entries.sort(key=lambda entry: entry[:3])
    errors = sum(rank == 0 for rank, *_ in entries)
    cut = len(entries) > args.limit
    diagnostics = [_entry(finding, shown) for _, shown, _, finding in entries[: args.limit]]
    data = applying(path=place and place.shown) | {"total": len(entries), "errors": errors, "diagnostics": diagnostics}
    data |= marks
    why = "Some are of files that a permission rule keeps from you."
    data |= applying(truncated=cut, withheld=withheld and why)
    text = f"{len(entries)} diagnostics, {errors} of them errors." if entries else "Nothing is found wrong."
    return cut_result(data, text, cut=cut)


def _version(place: Located, env: ToolEnvironment) -> int | None:
    buffer = env.workspace.buffers.at(place.path)
    return None if buffer is None else buffer.version


def _ranked(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: (_RANK[finding.severity], finding.span.start.line))


def _entry(finding: Finding, shown: str | None) -> dict[str, Any]:
    message = " ".join(finding.message.split())
    if len(message) > MESSAGE_CHARACTERS:
        message = message[: MESSAGE_CHARACTERS - 1] + "…"
    entry = {"line": finding.span.start.line + 1, "severity": finding.severity, "message": message}
    return applying(file=shown) | entry | applying(code=finding.code, source=finding.source)
