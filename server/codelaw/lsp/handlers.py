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
    "codelaw/context/compact": context.compact,
    "codelaw/context/restore": context.restore,
    "codelaw/context/archive": context.archive,
    "codelaw/context/law": context.law,
    "codelaw/context/mentions": context.mentions,
    "codelaw/model/list": model.list_models,
    "codelaw/settings/read": settings.read,
}

TWINS: dict[str, Handler] = {
    "codelaw/chat/send": chat.start,
    "codelaw/context/compact": context.start_compacting,
    "codelaw/context/archive": context.show_the_archive,
}
"""What a method's command does instead, where that differs: long ones only begin, and some show what they answer."""
