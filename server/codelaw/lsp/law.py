"""The law's diagnostics, kept in step with documents, files and settings (E-5)."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from codelaw.context.system import law as laws
from codelaw.context.system.law_check import Problem, check, paths, shadowed, too_long, unreadable
from codelaw.domain.files import Buffer
from codelaw.domain.laws import LawFile, LawState
from codelaw.lsp.documents.documents import DocumentMoment, path_of
from codelaw.lsp.documents.positions import Encoding, line_starts, position_of

if TYPE_CHECKING:
    from codelaw.lsp.context import Context

log = logging.getLogger(__name__)

QUIET_SECONDS = 0.2
"""Without a change, before the law is checked again."""
_SPELT = re.compile(r"[%?#\\]")
"""In a uri's last part: the file's name may be another."""
SOURCE = "codelaw"
"""Of every diagnostic."""


def is_law(uri: str, files: Sequence[str]) -> bool:
    """Whether a document may be a law by its name."""
    name = uri.rpartition("/")[2]
    if not _SPELT.search(name) and not laws.is_law_name(name, files):
        return False
    path = path_of(uri)
    return path is not None and laws.is_law_name(path.name, files)


class LawDiagnostics:
    """Publishes what is wrong with each folder's law, be it open or on the disk."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._published: dict[str, tuple[int | None, list[dict[str, Any]]]] = {}
        self._due = asyncio.Event()
        self._checking = context.spawn(self._run())

    def on_document(self, uri: str, what: DocumentMoment) -> None:
        """A document was opened, changed, saved or closed: the law itself, or one that it may name."""
        if what != "changed" or is_law(uri, self._context.configuration.law_files):
            self.soon()

    def soon(self) -> None:
        """Check again, when it has been quiet for a moment."""
        self._due.set()

    def close(self) -> None:
        """Check no more."""
        self._checking.cancel()

    async def _run(self) -> None:
        while await self._due.wait():
            while self._due.is_set():
                self._due.clear()
                await asyncio.sleep(QUIET_SECONDS)
            try:
                await self._check()
            except Exception:
                log.exception("The law could not be checked")

    async def _check(self) -> None:
        context = self._context
        await context.documents.settled()
        state = await context.session.laws.state()
        current: dict[str, tuple[int | None, list[dict[str, Any]]]] = {}
        for file in state.files:
            buffer = context.documents.at(Path(file.path))
            found = await self._problems(file, state)
            uri = file.uri if buffer is None else buffer.uri
            if _moved_on(file, buffer):
                # The next check is under way already: what it says is about the text that is there now.
                current[uri] = self._published.get(uri, (None, []))
                continue
            reported = await asyncio.to_thread(
                _reported, file.text or "", found, uri, context.documents.encoding, related=context.client.related
            )
            current[uri] = file.version, reported
            for other in file.shadowed:
                path = path_of(other)
                buffer = context.documents.at(path) if path is not None else None
                uri = other if buffer is None else buffer.uri
                current[uri] = None, _reported("", [shadowed(Path(file.path).name)], uri, "utf-16")
        for uri in [*current, *(uri for uri in self._published if uri not in current)]:
            self._publish(uri, *current.get(uri, (None, [])))

    async def _problems(self, file: LawFile, state: LawState) -> list[Problem]:
        found = [unreadable(file.problem)] if file.problem else []
        if file.text is None:
            return found
        text = file.text
        tokens = file.tokens if file.nested else state.tokens
        long = too_long(Path(file.path).name, file.tokens, tokens, state.window)
        if long is not None:
            found.append(long)
        mentioned = await asyncio.to_thread(paths, text)
        named = await self._context.session.laws.named_paths(list(dict.fromkeys(mention.path for mention in mentioned)))
        missing = {entry.path for entry in named if entry.kind == "missing"}
        return found + await asyncio.to_thread(check, text, missing)

    def _publish(self, uri: str, version: int | None, diagnostics: list[dict[str, Any]]) -> None:
        known = self._published.get(uri)
        if known == (version, diagnostics) or (not diagnostics and (known is None or not known[1])):
            return
        self._published[uri] = version, diagnostics
        if not diagnostics:
            del self._published[uri]
        params: dict[str, Any] = {"uri": uri, "diagnostics": diagnostics}
        if version is not None:
            params["version"] = version
        self._context.rpc.notify(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)


def _moved_on(file: LawFile, buffer: Buffer | None) -> bool:
    """Whether the open document is another by now than the one that was checked."""
    return buffer is not None and file.version is not None and buffer.version != file.version


def _reported(
    text: str,
    problems: list[Problem],
    uri: str,
    encoding: Encoding,
    *,
    related: bool = False,
) -> list[dict[str, Any]]:
    starts = line_starts(text)

    def place(start: int, end: int) -> dict[str, Any]:
        first, last = position_of(text, starts, start, encoding), position_of(text, starts, end, encoding)
        return {
            "start": {"line": first[0], "character": first[1]},
            "end": {"line": last[0], "character": last[1]},
        }

    reported: list[dict[str, Any]] = []
    for problem in problems:
        severity = types.DiagnosticSeverity.Warning if problem.grave else types.DiagnosticSeverity.Information
        one: dict[str, Any] = {
            "range": place(problem.start, problem.end),
            "severity": int(severity),
            "code": problem.code,
            "source": SOURCE,
            "message": problem.message,
        }
        if related and problem.related is not None:
            where = {"uri": uri, "range": place(*problem.related)}
            one["relatedInformation"] = [{"location": where, "message": "The first of them."}]
        reported.append(one)
    return reported
