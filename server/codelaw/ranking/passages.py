"""Messages as text that can be searched, and long ones as passages (B-5).

Small embedding models read their first 128 to 256 word pieces well and blur what is longer, and BM25 drowns a matching
sentence in a long text; so a long message is cut where its author cut it: at headings, blank lines, code fences, lines,
sentences. Neighbours share their border, so that what stands across it is found too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from codelaw.domain.messages import Message

MAX_CALL_CHARS = 1_200
"""Of the arguments of one call: a written file is on disk, what it is about stands in its beginning."""
MAX_RESULT_CHARS = 2_400
"""Of a tool's result: two thirds from its beginning, one third from its end."""
_MAX_VALUES = 400


def readable(message: Message) -> str:
    """What is searched for of a message; always text that can be encoded, and without NUL."""
    if message.role == "tool":
        text = _shortened(_result(message.content), MAX_RESULT_CHARS)
    else:
        answer = message.metadata.answer
        parts = [message.content]
        if answer and answer not in message.content:
            parts.append(answer)
        if message.metadata.native:
            parts += (
                f"{call.tool} {_shortened(_flat(call.arguments), MAX_CALL_CHARS)}" for call in message.metadata.calls
            )
        text = "\n\n".join(part for part in parts if part)
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def _result(content: str) -> str:
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return content
    return _flat(value) if isinstance(value, dict | list) else content


def _flat(value: Any) -> str:
    """The values of JSON, texts as they are, with the names of what is not a text."""
    lines: list[str] = []
    for name, leaf in _leaves(value, ""):
        lines.append(leaf if isinstance(leaf, str) else f"{name}: {leaf}")
        if len(lines) == _MAX_VALUES:
            break
    return "\n".join(lines)


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    waiting: list[tuple[str, Any]] = [(name, value)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value).items()
            waiting += [(str(key), inner) for key, inner in reversed(list(items))]
        elif isinstance(value, list | tuple):
            waiting += [(name, inner) for inner in reversed(cast("Sequence[Any]", value))]
        elif value is not None and value != "":
            yield name, value


def _shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    return f"{text[:head]}\n\n{text[head - limit :]}"


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
