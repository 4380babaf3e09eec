"""What a connection holds of this package, and the commands of chat files and documents (E-3, E-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.domain.errors import Refusal
from codelaw.lsp.cancelling import SCOPE
from codelaw.lsp.features.chat_files import ChatFiles
from codelaw.lsp.features.contents import ChatAddress, Contents
from codelaw.protocol import editor as params
from codelaw.protocol.chats import Cancelled, Started

if TYPE_CHECKING:
    from codelaw.domain.events import ChatEvent
    from codelaw.lsp.context import Context
    from codelaw.lsp.documents.documents import DocumentMoment
    from codelaw.lsp.features.proposals import BegunProposal


async def send(features: Features, asked: params.ChatFileRef) -> Started:
    """Send the question at the end of a chat file; the answer is written below it."""
    turn = await features.chat_files.send(asked.uri, SCOPE.get())
    return Started(chat_id=turn.chat_id, turn_id=turn.turn_id)


async def stop(features: Features, asked: params.ChatFileRef) -> Cancelled:
    """Stop what runs in a chat file."""
    return Cancelled(cancelled=await features.chat_files.stop(asked.uri))


async def undo(features: Features, asked: params.UndoInChatFile) -> params.Undone:
    """Undo what a turn of a chat file did to files, and say what could not be undone (E-2)."""
    files = features.chat_files
    file = files.file(asked.uri)
    chat_id = files.chat_of(asked.uri, file) if file is not None else None
    if file is None or chat_id is None:
        raise Refusal(
            "chat_not_found", f"{asked.uri} is not an open chat file", "Open the file in which the turn was begun"
        )
    turns = [block.id for block in file.blocks if block.kind == "turn"]
    turn_id = asked.turn_id or (turns[-1] if turns else None)
    if turn_id is None:
        raise Refusal("turn_not_found", "There is no turn in this file", "Send a question first")
    report = await features.context.session.files.revert(chat_id, turn_id, files=True, messages=False)
    count = len(report.reverted)
    parts = [f"{count} files undone" if count != 1 else "1 file undone"]
    parts += [f"{conflict.uri.rsplit('/', 1)[-1]}: {conflict.reason}" for conflict in report.conflicts]
    message = "codelaw: " + "; ".join(parts)
    features.context.ui.message("warning" if report.conflicts else "info", message)
    features.chat_files.refresh_lenses()
    return params.Undone(message=message)


async def show_chat(features: Features, asked: params.ShowChat) -> params.Shown:
    """Show a transcript, a context, or a file as it was before a turn (E-4)."""
    if asked.what == "before" and not (asked.turn_id and asked.path):
        raise Refusal("turn_not_found", "A turn and a file are needed", "Send `turnId` and `path`")
    wanted = ChatAddress(asked.chat_id, asked.what, asked.turn_id or "", asked.path or "")
    return params.Shown(uri=await features.contents.show(wanted))


class Features:
    """Chat files, documents that follow a chat, and the chats that code actions talk to."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.chat_files = ChatFiles(context)
        self.contents = Contents(context)
        self.chats: dict[str, str] = {}
        """By uri: the chat in which a document was last asked about."""
        self.proposals: dict[tuple[str, str], BegunProposal] = {}
        """By chat and turn: those that were begun to propose something, the newest last."""
        self.changed: dict[tuple[str, str], int] = {}
        """By chat and turn: how many files it changed."""

    def on_event(self, event: ChatEvent) -> None:
        """An event of any chat."""
        self.chat_files.on_event(event)
        self.contents.on_event(event)

    def on_document(self, uri: str, what: DocumentMoment) -> None:
        """Something happened to an open document."""
        self.chat_files.on_document(uri, what)
        self.contents.on_document(uri, what)
