"""What a connection holds of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.lsp.features.chat_files import ChatFiles
from codelaw.lsp.features.contents import Contents

if TYPE_CHECKING:
    from codelaw.domain.events import ChatEvent
    from codelaw.lsp.context import Context
    from codelaw.lsp.documents.documents import DocumentMoment
    from codelaw.lsp.features.proposals import Begun


class Features:
    """Chat files, documents that follow a chat, and the chats that code actions talk to."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.chat_files = ChatFiles(context)
        self.contents = Contents(context)
        self.chats: dict[str, str] = {}
        """By uri: the chat in which a document was last asked about."""
        self.proposals: dict[tuple[str, str], Begun] = {}
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
