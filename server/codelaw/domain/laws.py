"""The law as a document that people write: what is known of it (E-5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from codelaw.domain.models import Prices

FILES = ("AGENTS.md", "CLAUDE.md")
"""What counts beside the law where the settings name nothing else; of one folder, the first that is there (X-10)."""


@dataclass(frozen=True, slots=True)
class LawUse:
    """A turn that was shown a law."""

    at: float
    """Seconds since the epoch."""
    chat_id: str
    title: str


@dataclass(frozen=True, slots=True)
class LawFile:
    """One folder's law as a file, or a file beside it, readable or not."""

    folder: str
    path: str
    """Absolute."""
    uri: str
    text: str | None
    """None where it cannot be read."""
    problem: str = ""
    """Why it cannot be read, or not whole."""
    version: int | None = None
    """Of the open document that the text is from."""
    tokens: int = 0
    used: LawUse | None = None
    """The last turn that was shown this very text, as far as this session knows."""
    shadowed: tuple[str, ...] = ()
    """Uris of files with other spellings of the name, which do not count."""
    nested: bool = False
    """It lies below the root: it is shown when a turn touches its folder, and is not part of L2 (X-10)."""


@dataclass(frozen=True, slots=True)
class LawState:
    """The laws of all folders, and their share of the window."""

    files: tuple[LawFile, ...]
    tokens: int
    """Of all of it as it is sent."""
    window: int
    """Tokens of the window of the model that a new chat uses."""
    prices: Prices | None = None
    """That model's; None where they are not known."""


@dataclass(frozen=True, slots=True)
class NamedPath:
    """What an `@path` in the law leads to."""

    path: str
    kind: Literal["file", "folder", "missing"]
    size: int = 0
    """Bytes."""
    tokens: int | None = None
    """None where it is not known: a folder, or a file that is not text or too large to count."""
