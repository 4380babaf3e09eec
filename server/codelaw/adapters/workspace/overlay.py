"""Open buffers in front of the disk, and how they are changed (F-1, F-4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from codelaw.adapters.texts import decoded, digest, read_raw
from codelaw.domain.edits import DocumentEdit, Splice
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Buffer, FileText, Located
from codelaw.ports.workspace import Hiding, OpenDocuments
from codelaw.tools.changing.diffs import changes
from codelaw.tools.changing.matching import in_style, line_break, same_lines
from codelaw.tools.paths import refuse_protected


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
