"""What the user attached from the editor, or looks at there, as fragments and mentions (L-3, M-6)."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from codelaw.context.escaping import escaped, one_name, quoted
from codelaw.context.observations.layout import block
from codelaw.domain.chats import Notice
from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.domain.media.images import MOST_PICTURE_BYTES, MOST_PICTURES, Picture
from codelaw.domain.messages import Fragment
from codelaw.domain.reports import Looked
from codelaw.domain.requests import Attachment, Snippet
from codelaw.templates.render import render
from codelaw.tools.bounds import cut_middle
from codelaw.tools.paths import located, protected_folder

if TYPE_CHECKING:
    from codelaw.domain.files import Buffer, FileText, Located
    from codelaw.domain.requests import EditorState, Enclosed, LineRange
    from codelaw.permissions.policy import Denied
    from codelaw.ports.workspace import Workspace

LANGUAGE_CHARACTERS = 40
_BREAKS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""What some readers take for the end of a line, and no editor does."""


async def looked_at(workspace: Workspace, uri: str, denied: Denied | None) -> Looked:
    """Whether the model is told of a document that the user looks at, and under which path.

    Never of one outside the workspace, of one that a listing leaves out (hidden or ignored), or that a rule denies.
    """
    place = await _allowed(workspace, uri, denied)
    return place if isinstance(place, Looked) else Looked(place.shown)


async def editor_fragment(
    workspace: Workspace, editor: EditorState | None, denied: Denied | None, attachments: Sequence[Enclosed] = ()
) -> Fragment | None:
    """The document, the cursor, and the selected text; None where the model is not told of it.

    A selection that is attached as well is named, and its text is not repeated.
    """
    if editor is None or editor.active_uri is None:
        return None
    place = await _allowed(workspace, editor.active_uri, denied)
    if isinstance(place, Looked):
        return None
    span = editor.selection
    attached = bool(span) and Attachment(editor.active_uri, span) in attachments
    try:
        file = await workspace.read(place) if span is not None else None
    except ToolFailure:
        file = None  # no text: a picture, or a file that is gone
    part = part_of(file.text, span) if file is not None and span is not None else None
    return Fragment("editor", _reported(editor, place, _buffer(workspace, place), file, part, attached=attached))


def _reported(
    editor: EditorState,
    place: Located,
    buffer: Buffer | None,
    file: FileText | None,
    part: Part | None,
    *,
    attached: bool,
) -> str:
    version = buffer.version if buffer is not None else None
    moved = editor.version is not None and version is not None and editor.version != version
    return render(
        "editor",
        path=_attribute(place.shown),
        language=_attribute(buffer.language)[:LANGUAGE_CHARACTERS] if buffer is not None else "",
        version=version,
        line=None if editor.line is None else editor.line + 1,
        visible=None if editor.visible is None else _lines(*editor.visible),
        lines="" if part is None else _sentence(part),
        text="" if part is None or attached else _numbered(part),
        cut=part is not None and part.cut,
        inside=part is not None and part.inside,
        shown_last=0 if part is None else part.shown_last,
        rest=0 if part is None else part.rest,
        older=editor.version if moved else None,
        unopened=file is not None and file.source == "disk",
    )


def _numbered(part: Part) -> str:
    lines = [_BREAKS.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted(line)) for line in part.lines]
    return "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, part.first))


def _sentence(part: Part) -> str:
    return f"Line {part.first} is" if part.first == part.last else f"Lines {part.first}-{part.last} are"


def _lines(first: int, last: int) -> str:
    return f"{first + 1}-{max(first, last) + 1}"


def _attribute(name: str) -> str:
    return one_name(name).replace('"', "'")


def _buffer(workspace: Workspace, place: Located) -> Buffer | None:
    if place.path.is_absolute():
        return workspace.buffers.at(place.path)
    return next((buffer for buffer in workspace.buffers.all() if buffer.uri == place.uri), None)


