"""`codelaw/chat/*`."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING

from codelaw.agent.turn.running import TurnTask
from codelaw.lsp.cancelling import SCOPE
from codelaw.lsp.documents import convert
from codelaw.lsp.methods.routing import as_command, route
from codelaw.protocol import chats
from codelaw.protocol import chats as wire
from codelaw.protocol.enclosed import AttachmentParams
from codelaw.protocol.events import ChatRecord

if TYPE_CHECKING:
    from codelaw.domain.edits import RevertReport
    from codelaw.domain.requests import Enclosed
    from codelaw.lsp.context import Context
    from codelaw.lsp.documents.documents import EditorDocuments

PAGE = 50
"""Chats in a list that names no limit."""
MOST_CHANGES = 20_000
"""In one answer."""


@route("codelaw/chat/create", wire.CreateChat, wire.Chat)
async def create(context: Context, params: wire.CreateChat) -> object:
    return await context.session.chats.create(
        title=params.title,
        mode=params.mode,
        model=params.model,
        strategy=params.strategy,
        effort=params.effort,
        kind=params.kind,
    )


@route("codelaw/chat/list", wire.ListChats, wire.ChatList, large=True)
async def list_chats(context: Context, params: wire.ListChats) -> object:
    here = bool(params.here)
    found, cursor = await context.session.chats.list(params.query, params.limit or PAGE, params.cursor, here=here)
    return {"chats": found, "next_cursor": cursor}


@route("codelaw/chat/read", wire.ReadChat, ChatRecord, large=True)
async def read(context: Context, params: wire.ReadChat) -> object:
    return await context.session.chats.read(
        params.chat_id,
        since_seq=params.since_seq,
        limit=params.limit,
        before=params.before,
        turns=params.turns,
        before_turn=params.before_turn,
    )


@route("codelaw/chat/send", wire.SendMessage, wire.TurnResult)
async def send(context: Context, params: wire.SendMessage) -> object:
    """Run a turn to its end. Cancelling the request cancels the turn, and the answer is its result (R-8)."""
    turn = await _begin(context, params)
    return await turn.result()


@as_command("codelaw/chat/send", wire.Started)
async def start(context: Context, params: wire.SendMessage) -> object:
    """Begin a turn and answer at once; a client without events is shown the answer when it is there."""
    turn = await _begin(context, params)
    context.ui.follow(turn)
    return wire.Started(chat_id=turn.chat_id, turn_id=turn.turn_id)


@route("codelaw/chat/steer", wire.SteerTurn, wire.Steered)
async def steer(context: Context, params: wire.SteerTurn) -> object:
    editor = convert.editor_state(params.editor, context.documents)
    attachments = await _attachments(params, context.documents)
    return wire.Steered(id=await context.session.chats.steer(params.chat_id, params.text, editor, attachments))


@route("codelaw/chat/picture", wire.PictureRef, wire.PictureData, large=True)
async def picture(context: Context, params: wire.PictureRef) -> object:
    media_type, content = await context.session.chats.picture(params.chat_id, params.digest)
    data = await asyncio.to_thread(lambda: base64.b64encode(content).decode())
    return wire.PictureData(media_type=media_type, data=data)


@route("codelaw/chat/unsteer", wire.UnsteerTurn, wire.Unsteered)
async def unsteer(context: Context, params: wire.UnsteerTurn) -> object:
    return wire.Unsteered(withdrawn=await context.session.chats.unsteer(params.chat_id, params.id))


@route("codelaw/chat/stopCall", wire.StopCall, wire.StoppedCall)
async def stop_call(context: Context, params: wire.StopCall) -> object:
    return wire.StoppedCall(stopped=await context.session.chats.stop_call(params.chat_id, params.call_id))


@route("codelaw/chat/cancel", wire.ChatRef, wire.Cancelled)
async def cancel(context: Context, params: wire.ChatRef) -> object:
    return wire.Cancelled(cancelled=await context.session.chats.cancel(params.chat_id))


@route("codelaw/chat/update", wire.UpdateChat, wire.Chat)
async def update(context: Context, params: wire.UpdateChat) -> object:
    return await context.session.chats.update(
        params.chat_id,
        title=params.title,
        mode=params.mode,
        model=params.model,
        strategy=params.strategy,
        effort=params.effort,
    )


@route("codelaw/chat/delete", wire.ChatRef, wire.Deleted)
async def delete(context: Context, params: wire.ChatRef) -> object:
    await context.session.chats.delete(params.chat_id)
    return wire.Deleted()


@route("codelaw/chat/fork", wire.ForkChat, wire.Chat)
async def fork(context: Context, params: wire.ForkChat) -> object:
    return await context.session.records.fork(params.chat_id, params.turn_id)


@route("codelaw/chat/export", wire.ExportChat, wire.Export, large=True)
async def export(context: Context, params: wire.ExportChat) -> object:
    return wire.Export(text=await context.session.records.export(params.chat_id, params.format))


@route("codelaw/chat/revert", wire.RevertTurn, wire.Reverted)
async def revert(context: Context, params: wire.RevertTurn) -> RevertReport:
    """Undo a turn. Cancelling the request stops after the file at hand; what was undone stays so (E-2)."""
    return await context.session.files.revert(
        params.chat_id,
        params.turn_id,
        files=params.files is not False,
        messages=params.messages or False,
        uris=params.uris,
    )


@as_command("codelaw/chat/revert")
async def revert_and_show(context: Context, params: wire.RevertTurn) -> object:
    """Undo a turn; a client without events is shown by a message what came of it."""
    report = await revert(context, params)
    if not context.client.events:
        count = len(report.reverted)
        said = [f"{count} file{'' if count == 1 else 's'} undone."]
        said += [f"Left alone: {conflict.reason}" for conflict in report.conflicts]
        context.ui.message("warning" if report.conflicts else "info", " ".join(said))
    return report


@route("codelaw/chat/checkpoint", wire.Checkpoint, wire.CheckpointState)
async def checkpoint(context: Context, params: wire.Checkpoint) -> object:
    """Look at the files as they were before a turn, restore them, or undo that (E-2)."""
    session, chat, turn = context.session, params.chat_id, params.turn_id
    if params.undo:
        return await session.files.undo_restore(chat, turn)
    if params.restore:
        return await session.files.restore_files(chat, turn, set(params.overwrite or ()))
    return await session.files.checkpoint(chat, turn)


@route("codelaw/chat/changes", wire.ChatRef, chats.ChatChanges, large=True)
async def list_changes(context: Context, params: wire.ChatRef) -> object:
    found = await context.session.files.changes(params.chat_id)
    return {"changes": found[-MOST_CHANGES:], "total": len(found)}


@route("codelaw/chat/reviewed", chats.ReviewFile, chats.ReviewedFile)
async def reviewed(context: Context, params: chats.ReviewFile) -> object:
    return await context.session.files.reviewed(params.chat_id, params.uri, params.above or 0)


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
