"""The index of the workspace's code and documentation (X-5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from codelaw.ports.workspace import Workspace

PlaceKind = Literal["definition", "use", "doc", "any"]
"""What is looked for."""
IndexStatus = Literal["none", "building", "ready", "memory"]
"""`none` before anybody has searched; `memory` is ready, and cannot be kept on the disk."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """What is defined, and where; lines count from zero, `end` is the first one after it."""

    name: str
    kind: str
    """`function`, `class`, `heading` and the like."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a file; lines count from zero, `end` is the first one after it."""

    path: str
    """As shown."""
    start: int
    end: int
    symbol: str
    kind: str
    """Of the symbol, else `doc` or `code`."""
    why: str
    """Which words of the question stand where."""
    score: float
    """To be compared with others of the same search only."""
    lines: tuple[str, ...] = ()
    """Its first lines, each cut."""


@dataclass(frozen=True, slots=True)
class IndexState:
    """How far the index of the workspace is."""

    status: IndexStatus
    files: int = 0
    chunks: int = 0
    pending: int = 0
    """Files that are known and not read yet."""
    seconds: float = 0.0
    """How long the last run took that read anything."""
    skipped: tuple[tuple[str, int], ...] = ()
    """Files that are not indexed, by reason."""
    commits: int = 0
    """Whose messages are known."""
    embedder: str = ""
    """Who makes vectors of chunks; empty where nobody does."""
    embedded: int = 0
    """Chunks that have theirs."""
    embedding: bool = False
    """More are being made."""
    note: str = ""
    """Why it is incomplete, or not kept, in a sentence."""


@dataclass(frozen=True, slots=True)
class FoundPlaces:
    """The answer of a search, and what it was looked for in."""

    places: tuple[Place, ...]
    state: IndexState


@dataclass(frozen=True, slots=True)
class FileOutline:
    """The symbols of one file."""

    path: str
    symbols: tuple[Symbol, ...]
    parsed: bool
    """By a grammar; else they are headings, or there are none."""


class CodeIndex(Protocol):
    """Knows what `workspace` shows, no more: what a rule withholds from it is neither found nor counted (S-1)."""

    async def search(
        self, workspace: Workspace, query: str, *, below: Sequence[str] = (), kind: PlaceKind = "any", limit: int = 10
    ) -> FoundPlaces:
        """The places that answer best. The files as they are now are looked at first, open documents as they stand.

        An index that takes long to build answers from what it has, and its state says so. `below` are files or folders
        as shown.
        """
        ...

    async def outline(self, workspace: Workspace, below: Sequence[str], limit: int) -> tuple[list[FileOutline], int]:
        """The symbols of at most `limit` files below these paths, and how many such files there are.

        Those come first that others use most. A single file is read even where the index leaves it out.

        Raises:
            ToolFailure: the single file cannot be read.
        """
        ...

    async def named(
        self, workspace: Workspace, name: str, limit: int, *, begun: bool = False
    ) -> list[tuple[str, Symbol]]:
        """What is defined under a name, `Class.method` too, each with its file; with `begun` the names that begin so.

        Best first: what is spelt just so, then what more files use.
        """
        ...

    def state(self) -> IndexState: ...

    async def rebuild(self, workspace: Workspace) -> None:
        """Throw away what is kept, and begin anew in the background."""
        ...
