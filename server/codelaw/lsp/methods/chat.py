"""`codelaw/chat/*` and `codelaw/context/compact`, as far as a session's own answer is not all of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from codelaw.domain.errors import Refusal
from codelaw.lsp.cancelling import SCOPE
from codelaw.lsp.documents import convert
from codelaw.lsp.transport.errors import internal_error
from codelaw.protocol import chats as wire
from codelaw.protocol.enclosed import AttachmentParams

if TYPE_CHECKING:
    from codelaw.agent.turn.running import TurnTask
    from codelaw.domain.checkpoints import CompactionReport
    from codelaw.domain.edits import RevertReport
    from codelaw.lsp.context import Context

MOST_CHANGES = 20_000
"""In one answer."""
REFUSAL_SECONDS = 0.2
"""How long the command that compacts waits for a refusal; a later one is told by a message."""


async def send(context: Context, params: wire.SendMessage) -> object:
    """Run a turn to its end. Cancelling the request cancels the turn, and the answer is its result (R-8)."""
    turn = await _begin(context, params)
    return await turn.result()


async def start(context: Context, params: wire.SendMessage) -> object:
    """Begin a turn and answer at once; a client without events is shown the answer when it is there."""
    turn = await _begin(context, params)
    context.ui.follow(turn)
    return turn.chat_id, turn.turn_id


async def _begin(context: Context, params: wire.SendMessage) -> TurnTask:
    return await context.session.chats.send(**await _given(context, params), scope=SCOPE.get())


async def steer(context: Context, params: wire.SteerTurn) -> object:
    return await context.session.chats.steer(**await _given(context, params))


async def _given(context: Context, params: wire.SendMessage | wire.SteerTurn) -> dict[str, Any]:
    """The params by name, what goes along as the engine knows it; pictures are decoded beside the event loop."""
    given = params.attachments or []
    attachments = [convert.attachment(item, context.documents) for item in given if isinstance(item, AttachmentParams)]
    if len(attachments) < len(given):
        attachments = await asyncio.to_thread(lambda: [convert.attachment(item, context.documents) for item in given])
    state = convert.editor_state(params.editor, context.documents)
    return {**dict(params), "attachments": attachments, "editor": state}


async def revert_and_show(context: Context, params: wire.RevertTurn) -> RevertReport:
    """Undo a turn; a client without events is shown by a message what came of it."""
    report = await context.session.files.revert(**dict(params))
    if not context.client.events:
        count = len(report.reverted)
        said = [f"{count} file{'' if count == 1 else 's'} undone."]
        said += [f"Left alone: {conflict.reason}" for conflict in report.conflicts]
        context.ui.message("warning" if report.conflicts else "info", " ".join(said))
    return report


async def checkpoint(context: Context, params: wire.Checkpoint) -> object:
    """Look at the files as they were before a turn, restore them, or undo that (E-2)."""
    files, chat, turn = context.session.files, params.chat_id, params.turn_id
    if params.undo:
        return await files.undo_restore(chat, turn)
    if params.restore:
        return await files.restore_files(chat, turn, set(params.overwrite or ()))
    return await files.checkpoint(chat, turn)


async def changes(context: Context, params: wire.ChatRef) -> object:
    found = await context.session.files.changes(params.chat_id)
    return found[-MOST_CHANGES:], len(found)


async def compact(context: Context, params: wire.ChatRef) -> object:
    """Compact to the end. Cancelling the request cancels the compaction, and the answer is its report (K-6)."""
    return await context.session.contexts.compact(params.chat_id, SCOPE.get())


async def start_compacting(context: Context, params: wire.ChatRef) -> object:
    """Begin and answer at once; a client without events is told the outcome by a message."""
    scope = SCOPE.get()
    asked = asyncio.ensure_future(context.session.contexts.compact(params.chat_id, scope))
    await asyncio.wait([asked], timeout=REFUSAL_SECONDS)
    if asked.done() and asked.result().reason == "cancelled" and scope.cancelled:  # raises a refusal
        raise asyncio.CancelledError
    context.spawn(_tell(context, asked))
    return params.chat_id, None


async def _tell(context: Context, asked: asyncio.Future[CompactionReport]) -> None:
    """The end of a compaction that nobody waits for."""
    try:
        context.ui.compaction(await asked)
    except Refusal as refused:
        context.ui.message("error", " ".join(filter(None, (refused.message, refused.hint))))
    except Exception:
        context.ui.message("error", internal_error().message)
        raise
