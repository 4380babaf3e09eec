"""Open buffers in front of the disk, how they are changed, and parts of a file too large for that (F-1, F-4, T-4)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from codelaw.adapters.texts import MAX_BYTES, decoded, digest, opened, read_raw, visible
from codelaw.domain.edits import DocumentEdit, Splice
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Buffer, FilePart, FileText, Located
from codelaw.ports.workspace import Hiding, OpenDocuments
from codelaw.tools.changing.diffs import changes
from codelaw.tools.changing.matching import in_style, line_break, same_lines
from codelaw.tools.paths import refuse_protected

LARGEST = 4 << 30
"""Bytes of the largest file whose lines are counted; that takes seconds."""
_CHUNK = 1 << 20
_BOM = b"\xef\xbb\xbf"
_CONTINUATIONS = bytes(range(0x80, 0xC0))


def part_at(located: Located, first: int, count: int, width: int) -> FilePart | None:
    """See `Workspace.part`.

    Raises:
        ToolFailure: NOT_FOUND, IS_DIRECTORY, ACCESS_DENIED, BINARY_FILE; INVALID_PARAM when it is too large for this.
    """
    with opened(located) as (descriptor, facts):
        size = facts.st_size
        if size <= MAX_BYTES:
            return None
        if size > LARGEST:
            raise ToolFailure(
                "INVALID_PARAM", f"{located.shown} has {size} bytes; of more than {LARGEST} nothing is read: use Grep."
            )
        if b"\0" in os.pread(descriptor, 8192, 0):
            raise ToolFailure("BINARY_FILE", f"{located.shown} is a binary file ({size} bytes).")
        start, total = _counted(descriptor, size, first)
        with open(os.dup(descriptor), "rb") as file:  # noqa: PTH123 - opened already
            file.seek(size if start is None else start)
            found = [_line(file, width, first=not start and not at) for at in range(count) if file.tell() < size]
    shown = tuple(visible(text) for text, _ in found)
    return FilePart(
        lines=shown,
        lengths=tuple(length for _, length in found),
        total_lines=total,
        mtime=facts.st_mtime,
        size=size,
        replaced=any(one != text for one, (text, _) in zip(shown, found, strict=True)),
    )


def _counted(descriptor: int, size: int, first: int) -> tuple[int | None, int]:
    """Where a line begins, None where there is none, and how many lines there are.

    What is appended meanwhile is another Read's.
    """
    start, at, breaks, last = (0 if first == 1 else None), 0, 0, b"\n"
    while at < size and (chunk := os.pread(descriptor, min(_CHUNK, size - at), at)):
        more = chunk.count(b"\n")
        if start is None and breaks + more >= first - 1:
            inside = -1
            for _ in range(first - 1 - breaks):
                inside = chunk.index(b"\n", inside + 1)
            start = at + inside + 1
        breaks, at, last = breaks + more, at + len(chunk), chunk[-1:]
    return start, breaks + (last != b"\n")


def _line(file: BinaryIO, width: int, *, first: bool) -> tuple[str, int]:
    """The next line, cut to the width, and the number of its characters; of the file's `first` one without its mark."""
    begin = file.readline(4 * width + 4)  # a character has at most four bytes
    piece, read, length, tail = begin, 0, 0, b""
    while piece:
        read, length = read + len(piece), length + len(piece.translate(None, _CONTINUATIONS))
        tail = (tail + piece)[-2:]
        piece = b"" if piece.endswith(b"\n") else file.readline(_CHUNK)
    ended = len(tail) - len(tail.removesuffix(b"\n").removesuffix(b"\r"))
    text = begin[: -ended or None] if read == len(begin) else begin
    marked = first and text.startswith(_BOM)
    return text[3 * marked :].decode("utf-8", "surrogateescape")[: width + 1], length - ended - marked


