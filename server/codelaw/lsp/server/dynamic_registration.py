"""Hover and completion for the law and chat files alone, where a client can be told so (E-5).

Else every document of every language would be asked about here as well, to be answered with nothing.
"""

from __future__ import annotations

import logging
from typing import Any

from lsprotocol import types

from codelaw.lsp.client import Client
from codelaw.lsp.server.abilities import TRIGGERS
from codelaw.lsp.server.watching import LAW
from codelaw.lsp.transport.errors import ClientError, Disconnected
from codelaw.lsp.transport.rpc import Rpc

log = logging.getLogger(__name__)

CHAT_FILES = "*.chat.md"


async def offer(rpc: Rpc, client: Client) -> None:
    """Register both with the client; does nothing where `initialize` has declared them for all documents."""
    if not client.selective:
        return
    law, chats = ({"pattern": f"**/{pattern}"} for pattern in (LAW, CHAT_FILES))
    registrations: list[dict[str, Any]] = [
        {"id": "codelaw-hover", "method": types.TEXT_DOCUMENT_HOVER, "registerOptions": {"documentSelector": [law]}},
        {
            "id": "codelaw-completion",
            "method": types.TEXT_DOCUMENT_COMPLETION,
            "registerOptions": {"documentSelector": [law, chats], "triggerCharacters": list(TRIGGERS)},
        },
    ]
    try:
        await rpc.request(types.CLIENT_REGISTER_CAPABILITY, {"registrations": registrations})
    except (ClientError, Disconnected) as error:
        log.warning("The client takes no hover and completion from us: %s", error)
