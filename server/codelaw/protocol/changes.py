"""`codelaw/chat/changes` and `codelaw/chat/reviewed`: what a chat did to files (E-1)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from codelaw.domain import edits
from codelaw.protocol.base import Params, Payload
from codelaw.protocol.chats import Id


class ReviewFile(Params):
    """`above` is 0 where it is left out: all that the chat did to the file."""

    chat_id: Id
    uri: Annotated[str, Field(min_length=1, max_length=8192)]
    above: Annotated[int, Field(ge=0, lt=2**53)] | None = None


class TurnChange(Payload, copies=edits.TurnChange):
    """What a turn did to one file all in all; `number` rises with every change, also from chat to chat."""


class ChatChanges(Payload):
    """What the turns of a chat did and nobody has undone, oldest first; where it is too much, the newest of it."""

    changes: list[TurnChange]
    total: int


class ReviewedFile(Payload, copies=edits.ReviewedFile):
    """A file before the chat changed it, and as it left it; null where there was, or is, no file.

    Both are null where `isText` is false. With `redacted` they are not what stands in the file.
    """
