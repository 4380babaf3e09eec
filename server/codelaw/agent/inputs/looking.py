"""What the user looks at in the editor, as a fragment of the message (L-3, M-6)."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.agent.inputs.attachments import Part, part_of, path_of
from codelaw.context.escaping import one_name, quoted
from codelaw.domain.errors import ToolFailure
from codelaw.domain.messages import Fragment
from codelaw.domain.reports import Looked
from codelaw.domain.requests import Attachment
from codelaw.templates.render import render
from codelaw.tools.paths import located, protected_folder

if TYPE_CHECKING:
    from codelaw.domain.files import Buffer, FileText, Located
    from codelaw.domain.requests import EditorState, Enclosed
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
    return Fragment("editor", _told(editor, place, _buffer(workspace, place), file, part, attached=attached))


def _told(
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
