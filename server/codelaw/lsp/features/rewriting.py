"""Changes of a chat file in the editor: small, pinned to a version where the client can, and looked at afterwards."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types

from codelaw.domain.edits import Splice
from codelaw.lsp.features.texts import normal, text_edits
from codelaw.lsp.transport.errors import ClientError

if TYPE_CHECKING:
    from codelaw.domain.files import Buffer
    from codelaw.lsp.server.connection import Connection

log = logging.getLogger(__name__)

ANSWER_SECONDS = 30.0
SETTLE_SECONDS = 4.0
"""Until a client that has made an edit has told of it: some gather changes for half a second."""
QUIET_SECONDS = 0.4
"""A client that pins nothing is written to when nobody has typed for so long."""


async def rewrite(
    connection: Connection, buffer: Buffer, splices: Sequence[Splice], landed: Callable[[str], bool]
) -> bool:
    """Change a document that still is `buffer`; True when the change has arrived in its text.

    A client may say that it was applied when it was not, so what counts is what it tells of the document afterwards.

    Raises:
        Disconnected: the connection ended.
    """
    documents = connection.documents
    if not connection.client.edits and not await _quiet(connection, buffer):
        return False
    with documents.following(buffer.uri) as follow:
        edits = text_edits(buffer, splices, documents.encoding)
        place: dict[str, Any]
        if connection.client.edits:
            document = {"uri": buffer.uri, "version": buffer.version}
            place = {"documentChanges": [{"textDocument": document, "edits": edits}]}
        else:
            place = {"changes": {buffer.uri: edits}}
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                # Without a label: some editors announce every edit that has one.
                answer: Any = await connection.rpc.request(types.WORKSPACE_APPLY_EDIT, {"edit": place})
        except (ClientError, TimeoutError) as error:
            log.info("A chat file was not changed: %s", error or "no answer")
            return False
        applied = isinstance(answer, dict) and cast("dict[str, Any]", answer).get("applied") is True
        try:
            async with asyncio.timeout(SETTLE_SECONDS):
                while not any(landed(normal(text)) for text in follow.texts):
                    if not applied or follow.closed:
                        return False
                    await follow.more()
        except TimeoutError:
            return False
        return True


async def _quiet(connection: Connection, buffer: Buffer) -> bool:
    """Wait until nobody types, for some seconds at most; False when the document is not `buffer` any more."""
    with connection.documents.following(buffer.uri) as follow:
        try:
            async with asyncio.timeout(QUIET_SECONDS):
                await follow.more()
        except TimeoutError:
            return connection.documents.get(buffer.uri) == buffer
    return False
