"""The editor, where it can do more than show text: its edits, its language services, and the user, when asked."""

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
from codelaw.domain.edits import DocumentEdit
from codelaw.domain.permissions import ApprovalAnswer, ApprovalQuestion


class Approver(Protocol):
    """Puts a question to the user."""

    async def ask(self, question: ApprovalQuestion) -> ApprovalAnswer:
        """The answer; cancelling the task withdraws the question from the client (R-8)."""
        ...


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


class Editor(Protocol):
    """Changes documents that are open, with the user looking on (F-4, F-6)."""

    @property
    def name(self) -> str:
        """What it calls itself."""
        ...

    @property
    def edits(self) -> bool:
        """Whether it applies edits that are pinned to a version."""
        ...

    @property
    def saves(self) -> bool:
        """Whether it saves documents when it is asked to."""
        ...

    @property
    def reviews(self) -> bool:
        """Whether it lets the user confirm each part of an edit (E-1)."""
        ...

    async def apply(self, edit: DocumentEdit) -> str:
        """Make the edit as one step of the undo stack; gives the document's text with what was accepted of it.

        The text is that of the moment when the edit was in: what the user types afterwards is not in it. Cancelling
        withdraws the edit; it may have been made all the same.

        Raises:
            ToolFailure: CONFLICT when the editor refused it, the document has moved on, or was closed: nothing was
                changed, unless it is `uncertain`; PERMISSION_DENIED when a user who reviewed it took nothing of it.
        """
        ...

    async def save(self, uris: Sequence[str]) -> None:
        """Ask for documents to be saved; returns when the client has answered, also when it could not."""
        ...