def splices(before: str, after: str) -> tuple[Splice, ...]:
    """The runs of lines to replace, in order, with at least one unchanged line between them.

    Of a run, what both sides begin and end with is left out, so that cursors and marks stay where they are.
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    old_at, new_at = [0, *accumulate(map(len, old))], [0, *accumulate(map(len, new))]
    found: list[Splice] = []
    for _, first, last, new_first, new_last in changes(old, new):
        start, end, text = old_at[first], old_at[last], after[new_at[new_first] : new_at[new_last]]
        found.append(_trimmed(before, start, end, text))
    return tuple(found)


def _trimmed(before: str, start: int, end: int, text: str) -> Splice:
    least = min(end - start, len(text))
    head = next((n for n in range(least) if before[start + n] != text[n]), least)
    tail = next((n for n in range(least - head) if before[end - 1 - n] != text[-1 - n]), least - head)
    # A place between `\r` and `\n` is none for an editor.
    if head and before[start + head - 1 : start + head + 1] == "\r\n":
        head -= 1
    if tail and before[end - tail - 1 : end - tail + 1] == "\r\n":
        tail -= 1
    return Splice(start + head, end - tail, text[head : len(text) - tail])


def text_of(located: Located, buffer: Buffer | None, formed: Sequence[tuple[str, str]] = ()) -> FileText:
    """The text of a file: the buffer's if it is open, else the disk's. Reads the disk in both cases.

    `formed` is what saving has made of it, see `OpenDocuments.formed`.

    Raises:
        ToolFailure: what reading the disk raises, unless a buffer stands in for it.
    """
    found = _text_of(located, buffer)
    return replace(found, formed_from=_formed_from(found.text, formed)) if formed else found


def edit_of(
    located: Located, text: str, over: FileText | None, buffer: Buffer, label: str, *, review: bool
) -> DocumentEdit:
    """The change of an open document from what `over` was read as to `text`.

    Raises:
        ToolFailure: CONFLICT when the document is not `over` any more; ACCESS_DENIED; INVALID_PARAM.
    """
    if located.path.is_absolute():
        refuse_protected(located)
    if over is None:
        raise ToolFailure("CONFLICT", f"{located.shown} is open in the editor by now: read it first.")
    if not same_lines(buffer.text, over.text):
        raise ToolFailure("CONFLICT", f"{located.shown} has changed meanwhile: read it again, then change it.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ToolFailure("INVALID_PARAM", "The text holds half a surrogate pair, which no file can.") from error
    if buffer.text != over.text:
        text = in_style(text, line_break(buffer.text))
    parts = splices(buffer.text, text)
    return DocumentEdit(
        uri=buffer.uri,
        version=buffer.version,
        before=buffer.text,
        splices=parts,
        label=label or f"Edit {located.shown}",
        review=review,
    )


def spelled(text: str, like: str) -> str:
    """A text of the editor with the line breaks of the file, which some editors do not tell."""
    return in_style(text, "\r\n") if "\r" not in text and line_break(like) == "\r\n" else text


def _formed_from(text: str, formed: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    found: list[str] = []
    now = text
    for before, after in reversed(formed):
        if same_lines(after, now):
            now = before
            found += [digest(before), digest(spelled(before, text))]
    return tuple(dict.fromkeys(found))


def _text_of(located: Located, buffer: Buffer | None) -> FileText:
    if buffer is None:
        return decoded(read_raw(located), located)
    try:
        disk = decoded(read_raw(located), located) if buffer.path is not None else None
    except ToolFailure:
        # The buffer is the truth whatever stands on the disk: nothing yet, or something unreadable.
        disk = None
    clean = disk is not None and not disk.replaced and same_lines(disk.text, buffer.text)
    # A clean buffer differs at most in how the editor spells line breaks: the file's own spelling counts.
    text = buffer.text if disk is None else disk.text if clean else spelled(buffer.text, disk.text)
    return FileText(
        text,
        "buffer",
        digest(text),
        disk.mtime if disk is not None else 0,
        len(buffer.text.encode("utf-8", "surrogatepass")),
        version=buffer.version,
        unsaved=not clean,
        bom=disk.bom if disk is not None else False,
    )


@dataclass(frozen=True, slots=True)
class EitherHiding:
    """What either of two keeps back."""

    one: Hiding
    other: Hiding

    def hides(self, shown: str) -> bool:
        return self.one.hides(shown) or self.other.hides(shown)


@dataclass(frozen=True, slots=True)
class VisibleDocuments:
    """The open documents but for those that are kept back."""

    documents: OpenDocuments
    hiding: Hiding
    shown: Callable[[str], str]

    def at(self, path: Path) -> Buffer | None:
        buffer = self.documents.at(path)
        return None if buffer is None or self._hidden(buffer) else buffer

    def all(self) -> Sequence[Buffer]:
        return [buffer for buffer in self.documents.all() if not self._hidden(buffer)]

    def saves(self, path: Path) -> int:
        return self.documents.saves(path)

    def formed(self, path: Path) -> Sequence[tuple[str, str]]:
        return self.documents.formed(path)

    def _hidden(self, buffer: Buffer) -> bool:
        return self.hiding.hides(buffer.uri if buffer.path is None else self.shown(str(buffer.path)))
