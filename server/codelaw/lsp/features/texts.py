"""Texts as this package works on them, with line feeds alone, and as the editor has them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from codelaw.domain.edits import DocumentEdit, Splice
from codelaw.domain.files import Buffer
from codelaw.lsp.documents.positions import line_starts

OWN_CHATS = "chats"
"""The folder, in the user's data folder, of the chat files that code actions make."""
_BREAK = re.compile(r"\r\n|\r")


def normal(text: str) -> str:
    """A text whose lines end with a line feed."""
    return _BREAK.sub("\n", text) if "\r" in text else text


def document_edit(buffer: Buffer, splices: Sequence[Splice]) -> DocumentEdit:
    """Changes of the buffer's normal text as an edit of the document, whose lines may end in any way.

    It has no label: some editors announce every edit that has one.
    """
    starts, own = line_starts(normal(buffer.text)), line_starts(buffer.text)
    ending = "\r\n" if "\r\n" in buffer.text else "\n"

    def place(offset: int) -> int:
        line = bisect_right(starts, offset) - 1
        return own[line] + offset - starts[line]

    made = [Splice(place(one.start), place(one.end), one.text.replace("\n", ending)) for one in splices]
    return DocumentEdit(buffer.uri, buffer.version, buffer.text, tuple(made), "")
