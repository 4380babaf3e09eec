"""Hover and completion for the law and chat files alone, where a client can be told so (E-5).

Else every document of every language would be asked about here as well, to be answered with nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from lsprotocol import types

from codelaw.lsp.client import Client
from codelaw.lsp.server.abilities import TRIGGERS
from codelaw.lsp.server.watching import law_patterns
from codelaw.lsp.transport.errors import ClientError, Disconnected
from codelaw.lsp.transport.rpc import Rpc

log = logging.getLogger(__name__)

CHAT_FILES = "*.chat.md"


async def offer(rpc: Rpc, client: Client, files: Sequence[str], *, again: bool = False) -> None:
    """Register both with the client, `again` where the names beside the law are others.

    Does nothing where `initialize` has declared them for all documents.
    """
    if not client.selective:
        return
    laws = [{"pattern": f"**/{pattern}"} for pattern in law_patterns(files)]
    chats = {"pattern": f"**/{CHAT_FILES}"}
    registrations: list[dict[str, Any]] = [
        {"id": "codelaw-hover", "method": types.TEXT_DOCUMENT_HOVER, "registerOptions": {"documentSelector": laws}},
        {
            "id": "codelaw-completion",
            "method": types.TEXT_DOCUMENT_COMPLETION,
            "registerOptions": {"documentSelector": [*laws, chats], "triggerCharacters": list(TRIGGERS)},
        },
    ]
    try:
        if again:
            gone = [{"id": one["id"], "method": one["method"]} for one in registrations]
            # The misspelt member is LSP's own.
            await rpc.request(types.CLIENT_UNREGISTER_CAPABILITY, {"unregisterations": gone})
        await rpc.request(types.CLIENT_REGISTER_CAPABILITY, {"registrations": registrations})
    except (ClientError, Disconnected) as error:
        log.warning("The client takes no hover and completion from us: %s", error)
