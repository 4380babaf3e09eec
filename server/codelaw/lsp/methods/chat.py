"""`codelaw/chat/*`."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING

from codelaw.agent.turn.running import TurnTask
from codelaw.lsp.cancelling import SCOPE
from codelaw.lsp.documents import convert
from codelaw.lsp.transport import encoding
from codelaw.protocol import chats as wire
from codelaw.protocol.enclosed import AttachmentParams
from codelaw.protocol.events import ChatRecord

if TYPE_CHECKING:
    from codelaw.domain.requests import Enclosed
    from codelaw.lsp.context import Context
    from codelaw.lsp.documents.documents import EditorDocuments

PAGE = 50
"""Chats in a list that names no limit."""


async def create(context: Context, params: wire.CreateChat) -> wire.Chat:
    made = await context.session.chats.create(
        title=params.title,
        mode=params.mode,
        model=params.model,
        strategy=params.strategy,
        effort=params.effort,
        kind=params.kind,
    )
    return wire.Chat.of(made)


async def list_chats(context: Context, params: wire.ListChats) -> wire.ChatList:
    here = bool(params.here)
    found, cursor = await context.session.chats.list(params.query, params.limit or PAGE, params.cursor, here=here)
    chats = await asyncio.to_thread(lambda: [wire.Chat.of(item) for item in found])
    return wire.ChatList(chats=chats, next_cursor=cursor)


async def read(context: Context, params: wire.ReadChat) -> ChatRecord:
    record = [
        await context.session.chats.read(
            params.chat_id,
            since_seq=params.since_seq,
            limit=params.limit,
            before=params.before,
            turns=params.turns,
            before_turn=params.before_turn,
        )
    ]
    return await encoding.handed(convert.chat_record, record)


async def send(context: Context, params: wire.SendMessage) -> wire.TurnResult:
    """Run a turn to its end. Cancelling the request cancels the turn, and the answer is its result (R-8)."""
    turn = await _begin(context, params)
    return convert.turn_result(await turn.result())


async def start(context: Context, params: wire.SendMessage) -> wire.Started:
    """Begin a turn and answer at once; a client without events is shown the answer when it is there."""
    turn = await _begin(context, params)
    context.ui.follow(turn)
    return wire.Started(chat_id=turn.chat_id, turn_id=turn.turn_id)


async def steer(context: Context, params: wire.SteerTurn) -> wire.Steered:
    editor = convert.editor_state(params.editor, context.documents)
    attachments = await _attachments(params, context.documents)
    return wire.Steered(id=await context.session.chats.steer(params.chat_id, params.text, editor, attachments))


async def picture(context: Context, params: wire.PictureRef) -> wire.PictureData:
    media_type, content = await context.session.chats.picture(params.chat_id, params.digest)
    data = await asyncio.to_thread(lambda: base64.b64encode(content).decode())
    return wire.PictureData(media_type=media_type, data=data)


async def unsteer(context: Context, params: wire.UnsteerTurn) -> wire.Unsteered:
    return wire.Unsteered(withdrawn=await context.session.chats.unsteer(params.chat_id, params.id))


async def stop_call(context: Context, params: wire.StopCall) -> wire.StoppedCall:
    return wire.StoppedCall(stopped=await context.session.chats.stop_call(params.chat_id, params.call_id))


async def cancel(context: Context, params: wire.ChatRef) -> wire.Cancelled:
    return wire.Cancelled(cancelled=await context.session.chats.cancel(params.chat_id))


async def update(context: Context, params: wire.UpdateChat) -> wire.Chat:
    changed = await context.session.chats.update(
        params.chat_id,
        title=params.title,
        mode=params.mode,
        model=params.model,
        strategy=params.strategy,
        effort=params.effort,
    )
    return wire.Chat.of(changed)


async def delete(context: Context, params: wire.ChatRef) -> wire.Deleted:
    await context.session.chats.delete(params.chat_id)
    return wire.Deleted()


async def fork(context: Context, params: wire.ForkChat) -> wire.Chat:
    return wire.Chat.of(await context.session.records.fork(params.chat_id, params.turn_id))


async def export(context: Context, params: wire.ExportChat) -> wire.Export:
    return wire.Export(text=await context.session.records.export(params.chat_id, params.format))


async def revert(context: Context, params: wire.RevertTurn) -> wire.Reverted:
    """Undo a turn. Cancelling the request stops after the file at hand; what was undone stays so (E-2)."""
    report = await context.session.files.revert(
        params.chat_id,
        params.turn_id,
        files=params.files is not False,
        messages=params.messages or False,
        uris=params.uris,
    )
    return convert.revert_report(report)


async def revert_and_tell(context: Context, params: wire.RevertTurn) -> wire.Reverted:
    """Undo a turn; a client without events is told by a message what came of it."""
    answer = await revert(context, params)
    if not context.client.events:
        count = len(answer.reverted)
        told = [f"{count} file{'' if count == 1 else 's'} undone."]
        told += [f"Left alone: {conflict.reason}" for conflict in answer.conflicts]
        context.ui.message("warning" if answer.conflicts else "info", " ".join(told))
    return answer


async def checkpoint(context: Context, params: wire.Checkpoint) -> wire.CheckpointState:
    """Look at the files as they were before a turn, restore them, or undo that (E-2)."""
    session, chat, turn = context.session, params.chat_id, params.turn_id
    if params.undo:
        return convert.checkpoint_report(await session.files.undo_restore(chat, turn))
    if params.restore:
        return convert.checkpoint_report(await session.files.restore_files(chat, turn, set(params.overwrite or ())))
    return convert.checkpoint_report(await session.files.checkpoint(chat, turn))


async def _begin(context: Context, params: wire.SendMessage) -> TurnTask:
    documents = context.documents
    return await context.session.chats.send(
        params.chat_id,
        params.text,
        mode=params.mode,
        model=params.model,
        strategy=params.strategy,
        effort=params.effort,
        strategy_options=convert.strategy_options(params.strategy_options),
        attachments=await _attachments(params, documents),
        editor=convert.editor_state(params.editor, documents),
        scope=SCOPE.get(),
    )


async def _attachments(params: wire.SendMessage | wire.SteerTurn, documents: EditorDocuments) -> list[Enclosed]:
    """What goes along; pictures are decoded beside the event loop."""
    given = params.attachments or []
    if all(isinstance(item, AttachmentParams) for item in given):
        return [convert.attachment(item, documents) for item in given]
    return await asyncio.to_thread(lambda: [convert.attachment(item, documents) for item in given])


HANDLERS = {
    "codelaw/chat/create": create,
    "codelaw/chat/list": list_chats,
    "codelaw/chat/read": read,
    "codelaw/chat/send": send,
    "codelaw/chat/steer": steer,
    "codelaw/chat/picture": picture,
    "codelaw/chat/unsteer": unsteer,
    "codelaw/chat/stopCall": stop_call,
    "codelaw/chat/cancel": cancel,
    "codelaw/chat/update": update,
    "codelaw/chat/delete": delete,
    "codelaw/chat/fork": fork,
    "codelaw/chat/export": export,
    "codelaw/chat/revert": revert,
    "codelaw/chat/checkpoint": checkpoint,
}

TWINS = {
    "codelaw/chat/send": start,
    "codelaw/chat/revert": revert_and_tell,
}
