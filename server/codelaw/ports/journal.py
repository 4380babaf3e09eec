"""What a turn does to files, kept so that it can be undone (E-2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from codelaw.domain.chats import Notice
from codelaw.domain.files import FileImage, FileText, Located


class Journal(Protocol):
    """Keeps the text of a file before one call changes it. Everything is durable when a method returns."""

    async def plan(self, place: Located, before: FileText | None, after: str | None) -> int:
        """A change about to be made; gives its number. `None` stands for no file."""
        ...

    async def settle(self, number: int, after: str | None) -> None:
        """The change was made, and this is what came of it."""
        ...

    async def withdraw(self, number: int) -> None:
        """The change was not made."""
        ...

    async def hold(self, files: Sequence[tuple[Located, FileImage | None]]) -> str:
        """Files that a command may change, as they are before it starts; gives the name for `release`.

        Raises:
            ToolFailure: EXECUTION_ERROR: they cannot be kept, so the command must not run.
        """
        ...

    async def release(self, name: str, *, stored: bool) -> None:
        """The command has ended; `stored`: what it changed is kept, else a later server takes over what is held."""
        ...

    def tell(self, notice: Notice) -> None:
        """Tell the user something about the undo."""
        ...

    def touched(self) -> Sequence[Located]:
        """The files that the turn has changed by now."""
        ...

    async def keep(self, place: Located, before: FileImage | None, after: FileImage | None) -> None:
        """A change that was made already, by a command; nothing could be planned."""
        ...

    async def note(self, place: Located, what: Literal["folder", "lost"], *, was: bool, there: bool) -> None:
        """A folder that was made or removed, or a file of which nothing was kept before it was changed.

        `was` says whether it had been there, `there` whether it is there now.
        """
        ...
