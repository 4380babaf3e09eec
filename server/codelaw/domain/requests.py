"""What a client asks for, besides plain text."""

from __future__ import annotations

from dataclasses import dataclass

from codelaw.domain.media.images import Picture


@dataclass(frozen=True, slots=True)
class LineRange:
    """A range of a document, zero-based, end exclusive, characters counted in code points."""

    start_line: int
    start_character: int
    end_line: int
    end_character: int


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something of the editor sent with a message (M-6); without a range the whole file."""

    uri: str
    range: LineRange | None = None


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text that is not a document of the editor, sent with a message (M-6)."""

    title: str
    text: str


Enclosed = Attachment | Picture | Snippet
"""All that can go along with a message."""


@dataclass(frozen=True, slots=True)
class EditorState:
    """What the user looks at in the editor, frozen when the turn starts (L-3). Lines are zero-based."""

    active_uri: str | None = None
    line: int | None = None
    """Of the cursor."""
    selection: LineRange | None = None
    visible: tuple[int, int] | None = None
    """First and last line on the screen."""
    version: int | None = None
    """The document's, as the client knew it when it looked."""