async def _allowed(workspace: Workspace, uri: str, denied: Denied | None) -> Located | Looked:
    try:
        path = path_of(uri)
        place = await located(workspace, path)
        kind = await workspace.exists(place)
    except ToolFailure as failure:
        return Looked("", "denied" if failure.code == "PERMISSION_DENIED" else "outside")
    if kind != "file":
        return Looked("", "outside")
    # A link is judged by its own name as well as by that of what it leads to.
    own = _spelt(workspace, path)
    if denied is not None and (denied.hides(place.shown) or (own is not None and denied.hides(own))):
        return Looked(place.shown, "denied")
    if not place.path.is_absolute():
        return place
    dotted = own is not None and any(part.startswith(".") for part in own.split("/"))
    if protected_folder(place) is not None or await workspace.is_hidden(place) or (dotted and own != place.shown):
        return Looked(place.shown, "hidden")
    return place


def _spelt(workspace: Workspace, path: str) -> str | None:
    """A path as it was written, without its links resolved, the way paths are shown; None outside the folders."""
    pure = Path(os.path.normpath(path))
    for folder in workspace.folders:
        if pure.is_relative_to(folder.root):
            inside = pure.relative_to(folder.root).as_posix()
            return f"{folder.name}/{inside}" if len(workspace.folders) > 1 else inside
    return None


SNIPPET_CHARACTERS = 24_000
"""Most characters of a text that is not a document."""
TITLE_CHARACTERS = 200
ATTACHMENT_CHARACTERS = 8000
"""Most characters of a selection that are sent with a message (M-6)."""

_BREAK = re.compile(r"\r\n|\n|\r")
"""What ends a line in an editor; nothing else does."""


async def attach(
    workspace: Workspace, attachments: Sequence[Enclosed]
) -> tuple[list[Fragment], list[str], list[Notice]]:
    """The selections; whole documents, to be mentioned, and those of which nothing is selected; what was left out.

    What is neither in the workspace nor open in the editor is left out.

    Raises:
        Refusal: `invalid_attachment`: there are too many pictures, or they are too large together.
    """
    pictures = pictures_in(attachments)
    check_pictures(pictures)
    selections: list[Fragment] = []
    paths: list[str] = []
    notices: list[Notice] = []
    for attachment in attachments:
        if isinstance(attachment, Picture):
            selections.append(_seen(attachment, pictures.index(attachment) + 1))
            continue
        if isinstance(attachment, Snippet):
            selections.append(_pasted(attachment))
            continue
        try:
            place, code = await located(workspace, path_of(attachment.uri)), ""
        except ToolFailure as failure:
            place, code = None, failure.code
        if code == "PERMISSION_DENIED":
            lost = f"{one_name(attachment.uri)} was not attached: a permission rule denies reading it."
            notices.append(Notice("warning", "attachment_left_out", lost))
            continue
        found = await _text(workspace, attachment.uri, place)
        selection = None
        if found is not None and attachment.range is not None:
            shown = attachment.uri if place is None else place.shown
            selection = _selection(shown, *found, attachment.range)
        if selection is not None:
            selections.append(selection)
        elif place is not None:
            paths.append(place.shown)
        else:
            where = "outside the workspace" if found is not None else "outside the workspace and not open"
            lost = f"{one_name(attachment.uri)} was not attached: it is {where}."
            notices.append(Notice("warning", "attachment_left_out", lost))
    return selections, paths, notices


def pictures_in(attachments: Sequence[Enclosed]) -> tuple[Picture, ...]:
    """Those of what was sent along that are pictures."""
    return tuple(one for one in attachments if isinstance(one, Picture))


def check_pictures(pictures: Sequence[Picture]) -> None:
    """Nothing, unless there are too many for one message, or they are too large together.

    Raises:
        Refusal: `invalid_attachment`.
    """
    size = sum(one.image.size for one in pictures)
    if len(pictures) > MOST_PICTURES or size > MOST_PICTURE_BYTES:
        message = f"The message has {len(pictures)} pictures of {size} bytes together."
        hint = f"At most {MOST_PICTURES} pictures of {MOST_PICTURE_BYTES} bytes together are taken: send some later."
        raise Refusal("invalid_attachment", message, hint)


