"""Gathering at the edge of a turn: what the user's words refer to (L-3, M-1 to M-6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codelaw.agent.inputs.attachments import attach, editor_fragment, pictures_in
from codelaw.context.escaping import neutralise
from codelaw.context.mentions import REMINDED, candidates, reminder
from codelaw.domain.chats import Notice
from codelaw.domain.errors import ToolFailure
from codelaw.domain.events import Mention, TurnStarted
from codelaw.domain.messages import Fragment, Metadata
from codelaw.templates.render import render
from codelaw.tools.paths import located

if TYPE_CHECKING:
    from codelaw.domain.media.images import Picture
    from codelaw.domain.models import Effort
    from codelaw.domain.requests import EditorState, Enclosed
    from codelaw.permissions.policy import Denied
    from codelaw.ports.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Called:
    """What a message calls and mentions besides files: a command of the user's (X-7), resources (X-3), others (M-8)."""

    text: str = ""
    """The command's text with the arguments, in which paths may be mentioned."""
    fragments: tuple[Fragment, ...] = ()
    notices: tuple[Notice, ...] = ()
    mentions: tuple[Mention, ...] = ()
    """Of what is not a file."""
    effort: Effort | None = None
    """That a command asks for, or a skill that the message begins with (P-6)."""


NOTHING_CALLED = Called()


@dataclass(frozen=True, slots=True)
class MomentFacts:
    """Volatile facts about the turn (L-3)."""

    date: str
    """ISO 8601, the day only."""
    os: str
    shell: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message of the user's, made ready for the model and to be stored."""

    content: str
    """What was typed, neutralised, then the reminder (M-3, R-5)."""
    mentions: tuple[Mention, ...]
    left_out: int
    """Resolved mentions beyond those the reminder names."""
    fragments: tuple[Fragment, ...] = ()
    """What is mentioned besides files, what was sent along, what the user looked at, and facts of the moment."""
    notices: tuple[Notice, ...] = ()
    """What could not be sent along, and why."""
    pictures: tuple[Picture, ...] = ()

    @property
    def metadata(self) -> Metadata:
        """What is stored with the message, and sent."""
        return Metadata(fragments=self.fragments, images=tuple(one.image for one in self.pictures))

    def started(self, typed: str, steers: tuple[str, ...]) -> TurnStarted:
        """What is sent of the turn that it begins; `steers` are the messages that it is made of (R-9)."""
        images = self.metadata.images
        return TurnStarted(typed, self.mentions, self.left_out, steered=bool(steers), steers=steers, images=images)

    def calling(self, called: Called) -> UserMessage:
        """With what the words call, and mention besides files."""
        # A server's name before its colon is not a path of its own.
        servers = {mention.path.partition(":")[0] for mention in called.mentions}
        files = (mention for mention in self.mentions if mention.kind != "unresolved" or mention.path not in servers)
        return replace(
            self,
            mentions=(*files, *called.mentions),
            fragments=(*called.fragments, *self.fragments),
            notices=(*called.notices, *self.notices),
        )


async def question(
    text: str,
    workspace: Workspace,
    facts: MomentFacts,
    attachments: Sequence[Enclosed],
    editor: Fragment | None,
    *,
    called: Called = NOTHING_CALLED,
) -> UserMessage:
    """Preprocess the user's input (R-1); `editor` is what the user looks at, `called` what the message calls (X-7)."""
    environment = Fragment("environment", render("environment", date=facts.date, os=facts.os, shell=facts.shell))
    said = await _worded(text, workspace, attachments, candidates(called.text))
    looking = () if editor is None else (editor,)
    return replace(said, fragments=(*said.fragments, *looking, environment)).calling(called)


async def added(
    text: str,
    editor: EditorState | None,
    workspace: Workspace,
    denied: Denied | None,
    attachments: Sequence[Enclosed] = (),
) -> UserMessage:
    """A message that comes while a turn runs, what was sent along, and what the user looked at (M-6, M-7, L-3).

    Nothing of what is denied.

    Raises:
        Refusal: `invalid_attachment`, as for `attach`.
    """
    said = await _worded(text, workspace.without(denied), attachments)
    looking = await editor_fragment(workspace, editor, denied, attachments)
    return said if looking is None else replace(said, fragments=(*said.fragments, looking))


async def _worded(
    text: str, workspace: Workspace, attachments: Sequence[Enclosed], more: Sequence[str] = ()
) -> UserMessage:
    """What every message of the user goes through, a steer too (M-7): its mentions, the reminder, no forged label.

    `more` are paths that it mentions besides those in its text.
    """
    selections, attached, notices = await attach(workspace, attachments)
    paths = dict.fromkeys([*candidates(text), *more, *attached])
    mentions = [await _resolve(workspace, path) for path in paths]
    resolved = [mention for mention in mentions if mention.kind != "unresolved"]
    named = {mention.path for mention in resolved[:REMINDED]}
    mentions = [
        Mention(mention.path, mention.kind, mention.uri, reminded=mention.path in named) for mention in mentions
    ]
    block, clean = reminder(mentions), neutralise(text)
    return UserMessage(
        f"{clean}\n\n{block}" if block else clean,
        tuple(mentions),
        max(0, len(resolved) - REMINDED),
        tuple(selections),
        tuple(notices),
        pictures=pictures_in(attachments),
    )


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
