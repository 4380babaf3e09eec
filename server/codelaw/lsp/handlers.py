"""Which function answers which method."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from codelaw.lsp.features import asking, commands
from codelaw.lsp.methods import chat, context, memory, model, permission, settings, workspace
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
    "codelaw/chat/unsteer": chat.unsteer,
    "codelaw/chat/cancel": chat.cancel,
    "codelaw/chat/update": chat.update,
    "codelaw/chat/delete": chat.delete,
    "codelaw/chat/fork": chat.fork,
    "codelaw/chat/export": chat.export,
    "codelaw/chat/revert": chat.revert,
    "codelaw/context/inspect": context.inspect,
    "codelaw/context/compact": context.compact,
    "codelaw/context/restore": context.restore,
    "codelaw/context/archive": context.archive,
    "codelaw/context/law": context.law,
    "codelaw/context/mentions": context.mentions,
    "codelaw/context/editor": context.editor,
    "codelaw/memory/save": memory.save,
    "codelaw/memory/list": memory.list_memories,
    "codelaw/memory/search": memory.search,
    "codelaw/memory/update": memory.update,
    "codelaw/memory/forget": memory.forget,
    "codelaw/memory/backfill": memory.backfill,
    "codelaw/workspace/trust": workspace.trust,
    "codelaw/workspace/settings": workspace.settings,
    "codelaw/permission/list": permission.list_grants,
    "codelaw/permission/revoke": permission.revoke,
    "codelaw/permission/audit": permission.audit,
    "codelaw/model/list": model.list_models,
    "codelaw/settings/read": settings.read,
}

TWINS: dict[str, Handler] = {
    "codelaw/chat/send": chat.start,
    "codelaw/chat/revert": chat.revert_and_tell,
    "codelaw/context/compact": context.start_compacting,
    "codelaw/context/archive": context.show_the_archive,
    "codelaw/permission/list": permission.show_the_grants,
    "codelaw/permission/audit": permission.show_the_audit,
}
"""What a method's command does instead, where that differs: long ones only begin, and some show what they answer."""

COMMAND_HANDLERS: dict[str, Handler] = {
    "codelaw.editor.ask": asking.ask,
    "codelaw.editor.explain": asking.explain,
    "codelaw.editor.fix": asking.fix,
    "codelaw.editor.test": asking.test,
    "codelaw.chatFile.send": commands.send,
    "codelaw.chatFile.stop": commands.stop,
    "codelaw.chatFile.undo": commands.undo,
    "codelaw.chat.show": commands.show_chat,
}
"""The commands that are no method's twin."""
