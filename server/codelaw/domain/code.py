"""What the editor lends: places in code, findings, proposed changes, what a terminal has printed (E-6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "information", "hint"]


@dataclass(frozen=True, slots=True)
class Position:
    """A place as the editor counts: lines from zero, characters in the encoding agreed with it."""

    line: int
    character: int


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` up to, but not including, `end`."""

    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class CodePlace:
    """A part of a document."""

    uri: str
    path: str
    """What a tool takes as a path: absolute for a file, else the uri."""
    span: Span


@dataclass(frozen=True, slots=True)
class NamedCode:
    """A symbol of a language server, and where it is defined."""

    name: str
    kind: str
    """`function`, `class` and the like."""
    place: CodePlace
    container: str = ""
    """What it is defined in, as the editor shows it."""


@dataclass(frozen=True, slots=True)
class TerminalOutput:
    """What the last command of a terminal has printed."""

    output: str
    name: str = ""
    """Of the terminal."""
    command: str = ""
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One diagnostic."""

    span: Span
    severity: Severity
    message: str
    code: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class DocumentFindings:
    """The diagnostics of one document."""

    uri: str
    path: str
    version: int | None
    """Of the text that they are about; None where the editor does not say."""
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class TextEdit:
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class ProposedEdits:
    """Changes of one document, all of them about the same text."""

    uri: str
    path: str
    version: int | None
    """Of that text; None where the document is not open, or the editor does not say."""
    edits: tuple[TextEdit, ...]


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """What a rename or a quick fix would change, in order."""

    documents: tuple[ProposedEdits, ...] = ()
    operations: tuple[str, ...] = ()
    """What it would do besides editing texts, in words: files made, moved or removed."""


@dataclass(frozen=True, slots=True)
class Fix:
    """One quick fix on offer."""

    title: str
    change: ProposedChange
