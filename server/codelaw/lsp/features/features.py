"""What a connection holds of this package."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from lsprotocol import types

from codelaw.lsp.features.chat_files import ChatFiles
from codelaw.lsp.features.contents import Contents
from codelaw.lsp.transport.errors import ClientError, Disconnected

if TYPE_CHECKING:
    from codelaw.domain.events import ChatEvent
    from codelaw.lsp.documents.documents import DocumentMoment
    from codelaw.lsp.features.proposing import Begun
    from codelaw.lsp.server.connection import Connection

log = logging.getLogger(__name__)


class Features:
    """Chat files, documents that follow a chat, and the chats that code actions talk to."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._refreshing = False
        self.chat_files = ChatFiles(connection)
        self.contents = Contents(connection)
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

    def refresh_lenses(self) -> None:
        """The lenses have changed; a client that can is told to ask again."""
        if self._connection.client.lens_refresh and not self._refreshing:
            self._refreshing = True
            self._connection.later(self._refresh())

    async def _refresh(self) -> None:
        self._refreshing = False
        with suppress(ClientError, Disconnected):
            await self._connection.rpc.request(types.WORKSPACE_CODE_LENS_REFRESH, None)
