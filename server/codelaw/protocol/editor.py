"""What the commands of code actions, lenses and chat files take and give (E-3, E-4)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from codelaw.domain.chats import TurnStop
from codelaw.protocol.base import Params, Payload
from codelaw.protocol.chats import Id, TurnErrorPayload
from codelaw.protocol.enclosed import Range

Uri = Annotated[str, Field(min_length=1, max_length=8192)]


class AskedDiagnostic(Params):
    """A diagnostic that the user wants to see fixed, or explained."""

    message: Annotated[str, Field(min_length=1, max_length=20_000)]
    range: Range
    code: Annotated[str, Field(max_length=1000)] | None = None
    source: Annotated[str, Field(max_length=1000)] | None = None


class AskInEditor(Params):
    """A part of a document that is asked about; `version` is that of the document when it was chosen."""

    uri: Uri
    range: Range
    version: int | None = None
    diagnostic: AskedDiagnostic | None = None
    text: Annotated[str, Field(min_length=1)] | None = None
    """The question, where the client has asked for it; without one a chat file is opened to write it in."""


class EditInEditor(Params):
    """Lines of a document that are to be changed as `text` says; with a chat, after what was said there."""

    uri: Uri
    range: Range
    text: Annotated[str, Field(min_length=1, max_length=100_000)]
    version: int | None = None
    chat_id: Id | None = None


class CommitMessage(Params):
    """The repository whose next commit is to have a message; without a uri that of the first folder."""

    uri: Uri | None = None


class TurnRef(Params):
    chat_id: Id
    turn_id: Id


class ChatFileRef(Params):
    uri: Uri


class UndoInChatFile(Params):
    """Without a turn, the last one of the file."""

    uri: Uri
    turn_id: Id | None = None


class ShowChat(Params):
    chat_id: Id
    what: Literal["transcript", "context", "before"]
    turn_id: Id | None = None
    path: Annotated[str, Field(min_length=1, max_length=8192)] | None = None


class Asked(Payload):
    """The turn that was begun, or the chat file that was opened for the question."""

    chat_id: str | None = None
    turn_id: str | None = None
    uri: str | None = None


class Proposing(Payload):
    """The turn that was begun to propose something."""

    chat_id: str
    turn_id: str


class Proposal(Payload):
    """What the turn proposes, when it has ended.

    `lines` are those that it proposes, none where it proposes nothing; `said` is what else it answers. Of an edit
    `before` are the lines, from `first` on, that they would replace.
    """

    stop_reason: TurnStop
    lines: list[str] | None = None
    said: str
    first: int | None = None
    before: list[str] | None = None
    error: TurnErrorPayload | None = None


class Undone(Payload):
    """`message` says what was undone, as the user was told."""

    message: str


class Shown(Payload):
    uri: str
