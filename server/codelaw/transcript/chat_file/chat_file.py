"""The format of chat files and transcripts: a Markdown document with questions, and blocks of ours (E-3).

    <!-- codelaw chat 5d0c -->

    ## You

    What does @src/app.py do?

    ## codelaw <!-- turn 81fa -->

    It starts the server.

    <!-- /turn 81fa -->

    ## You

The comments are what counts. A question is what stands below the last `## You` after the last block, or all of it where
there is no such heading. Inside a block anything may stand, headings and code included; it ends with its own comment.
Everything here is about texts whose lines end with a line feed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from codelaw.transcript.chat_file.fences import Fences

SUFFIX = ".chat.md"
"""What the names of chat files end with."""
YOU = "## You"

BlockKind = Literal["turn", "summary"]

_BREAK = re.compile(r"\r\n|\r")
_ID = r"[A-Za-z0-9_.-]{1,200}"
_CHAT = re.compile(rf"\s*<!-- codelaw chat (?P<id>{_ID}) -->\s*\Z")
_OPENING = re.compile(rf"#{{1,6}}\s.*<!-- (?P<kind>turn|summary) (?P<id>{_ID}) -->\s*\Z")
_CLOSING = re.compile(
    rf"(?P<status>.*?)(?P<mark><!-- /(?P<kind>turn|summary) (?P<id>{_ID})(?P<running> running)? -->)\s*\Z"
)
_YOU = re.compile(r"#{1,6}\s+you\s*:?\s*#*\s*\Z", re.IGNORECASE)
_MARK = re.compile(r"<!--(?=\s*(?:/?(?:turn|summary)\s|codelaw\s+chat\s))")


@dataclass(frozen=True, slots=True)
class ChatBlock:
    """A block of ours; lines are zero-based."""

    kind: BlockKind
    id: str
    first: int
    """The line of its heading."""
    last: int
    """The line of its closing comment; without one, its last line."""
    closed: bool
    """It has its closing comment."""
    running: bool
    """Its turn was not over when it was written."""
    status: str = ""
    """What stands before the closing comment on its line."""
    start: int = 0
    """Where the line after the heading begins, in characters of the text."""
    end: int = 0
    """Where the line of the closing comment begins; without one, where the block ends."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What the person has written after the last block."""

    text: str
    line: int
    """Where the eye looks for it: its heading, or its first line."""
    end: int
    """Where its last line ends, in characters of the text."""


@dataclass(frozen=True, slots=True)
class ChatFile:
    """A chat file, taken apart."""

    text: str
    chat_id: str | None
    chat_span: tuple[int, int] | None
    """Where the comment with the chat's id stands, from and to, in characters of the text."""
    head: int
    """Where such a comment would be put."""
    blocks: tuple[ChatBlock, ...]
    question: Draft | None
    """None: nothing is written that could be sent."""
    you: int | None
    """Where the last heading for a question begins, of those after the last block, in characters of the text."""

    def block(self, turn_id: str) -> ChatBlock | None:
        """The last block of that turn."""
        return next((block for block in reversed(self.blocks) if block.kind == "turn" and block.id == turn_id), None)


def normal(text: str) -> str:
    """A text whose lines end with a line feed."""
    return _BREAK.sub("\n", text) if "\r" in text else text


def named_chat_file(name: str) -> bool:
    """Whether a path or uri names a chat file."""
    return name.lower().endswith(SUFFIX)