def _seen(picture: Picture, number: int) -> Fragment:
    """What stands in the text for a picture."""
    image = picture.image
    reported = render("image", number=number, media_type=image.media_type, width=image.width, height=image.height)
    return Fragment("image", reported)


def _pasted(snippet: Snippet) -> Fragment:
    title = one_name(" ".join(snippet.title.split()))[:TITLE_CHARACTERS].replace('"', "'")
    text = cut_middle(snippet.text, SNIPPET_CHARACTERS)
    shown = quoted(block(escaped(text)))
    return Fragment("attachment", render("pasted", title=title, text=shown, cut=text != snippet.text))


def path_of(uri: str) -> str:
    """The path in a `file:` URI; an `untitled:` URI as it is.

    Raises:
        ToolFailure: INVALID_PARAM: it is neither, or on another machine.
    """
    try:
        parts = urlsplit(uri)
    except ValueError as error:
        raise ToolFailure("INVALID_PARAM", f"{uri} is not a URI: {error}") from error
    if parts.scheme == "untitled":
        return uri
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"}:
        raise ToolFailure("INVALID_PARAM", f"{uri} is not a file of this machine.")
    return url2pathname(parts.path)


async def _text(workspace: Workspace, uri: str, place: Located | None) -> tuple[str, int | None] | None:
    """The document's text and version; an open one counts wherever it lies."""
    try:
        file = None if place is None else await workspace.read(place)
    except ToolFailure:
        file = None
    if file is not None:
        return file.text, file.version
    buffer = next((entry for entry in workspace.buffers.all() if entry.uri == uri), None)
    return None if buffer is None else (buffer.text, buffer.version)


def _selection(path: str, text: str, version: int | None, span: LineRange) -> Fragment | None:
    """The selected text as a fragment; None when nothing is selected."""
    part = part_of(text, span)
    if part is None:
        return None
    return Fragment(
        "attachment",
        render(
            "attachment",
            path=one_name(path).replace('"', "'"),
            first=part.first,
            last=part.last,
            version=version,
            text=quoted("\n".join(part.lines)),
            cut=part.cut,
            inside=part.inside,
            shown_last=part.shown_last,
            rest=part.rest,
        ),
    )


@dataclass(frozen=True, slots=True)
class Part:
    """The lines of a selection, cut to `ATTACHMENT_CHARACTERS`; line numbers from 1."""

    lines: tuple[str, ...]
    first: int
    last: int
    """Of what was selected, kept or not."""
    cut: bool
    inside: bool
    """Cut inside its first line."""

    @property
    def shown_last(self) -> int:
        """The last line that is kept, as a whole or in part."""
        return self.first + len(self.lines) - 1

    @property
    def rest(self) -> int:
        """Where to read on."""
        return self.first if self.inside else self.shown_last + 1


def part_of(text: str, span: LineRange) -> Part | None:
    """The part of a document that is selected; None when that is nothing but white space."""
    lines = _BREAK.split(text)[span.start_line : span.end_line + 1]
    if len(lines) == span.end_line - span.start_line + 1:
        lines[-1] = lines[-1][: span.end_character]
        if len(lines) > 1 and not lines[-1]:
            lines.pop()  # the selection ends before the line's first character
    if lines:
        lines[0] = lines[0][span.start_character :]
    if not any(line.strip() for line in lines):
        return None
    kept, room = 0, ATTACHMENT_CHARACTERS
    while kept < len(lines) and len(lines[kept]) < room:
        room -= len(lines[kept]) + 1
        kept += 1
    first, last = span.start_line + 1, span.start_line + len(lines)
    if kept == 0:
        return Part((lines[0][:ATTACHMENT_CHARACTERS],), first, last, cut=True, inside=True)
    return Part(tuple(lines[:kept]), first, last, cut=kept < len(lines), inside=False)
