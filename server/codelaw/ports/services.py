"""What an editor's other language servers know of the code, and what its terminals show (E-6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from codelaw.domain.code import (
    CodePlace,
    DocumentFindings,
    Fix,
    NamedCode,
    Position,
    ProposedChange,
    Span,
    TerminalOutput,
)


class LanguageServices(Protocol):
    """Services of the editor, each there only when the client declares it.

    Documents are named by uri. Every request is bounded in time, and cancelling it withdraws it.

    Raises:
        ToolFailure: TIMEOUT; EXECUTION_ERROR when the editor refused or answered what makes no sense.
    """

    @property
    def offered(self) -> frozenset[str]:
        """Of `diagnostics`, `definition`, `references`, `rename`, `quickFix`, `symbols`, `outline`, `terminal`."""
        ...

    async def diagnostics(
        self, uri: str | None = None, version: int | None = None, *, seconds: float = 10.0
    ) -> Sequence[DocumentFindings]:
        """The diagnostics of a document, or without `uri` of all that have some.

        With `version` the editor may wait until it has those of that version; what it answers says of which it is.
        """
        ...

    async def definition(self, uri: str, at: Position) -> Sequence[CodePlace]:
        """Where the symbol at a place is defined."""
        ...

    async def references(self, uri: str, at: Position) -> Sequence[CodePlace]:
        """Where the symbol at a place is used, its declaration included."""
        ...

    async def rename(self, uri: str, at: Position, new_name: str) -> ProposedChange:
        """What giving the symbol at a place another name would change."""
        ...

    async def fixes(self, uri: str, where: Span) -> Sequence[Fix]:
        """The quick fixes for a part of a document."""
        ...

    async def symbols(self, query: str, *, seconds: float = 10.0) -> Sequence[NamedCode]:
        """Symbols of the whole project whose name is something like `query`, in the editor's order."""
        ...

    async def outline(self, uri: str) -> Sequence[NamedCode]:
        """The symbols of a document, outer ones before those inside them; their places are what they span."""
        ...

    async def terminal(self) -> TerminalOutput | None:
        """What the last command of a terminal has printed; None where nothing is known of any."""
        ...

    def offsets(self, text: str, places: Sequence[Position]) -> list[int | None]:
        """Places of the editor's in `text`, in code points.

        Past the end of a line means its end, as LSP has it, and the line after the last the end of the text; None when
        the place is outside the text or inside a character.
        """
        ...

    def position(self, text: str, offset: int) -> Position:
        """An offset in `text`, in code points, as the editor counts."""
        ...
