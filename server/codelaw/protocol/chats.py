"""`codelaw/chat/*`: params and results. Times are seconds since the epoch, with fractions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from codelaw.domain import chats, edits, messages, models, results
from codelaw.domain.chats import EffortChoice, Mode, Strategy
from codelaw.domain.media import images
from codelaw.protocol.base import CacheMissPayload, Params, Payload
from codelaw.protocol.enclosed import EditorParams, Enclosure, GivenOptions


class ReviewFile(Params):
    """`above` is 0 where it is left out: all that the chat did to the file."""

    chat_id: Id
    uri: Annotated[str, Field(min_length=1, max_length=8192)]
    above: Annotated[int, Field(ge=0, lt=2**53)] | None = None


class TurnChangePayload(Payload, copies=edits.TurnChange):
    """What a turn did to one file all in all; `number` rises with every change, also from chat to chat."""


class ChatChanges(Payload):
    """What the turns of a chat did and nobody has undone, oldest first; where it is too much, the newest of it."""

    changes: list[TurnChangePayload]
    total: int


class ReviewedFilePayload(Payload, copies=edits.ReviewedFile):
    """A file before the chat changed it, and as it left it; null where there was, or is, no file.

    Both are null where `isText` is false. With `redacted` they are not what stands in the file.
    """


Id = Annotated[str, Field(min_length=1, max_length=200)]
Title = Annotated[str, Field(min_length=1, max_length=200)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Attachments = Annotated[list[Enclosure], Field(max_length=100)]
Kind = Literal["panel", "inline", "headless", "shared"]


class ChatChoices(Params):
    mode: Mode | None = None
    model: Name | None = None
    strategy: Strategy | None = None
    effort: EffortChoice | None = None


class CreateChat(ChatChoices):
    title: Title | None = None
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


class SendMessage(ChatChoices):
    text: str
    chat_id: Id | None = None
    strategy_options: GivenOptions | None = None
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
    steer_id: Id = Field(alias="id")


class StopCall(Params):
    chat_id: Id
    call_id: Id


class ChatRef(Params):
    chat_id: Id


class UpdateChat(ChatChoices):
    chat_id: Id
    title: Title | None = None


class ForkChat(Params):
    """`turnId` must be there; null makes an empty chat with the same settings."""

    chat_id: Id
    turn_id: Id | None


class ExportChat(Params):
    chat_id: Id
    form: Literal["markdown", "json"] = Field(alias="format")


class RevertTurn(Params):
    """`files` is true where it is left out, `messages` false."""

    chat_id: Id
    turn_id: Id
    files: bool | None = None
    messages: bool | None = None
    uris: Annotated[list[Annotated[str, Field(min_length=1, max_length=8192)]], Field(max_length=20_000)] | None = None
    """Of what the turn did to files, only these."""


class ChatPayload(Payload, copies=chats.Chat, without="generation chosen places", always="running"):
    """A conversation; `model` is the one that will be asked, `running` is the id of the running turn.

    `effort` is there where one was chosen for it.
    """


class CallPayload(Payload, copies=messages.Call):
    """A tool call as the model wrote it."""


class MessageFragment(Payload, copies=messages.Fragment):
    """A bounded piece of context stored with a user message that the user did not type."""


class MessageImage(Payload, copies=images.Image):
    """A picture of a user message or of a result, without its bytes; `size` counts them, `digest` is their SHA-256."""

    media_type: str


class FoundPagePayload(Payload, copies=messages.FoundPage):
    pass


class WebSearchPayload(Payload, copies=messages.WebSearch, maybe="problem"):
    """A search of the web, what it found, and why it found nothing."""


class MessageMetadata(
    Payload,
    copies=messages.Metadata,
    without="asides whole native as_text kept",
    maybe="calls searches fragments images interrupted damaged",
):
    pass


class MessagePayload(Payload, copies=messages.Message):
    """One entry of the transcript; a tool message's content is a JSON object."""


class ChatList(Payload):
    chats: list[ChatPayload]
    next_cursor: str | None = None


class UsagePayload(
    Payload,
    copies=models.Usage,
    without="cache_write_1h_tokens",
    maybe="web_searches thinking_tokens estimated_tokens",
):
    """Billed tokens; `totalTokens` is their sum (W-1), `estimatedTokens` what of it nobody has reported (P-7)."""

    total_tokens: int
    cost_usd: float | None = None
    cache_miss: CacheMissPayload | None = None


class NoticePayload(Payload, copies=chats.Notice):
    pass


class Change(Payload, copies=results.FileChange, without="diff"):
    """A file changed in a turn; `added` and `removed` are lines."""


class TurnErrorPayload(Payload, copies=chats.TurnError):
    pass


class TurnResultPayload(Payload, copies=chats.TurnResult, without="cost_usd cache_miss"):
    """How a turn ended; `model` is the one that was asked."""

    @model_validator(mode="before")
    @classmethod
    def _of_result(cls, value: Any) -> Any:
        if not isinstance(value, chats.TurnResult):
            return value
        costs = UsagePayload.of(value.usage, cost_usd=value.cost_usd, cache_miss=value.cache_miss)
        return cls.facts(value) | {"usage": costs}


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


class CancelledPayload(Payload):
    cancelled: bool


class Deleted(Payload):
    deleted: Literal[True] = True


class Export(Payload):
    """A chat as one document."""

    text: str


class RevertConflictPayload(Payload, copies=edits.RevertConflict, without="path"):
    """A file that was left alone."""


class Reverted(Payload, copies=edits.RevertReport):
    """The files that are as if the turn had not changed them, and those that were changed since at the same place."""


class Checkpoint(Params):
    """The files as they were before a turn: looked at, with `restore` put back, with `undo` that taken back again.

    `overwrite` names files in which others' changes may be lost.
    """

    chat_id: Id
    turn_id: Id
    restore: bool | None = None
    overwrite: list[str] | None = Field(default=None, max_length=10_000)
    undo: bool | None = None


class CheckpointFilePayload(Payload, copies=edits.CheckpointFile):
    """A file that is another than before the turn. `lost` says what of others' work a restore would lose."""


class CheckpointState(Payload, copies=edits.CheckpointReport):
    """The files as they were found, and those that were put back or left alone."""


class Started(Payload):
    """What the command of a long method answers at once."""

    chat_id: str
    turn_id: str | None
