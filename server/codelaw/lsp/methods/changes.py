"""`codelaw/chat/changes` and `codelaw/chat/reviewed` (E-1)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from codelaw.protocol import changes as wire
from codelaw.protocol.chats import ChatRef

if TYPE_CHECKING:
    from codelaw.lsp.context import Context

MOST = 20_000
"""Changes in one answer."""


async def changes(context: Context, params: ChatRef) -> wire.ChatChanges:
    found = await context.session.files.changes(params.chat_id)
    listed = await asyncio.to_thread(lambda: [wire.TurnChange.of(change) for change in found[-MOST:]])
    return wire.ChatChanges(changes=listed, total=len(found))


async def reviewed(context: Context, params: wire.ReviewFile) -> wire.ReviewedFile:
    return wire.ReviewedFile.of(await context.session.files.reviewed(params.chat_id, params.uri, params.above or 0))


HANDLERS = {
    "codelaw/chat/changes": changes,
    "codelaw/chat/reviewed": reviewed,
}