def parse(text: str) -> ChatFile:
    """Take a chat file apart; anything can be read, at worst as one question."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    body = _after_front_matter(lines)
    blocks: list[ChatBlock] = []
    asked: list[int] = []
    comment: int | None = None
    rest = body
    fences = Fences()
    number = body
    while number < len(lines):
        line = lines[number]
        found = _OPENING.match(line)
        if found is not None:
            block = _block(lines, starts, number, found)
            if not _quoted(lines, block, fences):
                blocks.append(block)
                number = rest = block.last + 1
                asked, fences = [], Fences()
                continue
        if fences.take(line):
            number += 1
            continue
        if comment is None and _CHAT.match(line):
            comment = number
        elif _YOU.match(line):
            asked.append(number)
        number += 1
    named = None if comment is None else _CHAT.match(lines[comment])
    return ChatFile(
        text=text,
        chat_id=None if named is None else named["id"],
        chat_span=None if comment is None else (starts[comment], starts[comment] + len(lines[comment])),
        head=min(starts[body], len(text)),
        blocks=tuple(blocks),
        question=_question(lines, starts, rest, asked, comment),
        you=starts[asked[-1]] if asked else None,
    )


def _after_front_matter(lines: list[str]) -> int:
    if lines[0].rstrip() != "---":
        return 0
    return next((number + 1 for number, line in enumerate(lines) if number and line.rstrip() == "---"), 0)


def _block(lines: list[str], starts: list[int], first: int, heading: re.Match[str]) -> ChatBlock:
    kind: BlockKind = "turn" if heading["kind"] == "turn" else "summary"
    for number in range(first + 1, len(lines)):
        found = _CLOSING.match(lines[number])
        if found is not None and (found["kind"], found["id"]) == (kind, heading["id"]):
            return ChatBlock(
                kind=kind,
                id=heading["id"],
                first=first,
                last=number,
                closed=True,
                running=found["running"] is not None,
                status=found["status"].strip(),
                start=starts[first + 1],
                end=starts[number],
            )
    # Somebody has deleted its end: it reaches to the next thing that is not of it.
    fences = Fences()
    last = len(lines) - 1
    for number in range(first + 1, len(lines)):
        if not fences.take(lines[number]) and (_YOU.match(lines[number]) or _OPENING.match(lines[number])):
            last = number - 1
            break
    end = min(starts[last + 1], starts[-1] - 1)
    start = min(starts[first + 1], end)
    return ChatBlock(kind, heading["id"], first, last, closed=False, running=True, start=start, end=end)


def _quoted(lines: list[str], block: ChatBlock, fences: Fences) -> bool:
    """Whether a block stands, as a whole, in a block of code of the person's.

    A block of code that was begun and forgotten must not hide what follows it.
    """
    if fences.open is None or not block.closed:
        return False
    end = fences.closed_at(lines, block.first)
    return end is not None and end > block.last


def _question(lines: list[str], starts: list[int], rest: int, asked: list[int], comment: int | None) -> Draft | None:
    """What stands below the last heading with something below it."""
    end = len(lines)
    for heading in [*reversed(asked), None]:
        begin = rest if heading is None else heading + 1
        if heading is None and asked:
            break
        kept = [number for number in range(begin, end) if number != comment and lines[number].strip()]
        if kept:
            first, last = kept[0], kept[-1]
            text = "\n".join(line for number, line in enumerate(lines[first : last + 1], first) if number != comment)
            return Draft(text.rstrip(), first if heading is None else heading, starts[last] + len(lines[last]))
        if heading is not None:
            end = heading
    return None


def header(chat_id: str) -> str:
    """The comment that ties a file to its chat."""
    return f"<!-- codelaw chat {chat_id} -->"


def opening(turn_id: str, kind: BlockKind = "turn", title: str = "codelaw") -> str:
    """A block's heading."""
    return f"## {title} <!-- {kind} {turn_id} -->"


def closing(turn_id: str, *, running: bool = False, status: str = "", kind: BlockKind = "turn") -> str:
    """The line a block ends with; `status` is one line for people."""
    mark = f"<!-- /{kind} {turn_id}{' running' if running else ''} -->"
    return f"{status} {mark}" if status else mark


def block(
    turn_id: str,
    body: str,
    *,
    running: bool = False,
    status: str = "",
    kind: BlockKind = "turn",
    title: str = "codelaw",
) -> str:
    """A whole block, without a line feed at its end."""
    inside = f"{body}\n\n" if body else ""
    return f"{opening(turn_id, kind, title)}\n\n{inside}{closing(turn_id, running=running, status=status, kind=kind)}"


def escape_comments(text: str) -> str:
    """A text with the comments of this format made visible, so that nothing in it is taken for one."""
    return _MARK.sub("&lt;!--", text) if "<!--" in text else text


def headings(lines: list[str], first: int, last: int) -> Iterator[tuple[int, int, str]]:
    """The Markdown headings outside code from line `first` to `last`: line, level, words."""
    fences = Fences()
    for number in range(first, last + 1):
        line = lines[number]
        if not fences.take(line) and (found := _HEADING.match(line)) is not None:
            yield number, len(found["hashes"]), _COMMENT.sub("", found["words"]).strip().rstrip("#").strip()


def is_question_heading(line: str) -> bool:
    """Whether a line is a heading under which the person writes."""
    return _YOU.match(line) is not None


_HEADING = re.compile(r" {0,3}(?P<hashes>#{1,6})\s+(?P<words>\S.*?)\s*\Z")
_COMMENT = re.compile(r"<!--.*?-->")
