"""Which function answers which method."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from codelaw.lsp.features import asking, features, proposing
from codelaw.lsp.methods import (
    brought,
    changes,
    chat,
    context,
    finding,
    memory,
    model,
    permission,
    servers,
    settings,
    workspace,
)
from codelaw.protocol.base import Payload

if TYPE_CHECKING:
    from codelaw.lsp.context import Context
    from codelaw.lsp.features.features import Features

Handler = Callable[["Context", Any], Awaitable[Payload]]

HANDLERS: dict[str, Handler] = {
    **chat.HANDLERS,
    **changes.HANDLERS,
    **context.HANDLERS,
    **memory.HANDLERS,
    **workspace.HANDLERS,
    **permission.HANDLERS,
    **model.HANDLERS,
    **brought.HANDLERS,
    **servers.HANDLERS,
    **finding.HANDLERS,
    **settings.HANDLERS,
}
"""Each row stands with its function."""

TWINS: dict[str, Handler] = {
    **chat.TWINS,
    **context.TWINS,
    **permission.TWINS,
    **servers.TWINS,
}
"""What a method's command does instead, where that differs: long ones only begin, and some show what they answer."""

COMMAND_HANDLERS: dict[str, Callable[[Features, Any], Awaitable[Payload]]] = {
    "codelaw.editor.ask": asking.ask,
    "codelaw.editor.explain": asking.explain,
    "codelaw.editor.fix": asking.fix,
    "codelaw.editor.test": asking.test,
    "codelaw.editor.edit": proposing.edit,
    "codelaw.editor.commitMessage": proposing.commit_message,
    "codelaw.editor.proposal": proposing.proposal,
    "codelaw.chatFile.send": features.send,
    "codelaw.chatFile.stop": features.stop,
    "codelaw.chatFile.undo": features.undo,
    "codelaw.chat.show": features.show_chat,
}
"""The commands that are not a method's twin."""
