"""`codelaw/chat/changes` and `codelaw/chat/reviewed`: what a chat did to files (E-1)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from codelaw.protocol.base import Method, Params, Payload
from codelaw.protocol.chats import ChatRef, Id


class ReviewFile(Params):
    """`above` is 0 where it is left out: all that the chat did to the file."""

    chat_id: Id
    uri: Annotated[str, Field(min_length=1, max_length=8192)]
    above: Annotated[int, Field(ge=0, lt=2**53)] | None = None


class TurnChange(Payload):
    """What a turn did to one file all in all; `number` rises with every change, also from chat to chat."""

    turn_id: str
    uri: str
    path: str
    kind: Literal["created", "modified", "deleted"]
    number: int
    is_text: bool
    renamed_from: str | None = None


class ChatChanges(Payload):
    """What the turns of a chat did and nobody has undone, oldest first; where it is too much, the newest of it."""

    changes: list[TurnChange]
    total: int


class ReviewedFile(Payload):
    """A file before the chat changed it, and as it left it; null where there was, or is, no file.

    Both are null where `isText` is false. With `redacted` they are not what stands in the file.
    """

    path: str
    before: str | None
    after: str | None
    number: int
    is_text: bool
    redacted: bool


METHODS = {
    "codelaw/chat/changes": Method(ChatRef, ChatChanges),
    "codelaw/chat/reviewed": Method(ReviewFile, ReviewedFile),
}
