"""The editor, where it can do more than show text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from codelaw.domain.edits import DocumentEdit


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
