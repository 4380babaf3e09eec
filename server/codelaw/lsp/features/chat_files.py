"""Chat files: sent from, written into, found again (E-3)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from codelaw.domain.errors import Refusal
from codelaw.domain.events import NoticeEvent
from codelaw.lsp.documents.documents import DocumentMoment, path_of
from codelaw.lsp.features.chat_file_index import OWN_CHATS, ChatFileIndex, FilesOfChat
from codelaw.lsp.features.stream_writer import StreamWriter
from codelaw.lsp.transport.errors import ClientError
from codelaw.transcript.chat_file.chat_file import ChatFile, named_chat_file, normal, parse
from codelaw.transcript.chat_file.story import Story, stories

if TYPE_CHECKING:
    from codelaw.agent.turn.running import TurnTask
    from codelaw.domain.events import ChatEvent
    from codelaw.lsp.context import Context
    from codelaw.ports.cancelling import Scope

log = logging.getLogger(__name__)

EARLY_EVENTS = 1000
"""Kept of turns that are just being begun."""
COPY_BYTES = 4 << 20
"""Of another file that is read to see whether it holds the same chat."""


class ChatFiles:
    """The chat files of one connection."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._refreshing = False
        self.index = ChatFileIndex(context.home / "chat-files")
        self._writers: dict[str, StreamWriter] = {}
        """By turn."""
        self._chats: dict[str, str] = {}
        """By uri: the chat that a file began, also where its comment could not be written."""
        self._sending: set[str] = set()
        """The uris of questions that are being sent."""
        self._early: list[ChatEvent] = []

    def file(self, uri: str) -> ChatFile | None:
        """An open chat file, taken apart; None when it is none, or not open."""
        buffer = self._context.documents.get(uri)
        return parse(normal(buffer.text)) if buffer is not None and named_chat_file(uri) else None

    def running(self, uri: str) -> StreamWriter | None:
        """The writer of the turn that runs in a file."""
        return next((writer for writer in self._writers.values() if writer.uri == uri and writer.running), None)

    def chat_of(self, uri: str, file: ChatFile) -> str | None:
        """The chat that a file belongs to, as far as it is known without asking."""
        return file.chat_id or self._chats.get(uri)

    # ------------------------------------------------------------------------------------------------------- sending

    async def send(self, uri: str, scope: Scope) -> TurnTask:
        """Send the question that is written at the end of a file, which `scope` stops.

        Raises:
            Refusal: there is none, the file is not open, or a turn runs already.
        """
        file = self.file(uri)
        if file is None:
            raise Refusal(
                "invalid_text", f"{uri} is not an open chat file", "Open a file whose name ends with .chat.md"
            )
        if uri in self._sending or self.running(uri) is not None:
            raise Refusal("chat_busy", "codelaw is still answering in this file", "Wait for the end, or stop it")
        if file.question is None:
            raise Refusal("invalid_text", "There is no question to send", "Write it below the last `## You`")
        kind, session = self._kind(uri), self._context.session
        self._context.arrived.name(scope, self.chat_of(uri, file) or uri)
        self._sending.add(uri)
        try:
            chat_id, why_new = await self._known(uri, file)
            try:
                turn = await session.chats.send(chat_id, file.question.text, kind=kind, scope=scope)
            except Refusal as refused:
                if refused.code != "chat_not_found" or chat_id is None or scope.cancelled:
                    raise
                why_new = f"The chat {chat_id} is not known here: this is a new one."
                turn = await session.chats.send(None, file.question.text, kind=kind, scope=scope)
            self._chats[uri] = turn.chat_id
            self._begin(uri, turn, file.question.text, why_new)
            await self.index.begun(turn.chat_id, uri, turn.turn_id)
        finally:
            self._sending.discard(uri)
            if not self._sending:
                self._early.clear()
        return turn

    async def stop(self, uri: str) -> bool:
        """Stop what runs in a file, or is about to; False when nothing does.

        Raises:
            Refusal: the chat is not known.
        """
        if uri in self._sending:
            return True  # the server has cancelled it as soon as the request arrived
        writer = self.running(uri)
        file = self.file(uri)
        chat_id = writer.chat_id if writer is not None else self.chat_of(uri, file) if file is not None else None
        return await self._context.session.chats.cancel(chat_id) if chat_id is not None else False

    def _kind(self, uri: str) -> str:
        """The kind of a chat that this file begins: code actions make their files in a folder of ours (H-5)."""
        path = path_of(uri)
        return "inline" if path is not None and path.parent == self._context.home / OWN_CHATS else "panel"

    def _begin(self, uri: str, turn: TurnTask, asked: str, why_new: str) -> None:
        story = Story(turn.turn_id, doing="Thinking")
        if why_new:
            message = f"{why_new} It has not seen what stands above."
            story.parts.append(NoticeEvent("warning", "new_chat", message))
        writer = StreamWriter(self._context, uri, turn.chat_id, story, asked=asked)
        self._follow(writer)
        for event in self._early:
            if event.turn_id == turn.turn_id:
                writer.take(event)
        if self._context.client.applies:
            self._context.spawn(self._write(writer))
        else:
            self._context.spawn(self._show(turn))

    def _follow(self, writer: StreamWriter) -> None:
        self._writers[writer.story.turn_id] = writer
        writer.on_end = self.refresh_lenses
        self.refresh_lenses()

    async def _write(self, writer: StreamWriter) -> None:
        if not await writer.run():
            # When the file is opened again, what is missing is put in.
            self._writers.pop(writer.story.turn_id, None)
            result = writer.story.result
            if result is not None:
                self._context.ui.message("warning", "codelaw: the chat file does not take the answer")
                await self._context.ui.answer(result)
        self.refresh_lenses()

    async def _show(self, turn: TurnTask) -> None:
        """The answer to a client that takes no edits."""
        try:
            result = await turn.result()
            await self._context.ui.answer(result)
        finally:
            self._writers.pop(turn.turn_id, None)

    # ---------------------------------------------------------------------------------------------- which chat it is

    async def _known(self, uri: str, file: ChatFile) -> tuple[str | None, str]:
        """The chat that a file goes on with, or why it begins a new one."""
        chat_id = self.chat_of(uri, file)
        if chat_id is not None and self._chats.get(uri) != chat_id:
            files = await self.index.read(chat_id)
            if files.uris and uri not in files.uris and await self._held_elsewhere(uri, chat_id, files):
                return None, "This file is a copy: the chat goes on in the other one, and here begins a new one."
        return chat_id, ""

    async def _held_elsewhere(self, uri: str, chat_id: str, owner: FilesOfChat) -> bool:
        """Whether another file holds the same chat: then this one is a copy, else it was moved."""
        for other in owner.uris:
            file = self.file(other)
            if file is not None and file.chat_id == chat_id:
                return True
        paths = [path for path in map(path_of, owner.uris) if path is not None]
        return await asyncio.to_thread(_one_holds, paths, path_of(uri), chat_id)

    # ------------------------------------------------------------------------------------------------- what happens

    def refresh_lenses(self) -> None:
        """The lenses have changed; a client that can is asked to read them again."""
        if self._context.client.lens_refresh and not self._refreshing:
            self._refreshing = True
            self._context.spawn(self._refresh())

    async def _refresh(self) -> None:
        self._refreshing = False
        with suppress(ClientError):
            await self._context.rpc.request(types.WORKSPACE_CODE_LENS_REFRESH, None)

    def on_event(self, event: ChatEvent) -> None:
        """An event of any chat."""
        writer = self._writers.get(event.turn_id)
        if writer is not None:
            writer.take(event)
        elif self._sending and len(self._early) < EARLY_EVENTS:
            self._early.append(event)

    def on_document(self, uri: str, what: DocumentMoment) -> None:
        """Something happened to an open document."""
        if not named_chat_file(uri):
            return
        for turn_id, writer in list(self._writers.items()):
            if writer.uri != uri or what == "changed":
                continue
            if writer.whole:
                # From here on the file, or what is known of it on disk, says what it lacks.
                del self._writers[turn_id]
                if what == "saved":
                    self._context.spawn(self.index.saved(writer.chat_id, turn_id))
            elif what == "opened":
                writer.reopened()
        if what == "opened":
            self._context.spawn(self._catch_up(uri))

    async def _catch_up(self, uri: str) -> None:
        """Put in what a file lacks of the turns that were begun from it."""
        file = self.file(uri)
        if file is None or file.chat_id is None or not self._context.client.applies:
            return
        owner = await self.index.read(file.chat_id)
        lacking = [block.id for block in file.blocks if block.kind == "turn" and block.running]
        if uri in owner.uris[-1:]:
            lacking += [turn_id for turn_id in owner.pending if turn_id not in lacking]
        lacking = [turn_id for turn_id in lacking if self._lacks(file, turn_id)]
        if not lacking:
            return
        try:
            record = await self._context.session.chats.read(file.chat_id, limit=0)
        except Refusal as refused:
            log.info("A chat file is not brought up to date: %s", refused.message)
            return
        found = stories(record.events)
        for turn_id in lacking:
            story = found.get(turn_id)
            if story is not None and self._lacks(file, turn_id):
                writer = StreamWriter(self._context, uri, file.chat_id, story, asked=None)
                self._follow(writer)
                self._context.spawn(self._write(writer))

    def _lacks(self, file: ChatFile, turn_id: str) -> bool:
        """Whether a turn is not whole in a file, and nobody is about to write it."""
        block = file.block(turn_id)
        return turn_id not in self._writers and (block is None or block.running)


def _one_holds(paths: Sequence[Path], this: Path | None, chat_id: str) -> bool:
    """Whether one of the files, and not this one, belongs to that chat. Touches the disk."""
    for path in paths:
        try:
            if (this is not None and this.exists() and path.samefile(this)) or path.stat().st_size > COPY_BYTES:
                continue
            if parse(normal(path.read_text("utf-8", "replace"))).chat_id == chat_id:
                return True
        except OSError:
            continue
    return False
