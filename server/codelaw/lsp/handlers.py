"""Which function answers which method."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from codelaw.lsp import chat, context, model, settings
from codelaw.protocol.base import Payload

if TYPE_CHECKING:
    from codelaw.lsp.connection import Connection

Handler = Callable[["Connection", Any], Awaitable[Payload]]

HANDLERS: dict[str, Handler] = {
    "codelaw/chat/create": chat.create,
    "codelaw/chat/list": chat.list_chats,
    "codelaw/chat/read": chat.read,
    "codelaw/chat/send": chat.send,
    "codelaw/chat/steer": chat.steer,
    "codelaw/chat/cancel": chat.cancel,
    "codelaw/chat/update": chat.update,
    "codelaw/chat/delete": chat.delete,
    "codelaw/context/inspect": context.inspect,
    "codelaw/context/law": context.law,
    "codelaw/context/mentions": context.mentions,
    "codelaw/model/list": model.list_models,
    "codelaw/settings/read": settings.read,
}

STARTERS: dict[str, Handler] = {"codelaw/chat/send": chat.start}
"""What the command of a long method does instead."""
