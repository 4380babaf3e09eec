"""`codelaw/chat/*`: params and results. Times are seconds since the epoch, with fractions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from codelaw.domain.chats import EffortChoice, Level, Mode, Strategy, TurnStop
from codelaw.domain.errors import RefusalCode
from codelaw.domain.messages import Note, Role
from codelaw.domain.models import Effort
from codelaw.protocol.base import CacheMiss, Method, OrNone, Params, Payload
from codelaw.protocol.enclosed import EditorParams, Enclosure, StrategyOptions

Id = Annotated[str, Field(min_length=1, max_length=200)]
Title = Annotated[str, Field(min_length=1, max_length=200)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Attachments = Annotated[list[Enclosure], Field(max_length=100)]
Kind = Literal["panel", "inline", "headless", "shared"]


class CreateChat(Params):
    title: Title | None = None
    mode: Mode | None = None
    model: Name | None = None
    strategy: Strategy | None = None
    effort: EffortChoice | None = None
    kind: Kind | None = None


class ListChats(Params):
    query: Annotated[str, Field(max_length=1000)] | None = None
    limit: Annotated[int, Field(ge=1, le=500)] | None = None
    cursor: Annotated[str, Field(max_length=1000)] | None = None
    here: bool | None = None
    """Only chats that were begun in a folder of this client's workspace."""


class ReadChat(Params):
    """With `turns` or `beforeTurn`: only the newest `turns` turns, before that one."""

    chat_id: Id
    since_seq: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = None
    limit: Annotated[int, Field(ge=0, le=10_000)] | None = None
    before: Id | None = None
    turns: Annotated[int, Field(ge=1, le=1000)] | None = None
    before_turn: Id | None = None

    @field_validator("turns", "before_turn")
    @classmethod
    def _alone(cls, value: object, info: ValidationInfo) -> object:
        """Turns are counted, or messages: not both."""
        if value is not None and any(info.data.get(name) is not None for name in ("since_seq", "limit", "before")):
            raise PydanticCustomError("not_together", "Not together with sinceSeq, limit or before")
        return value


class SendMessage(Params):
    text: str
    chat_id: Id | None = None
    mode: Mode | None = None
    model: Name | None = None
    strategy: Strategy | None = None
    effort: EffortChoice | None = None
    strategy_options: StrategyOptions | None = None
    attachments: Attachments | None = None
    editor: EditorParams | None = None


class SteerTurn(Params):
    chat_id: Id
    text: str
    editor: EditorParams | None = None
    attachments: Attachments | None = None


class PictureRef(Params):
    """A picture of a chat by its `digest`, as messages and events name it."""

    chat_id: Id
    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class PictureData(Payload):
    media_type: str
    data: str
    """In base64."""


class UnsteerTurn(Params):
    chat_id: Id
    id: Id


class StopCall(Params):
    chat_id: Id
    call_id: Id


class ChatRef(Params):
    chat_id: Id


class UpdateChat(Params):
    chat_id: Id
    title: Title | None = None
    mode: Mode | None = None
    model: Name | None = None
    strategy: Strategy | None = None
    effort: EffortChoice | None = None


class ForkChat(Params):
    """`turnId` must be there; null makes an empty chat with the same settings."""

    chat_id: Id
    turn_id: Id | None


class ExportChat(Params):
    chat_id: Id
    format: Literal["markdown", "json"]


class RevertTurn(Params):
    """`files` is true where it is left out, `messages` false."""

    chat_id: Id
    turn_id: Id
    files: bool | None = None
    messages: bool | None = None
    uris: Annotated[list[Annotated[str, Field(min_length=1, max_length=8192)]], Field(max_length=20_000)] | None = None
    """Of what the turn did to files, only these."""


class Chat(Payload):
    """A conversation; `model` is the one that will be asked, `running` is the id of the running turn.

    `effort` is there where one was chosen for it.
    """

    id: str
    title: str
    kind: str
    mode: Mode
    model: str
    strategy: Strategy
    created_at: float
    updated_at: float
    turns: int
    running: str | None
    effort: Effort | None = None


class Call(Payload):
    """A tool call as the model wrote it."""

    id: str
    tool: str
    arguments: dict[str, Any]


class MessageFragment(Payload):
    """A bounded piece of context stored with a user message that the user did not type."""

    name: str
    text: str


class MessageImage(Payload):
    """A picture of a user message or of a result, without its bytes; `size` counts them, `digest` is their SHA-256."""

    media_type: str
    width: int
    height: int
    size: int
    digest: str


class FoundPage(Payload):
    title: str
    url: str


class WebSearch(Payload):
    """A search of the web, what it found, and why it found nothing."""

    query: str
    found: list[FoundPage]
    problem: OrNone[str] = None


