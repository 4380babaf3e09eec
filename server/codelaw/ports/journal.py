"""What a turn does to files, kept so that it can be undone; and what a killed server leaves for the next one (E-2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from codelaw.domain.chats import Notice
from codelaw.domain.files import FileImage, FileText, Located


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A file before a command."""

    place: Located
    digest: str | None
    """SHA-256 of its bytes, hexadecimal; None: there was no file."""
    mode: int | None = None
    """Its permission bits."""
    stamp: int | None = None
    """What an exact survey knows it by when it is moved; None: there was no file, or that was not looked up."""


@dataclass(frozen=True, slots=True)
class LeftFile:
    """A held file as a later server finds it."""

    file: HeldFile
    text: str | None
    """The sealed text; None where there was no file, or where what was kept cannot be read any more."""
    changed: float | None
    """When the file was last changed in any way, by the clock of the disk; None: there is none."""
    saved: bool = False
    """Whether a person has saved it while the command ran."""


@dataclass(frozen=True, slots=True)
class LeftCommand:
    """A command whose server died."""

    chat_id: str
    turn_id: str
    call_id: str
    alive: float
    """When the server was last known to live, in seconds since the epoch by the clock of the disk."""
    files: tuple[LeftFile, ...]
    began: float = 0.0
    """When it began, likewise; 0: that is not known."""


Settle = Callable[[LeftCommand], Awaitable[bool]]
"""Takes over what is left of a command; False: not now, it stays for another server."""


class HeldImages(Protocol):
    """Keeps files while a command runs. What is kept is durable against the death of the process."""

    async def hold(
        self,
        call: tuple[str, str, str],
        files: Sequence[HeldFile],
        text: Callable[[str], str],
        edition: int,
        saved: Callable[[], Sequence[int]] = tuple,
    ) -> str:
        """Keep files for a call, given as the ids of chat, turn and call; gives the name by which they are released.

        `text` gives the sealed text of the bytes with that digest; it is asked, in a thread, only for what is not kept
        yet. `edition` rises when more is sealed than before: what was kept earlier is not used again then. `saved`
        gives the places in `files` of those that a person has saved since; it is asked now and then, on the event loop.

        Raises:
            OSError: they cannot be kept, and nothing of them is.
        """
        ...

    async def release(self, name: str, *, stored: bool = True) -> None:
        """The command has ended, and what it changed is stored, or could not be: then a later server takes it over."""
        ...

    async def settle(self, settle: Settle) -> None:
        """Hand over what dead servers have left, command by command."""
        ...


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

    def report(self, notice: Notice) -> None:
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
