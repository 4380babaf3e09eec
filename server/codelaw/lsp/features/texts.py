"""Texts as this package works on them, with line feeds alone, and as the editor has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from codelaw.domain.edits import Splice
from codelaw.domain.files import Buffer
from codelaw.lsp.documents.positions import Encoding, line_starts, spelt

OWN_CHATS = "chats"
"""The folder, in the user's data folder, of the chat files that code actions make."""
_BREAK = re.compile(r"\r\n|\r")


def normal(text: str) -> str:
    """A text whose lines end with a line feed."""
    return _BREAK.sub("\n", text) if "\r" in text else text


def text_edits(buffer: Buffer, splices: Sequence[Splice], encoding: Encoding) -> list[dict[str, Any]]:
    """Changes of the buffer's normal text as LSP spells them; lines may end in any way."""
    text = normal(buffer.text)
    starts = line_starts(text)
    ending = "\r\n" if "\r\n" in buffer.text else "\n"

    return [
        {
            "range": {
                "start": spelt(text, starts, splice.start, encoding),
                "end": spelt(text, starts, splice.end, encoding),
            },
            "newText": splice.text.replace("\n", ending),
        }
        for splice in splices
    ]


def line_of(text: str, place: int) -> int:
    """The line of a place in a normal text."""
    return text.count("\n", 0, place)
