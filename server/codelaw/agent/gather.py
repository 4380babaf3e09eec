"""Gathering at the edge of a turn: what the user's words refer to, and the law (L-3, L-4, M-1 to M-6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from codelaw.context import law as laws
from codelaw.context.law import LawText
from codelaw.context.mentions import REMINDED, candidates, reminder
from codelaw.context.observations import neutralise, one_name, quoted
from codelaw.domain.chats import Notice
from codelaw.domain.errors import ToolFailure
from codelaw.domain.events import Mention
from codelaw.domain.messages import Fragment
from codelaw.templates.render import render
from codelaw.tools.paths import located, whole

if TYPE_CHECKING:
    from codelaw.domain.files import FileText, Folder, Located
    from codelaw.domain.requests import Attachment, EditorState
    from codelaw.ports.workspace import Workspace

ATTACHMENT_CHARACTERS = 8000
"""Most characters of a selection that are sent with a message (M-6)."""


@dataclass(frozen=True, slots=True)
class Question:
    """The user's message, made ready to be sent and stored."""

    content: str
    """What was typed, then the reminder (M-3)."""
    fragments: tuple[Fragment, ...]
    mentions: tuple[Mention, ...]
    left_out: int
    """Resolved mentions beyond those the reminder names."""
    notices: tuple[Notice, ...] = ()
    """Attachments that could not be sent, and why."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Volatile facts about the turn (L-3)."""

    date: str
    """ISO 8601, the day only."""
    os: str
    shell: str


@dataclass(frozen=True, slots=True)
class Law:
    """L2 as found, and what was wrong with it."""

    documents: tuple[LawText, ...] = ()
    text: str = ""
    notices: tuple[Notice, ...] = field(default=())


async def question(
    text: str, workspace: Workspace, facts: Facts, attachments: Sequence[Attachment], editor: EditorState | None
) -> Question:
    """Preprocess the user's input (R-1)."""
    selections: list[Fragment] = []
    attached: list[str] = []
    notices: list[Notice] = []
    for attachment in attachments:
        buffer = next((entry for entry in workspace.buffers.all() if entry.uri == attachment.uri), None)
        shown = await _shown(workspace, attachment.uri)
        if shown is None and buffer is None:
            lost = f"{one_name(attachment.uri)} was not attached: it is outside the workspace and not open."
            notices.append(Notice("warning", "attachment_left_out", lost))
        elif attachment.range is None:
            attached.append(shown or attachment.uri)
        else:
            selections.append(await _selection(workspace, attachment, shown or attachment.uri))
    mentions = [await _resolve(workspace, path) for path in dict.fromkeys([*candidates(text), *attached])]
    resolved = [mention for mention in mentions if mention.kind != "unresolved"]
    named = {mention.path for mention in resolved[:REMINDED]}
    mentions = [
        Mention(mention.path, mention.kind, mention.uri, reminded=mention.path in named) for mention in mentions
    ]
    block = reminder(mentions)
    clean = neutralise(text)
    active = None
    if editor is not None and editor.active_uri is not None:
        shown = await _shown(workspace, editor.active_uri)
        active = None if shown is None else one_name(shown)
        if active is not None and editor.line is not None:
            active = f"{active}:{editor.line + 1}"
    environment = render("environment", date=facts.date, os=facts.os, shell=facts.shell, active=active)
    return Question(
        f"{clean}\n\n{block}" if block else clean,
        (*selections, Fragment("environment", environment)),
        tuple(mentions),
        max(0, len(resolved) - REMINDED),
        tuple(notices),
    )


async def find_law(workspace: Workspace) -> Law:
    """The law of every workspace folder as it is now, open buffers first (L-4)."""
    documents: list[LawText] = []
    notices: list[Notice] = []
    for folder in workspace.folders:
        try:
            place = await _locate_law(workspace, folder)
            if place is None:
                continue
            text = await workspace.read(place)
        except ToolFailure as failure:
            notices.append(
                Notice("warning", "law_unreadable", f"The law of {folder.name} is left out: {failure.message}")
            )
            continue
        documents.append(LawText(folder.name, place.uri, text.text, text.digest, text.source))
    return Law(tuple(documents), laws.assemble(documents), tuple(notices))


async def _locate_law(workspace: Workspace, folder: Folder) -> Located | None:
    prefix = f"{folder.name}/" if len(workspace.folders) > 1 else ""
    root = whole(folder)
    names = {entry.name for entry in await workspace.entries(root, hidden=True, ignored=True)}
    names.update(
        buffer.path.name for buffer in workspace.buffers.all() if buffer.path and buffer.path.parent == folder.root
    )
    name = laws.choose(names)
    return None if name is None else await located(workspace, f"{prefix}{name}")


async def _resolve(workspace: Workspace, path: str) -> Mention:
    """A mention is tried as written, then inside each folder (M-2)."""
    tries = [path, *(f"{folder.name}/{path}" for folder in workspace.folders if len(workspace.folders) > 1)]
    for attempt in tries:
        try:
            place = await located(workspace, attempt)
            kind = await workspace.exists(place)
        except ToolFailure:
            continue
        if kind == "file":
            return Mention(place.shown, "file", place.uri)
        if kind == "folder":
            return Mention(place.shown, "folder", place.uri)
    return Mention(path, "unresolved")


async def _selection(workspace: Workspace, attachment: Attachment, shown: str) -> Fragment:
    span = attachment.range
    assert span is not None  # noqa: S101 - narrowing; only selections come here
    text = await _attached_text(workspace, attachment.uri, shown)
    lines = text.text.splitlines() if text is not None else []
    picked = lines[span.start_line : span.end_line + 1]
    if picked:
        picked[-1] = picked[-1][: span.end_character] if span.end_line < len(lines) else picked[-1]
        picked[0] = picked[0][span.start_character :]
    body, kept = "", 0
    for line in picked:
        if len(body) + len(line) > ATTACHMENT_CHARACTERS:
            break
        body, kept = f"{body}{line}\n", kept + 1
    first = span.start_line + 1
    return Fragment(
        "attachment",
        render(
            "attachment",
            path=one_name(shown).replace('"', "'"),
            first=first,
            last=first + max(0, len(picked) - 1),
            version=text.version if text is not None else None,
            text=quoted(body.rstrip("\n")),
            cut=kept < len(picked),
            shown_last=first + kept - 1,
        ),
    )


async def _attached_text(workspace: Workspace, uri: str, shown: str) -> FileText | None:
    try:
        return await workspace.read(await located(workspace, shown if "://" not in shown else path_of(uri)))
    except ToolFailure:
        return None


async def _shown(workspace: Workspace, uri: str) -> str | None:
    """The path of a document as the model knows it; None outside the workspace."""
    try:
        return (await located(workspace, path_of(uri))).shown
    except ToolFailure:
        return None


def path_of(uri: str) -> str:
    """The path in a `file:` URI; an `untitled:` URI as it is.

    Raises:
        ToolFailure: INVALID_PARAM: it is neither, or on another machine.
    """
    try:
        parts = urlsplit(uri)
    except ValueError as error:
        raise ToolFailure("INVALID_PARAM", f"{uri} is no URI: {error}") from error
    if parts.scheme == "untitled":
        return uri
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"}:
        raise ToolFailure("INVALID_PARAM", f"{uri} is no file of this machine.")
    return url2pathname(parts.path)
