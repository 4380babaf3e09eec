"""Long messages as passages: pieces that are small enough to be about one thing (B-5).

Small embedding models read their first 128 to 256 word pieces well and blur what is longer, and BM25 drowns a matching
sentence in a long text; so a long message is cut where its author cut it: at headings, blank lines, code fences, lines,
sentences. Neighbours share their border, so that what stands across it is found too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PASSAGE_CHARS = 800
"""About 200 word pieces of English or code."""
OVERLAP_CHARS = 120
MAX_PASSAGES = 64
"""Of one message; what lies between its first and its last ones is not indexed beyond that."""
_TAIL_PASSAGES = 16

_BLOCK = re.compile(r"\n[ \t]*\n")
_HEADING = re.compile(r"(?:#{1,6} |\*\*[^*\n]{1,80}\*\*:?$|```|~~~)", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")


def split(text: str, size: int = PASSAGE_CHARS) -> list[str]:
    """The passages of a text, in order; none for a blank one.

    Bounded: at most `MAX_PASSAGES`, each of at most `size` characters and an overlap.
    """
    passages: list[str] = []
    current = ""
    for block in _blocks(text, size):
        begins = _HEADING.match(block) is not None and 2 * len(current) >= size
        if current and (begins or len(current) + len(block) + 1 > size):
            passages.append(current)
            current = "" if begins else _border(current)
        current = f"{current}\n{block}" if current else block
    if current:
        passages.append(current)
    if len(passages) > MAX_PASSAGES:
        passages = passages[: MAX_PASSAGES - _TAIL_PASSAGES] + passages[-_TAIL_PASSAGES:]
    return passages


def _blocks(text: str, size: int) -> Iterator[str]:
    """Paragraphs, cut further where one alone is too long."""
    for piece in _BLOCK.split(text):
        paragraph = piece.strip("\n").rstrip()
        if not paragraph.strip():
            continue
        if len(paragraph) <= size:
            yield paragraph
            continue
        for line in paragraph.split("\n"):
            if len(line) <= size:
                if line.strip():
                    yield line
                continue
            for sentence in _SENTENCE.split(line):
                for start in range(0, len(sentence), size):
                    yield sentence[start : start + size]


def _border(passage: str) -> str:
    """The last line of a passage, when it is short: the next one begins with it."""
    last = passage.rsplit("\n", 1)[-1].strip()
    return last if len(last) <= OVERLAP_CHARS and len(last) < len(passage) else ""