class MessageMetadata(Payload):
    step: int | None = None
    tool_name: str | None = None
    call_id: str | None = None
    mtime: float | None = None
    answer: str | None = None
    calls: OrNone[list[Call]] = None
    fragments: OrNone[list[MessageFragment]] = None
    images: OrNone[list[MessageImage]] = None
    searches: OrNone[list[WebSearch]] = None
    """Of the web, that the vendor has made for an assistant message (X-1)."""
    note: Note | None = None
    ref: str | None = None
    interrupted: OrNone[bool] = None
    parent: str | None = None
    """The id of the `Task` call whose child turn said it (X-4); `step` is counted in the child."""
    damaged: OrNone[bool] = None
    """The disk has altered the message; its content begins with words that say so."""


class Message(Payload):
    """One entry of the transcript; a tool message's content is a JSON object."""

    id: str
    turn_id: str
    role: Role
    content: str
    metadata: MessageMetadata


class ChatList(Payload):
    chats: list[Chat]
    next_cursor: str | None = None


class Usage(Payload):
    """Billed tokens; `totalTokens` is their sum (W-1)."""

    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    total_tokens: int
    cost_usd: float | None = None
    web_searches: OrNone[int] = None
    """That the vendor charges for; a part of `costUsd` where its price is known."""
    thinking_tokens: OrNone[int] = None
    """Those of `outputTokens` that were thought, where the vendor tells."""
    cache_miss: CacheMiss | None = None


class Notice(Payload):
    level: Level
    code: str
    message: str


class Change(Payload):
    """A file changed in a turn; `added` and `removed` are lines."""

    uri: str
    path: str
    kind: Literal["created", "modified", "deleted"]
    added: int
    removed: int


class TurnError(Payload):
    code: RefusalCode
    message: str
    hint: str


class TurnResult(Payload):
    """How a turn ended; `model` is the one that was asked."""

    chat_id: str
    turn_id: str
    stop_reason: TurnStop
    answer: str
    steps: int
    usage: Usage
    notices: list[Notice]
    changes: list[Change]
    error: TurnError | None = None
    model: str | None = None


class Steered(Payload):
    """The message waits, safe from a crash; what becomes of it is told by `steer` events of that id."""

    queued: Literal[True] = True
    id: str


class Unsteered(Payload):
    """Whether it was withdrawn; what the model was told, or is being told, cannot be."""

    withdrawn: bool


class StoppedCall(Payload):
    """Whether a command of that call ran, which ends now; its result tells that the user has stopped it."""

    stopped: bool


class Cancelled(Payload):
    cancelled: bool


class Deleted(Payload):
    deleted: Literal[True] = True


class Export(Payload):
    """A chat as one document."""

    text: str


class RevertConflict(Payload):
    """A file that was left alone."""

    uri: str
    reason: str


class Reverted(Payload):
    """The files that are as if the turn had not changed them, and those that were changed since at the same place."""

    reverted: list[str]
    conflicts: list[RevertConflict]


class Checkpoint(Params):
    """The files as they were before a turn: looked at, with `restore` put back, with `undo` that taken back again.

    `overwrite` names files in which others' changes may be lost.
    """

    chat_id: Id
    turn_id: Id
    restore: bool | None = None
    overwrite: list[str] | None = Field(default=None, max_length=10_000)
    undo: bool | None = None


class CheckpointFile(Payload):
    """A file that is another than before the turn. `lost` says what of others' work a restore would lose."""

    uri: str
    path: str
    does: Literal["create", "modify", "delete"]
    changed: bool
    lost: str | None = None
    stuck: str | None = None


class CheckpointState(Payload):
    """The files as they were found, and those that were put back or left alone."""

    files: list[CheckpointFile]
    restored: list[str]
    conflicts: list[RevertConflict]
    undoable: bool


class Started(Payload):
    """What the command of a long method answers at once."""

    chat_id: str
    turn_id: str | None


METHODS = {
    "codelaw/chat/create": Method(CreateChat, Chat),
    "codelaw/chat/list": Method(ListChats, ChatList),
    "codelaw/chat/send": Method(SendMessage, TurnResult, Started),
    "codelaw/chat/steer": Method(SteerTurn, Steered),
    "codelaw/chat/picture": Method(PictureRef, PictureData),
    "codelaw/chat/unsteer": Method(UnsteerTurn, Unsteered),
    "codelaw/chat/stopCall": Method(StopCall, StoppedCall),
    "codelaw/chat/cancel": Method(ChatRef, Cancelled),
    "codelaw/chat/update": Method(UpdateChat, Chat),
    "codelaw/chat/delete": Method(ChatRef, Deleted),
    "codelaw/chat/fork": Method(ForkChat, Chat),
    "codelaw/chat/export": Method(ExportChat, Export),
    "codelaw/chat/revert": Method(RevertTurn, Reverted),
    "codelaw/chat/checkpoint": Method(Checkpoint, CheckpointState),
}
