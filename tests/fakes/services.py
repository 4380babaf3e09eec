"""An editor's language servers without an editor: whole words are symbols, and tests say the rest."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from codelaw.domain.code import (
    CodePlace,
    DocumentFindings,
    Finding,
    Fix,
    NamedCode,
    Position,
    ProposedChange,
    ProposedEdits,
    Span,
    TerminalOutput,
    TextEdit,
)
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Buffer
from codelaw.lsp.documents.positions import Encoding, exact_offset, line_starts, position_of

EVERY = frozenset({"diagnostics", "definition", "references", "rename", "quickFix", "symbols", "outline", "terminal"})


@dataclass
class FakeServices:
    """Implements `LanguageServices` over the files below a folder and open buffers."""

    root: Path
    buffers: Callable[[], Sequence[Buffer]] = tuple
    offered: frozenset[str] = EVERY
    encoding: Encoding = "utf-16"
    findings: list[DocumentFindings] = field(default_factory=list)
    fixes_offered: list[Fix] = field(default_factory=list)
    named: list[NamedCode] = field(default_factory=list)
    """What it answers about symbols, whatever it is asked."""
    printed: TerminalOutput | None = None
    change: ProposedChange | None = None
    """Instead of a rename's own."""
    before: Callable[[], None] = lambda: None
    """Called when a question has come in, before it is answered."""
    failure: ToolFailure | None = None
    asked: list[tuple[object, ...]] = field(default_factory=list)

    async def diagnostics(
        self, uri: str | None = None, version: int | None = None, *, seconds: float = 10.0
    ) -> Sequence[DocumentFindings]:
        await self._asked("diagnostics", uri, version)
        return [entry for entry in self.findings if uri is None or entry.uri == uri]

    async def definition(self, uri: str, at: Position) -> Sequence[CodePlace]:
        await self._asked("definition", uri, at)
        places = await self._places(uri, at)
        return places[:1]

    async def references(self, uri: str, at: Position) -> Sequence[CodePlace]:
        await self._asked("references", uri, at)
        return await self._places(uri, at)

    async def rename(self, uri: str, at: Position, new_name: str) -> ProposedChange:
        await self._asked("rename", uri, at, new_name)
        if self.change is not None:
            return self.change
        edits: dict[str, list[TextEdit]] = {}
        for place in await self._places(uri, at):
            edits.setdefault(place.uri, []).append(TextEdit(place.span, new_name))
        versions = {buffer.uri: buffer.version for buffer in self.buffers()}
        return ProposedChange(
            tuple(
                ProposedEdits(uri, uri.removeprefix("file://"), versions.get(uri), tuple(made))
                for uri, made in edits.items()
            )
        )

    async def fixes(self, uri: str, where: Span) -> Sequence[Fix]:
        await self._asked("fixes", uri, where)
        return self.fixes_offered

    async def symbols(self, query: str, *, seconds: float = 10.0) -> Sequence[NamedCode]:
        await self._asked("symbols", query)
        return self.named

    async def outline(self, uri: str) -> Sequence[NamedCode]:
        await self._asked("outline", uri)
        return [one for one in self.named if one.place.uri == uri]

    async def terminal(self) -> TerminalOutput | None:
        await self._asked("terminal")
        return self.printed

    def offsets(self, text: str, places: Sequence[Position]) -> list[int | None]:
        starts = line_starts(text)
        return [exact_offset(text, starts, at.line, at.character, self.encoding) for at in places]

    def position(self, text: str, offset: int) -> Position:
        return Position(*position_of(text, line_starts(text), offset, self.encoding))

    def span(self, text: str, start: int, end: int) -> Span:
        return Span(self.position(text, start), self.position(text, end))

    def finding(self, path: Path, version: int | None, *findings: Finding) -> None:
        self.findings = [entry for entry in self.findings if entry.path != str(path)]
        self.findings.append(DocumentFindings(path.as_uri(), str(path), version, findings))

    async def _asked(self, *question: object) -> None:
        self.asked.append(question)
        await asyncio.sleep(0)
        self.before()
        if self.failure is not None:
            raise self.failure

    def _texts(self) -> dict[str, str]:
        texts = {path.as_uri(): path.read_bytes().decode() for path in sorted(self.root.rglob("*")) if path.is_file()}
        return texts | {buffer.uri: buffer.text for buffer in self.buffers()}

    async def _places(self, uri: str, at: Position) -> list[CodePlace]:
        texts = await asyncio.to_thread(self._texts)
        (offset,) = self.offsets(texts[uri], [at])
        assert offset is not None
        word = re.compile(r"\w+").match(texts[uri], offset)
        assert word is not None
        return [
            CodePlace(other, other.removeprefix("file://"), self.span(text, found.start(), found.end()))
            for other, text in texts.items()
            for found in re.finditer(rf"\b{re.escape(word[0])}\b", text)
        ]


def finding(line: int, message: str, severity: str = "error", code: str = "", source: str = "pyright") -> Finding:
    return Finding(Span(Position(line, 0), Position(line, 1)), severity, message, code, source)  # type: ignore[arg-type]
