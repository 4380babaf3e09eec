"""Pages that the user is to see, opened by the client (X-3)."""

from __future__ import annotations

import logging
from typing import Any, cast

from lsprotocol import types

from codelaw.domain.safety.unseen import visible_line
from codelaw.lsp.client import Client
from codelaw.lsp.client_calls.showing import show_message
from codelaw.lsp.transport.errors import ClientError, Disconnected
from codelaw.lsp.transport.rpc import Rpc

log = logging.getLogger(__name__)


class ClientBrowser:
    """Opens pages by `window/showDocument`; a client that cannot is told the address."""

    def __init__(self, rpc: Rpc, client: Client) -> None:
        self._rpc = rpc
        self._client = client

    async def open(self, url: str) -> None:
        """Open a page, or say which it is; nothing else that a client would open by an address."""
        if not url.startswith(("https://", "http://")):
            log.warning("%s is not a page, and was not opened", visible_line(url[:200]))
        elif not await self._opened(url):
            show_message(self._rpc, "info", f"Open this page to go on: {visible_line(url)}")

    async def _opened(self, url: str) -> bool:
        if not self._client.documents:
            return False
        try:
            shown: Any = await self._rpc.request(types.WINDOW_SHOW_DOCUMENT, {"uri": url, "external": True})
        except (ClientError, Disconnected) as error:
            log.warning("A page could not be opened: %s", error)
            return False
        return isinstance(shown, dict) and cast("dict[str, Any]", shown).get("success") is True
