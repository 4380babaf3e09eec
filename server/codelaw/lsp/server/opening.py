"""Opens the engine behind a server; importing this module loads all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from codelaw.domain.errors import Refusal
from codelaw.lsp.server.configuration import Configuration
from codelaw.lsp.server.connection import Connection
from codelaw.lsp.sessions import OpenSession
from codelaw.lsp.transport.errors import refusal

if TYPE_CHECKING:
    from codelaw.lsp.server.server import CodelawServer


async def open_connection(
    server: CodelawServer,
    options: Any,
    overrides: Mapping[str, Any],
    open_session: OpenSession | None,
) -> Connection:
    """The opened connection of `server`.

    Raises:
        WireError: the session refused to open.
    """
    connection = Connection(
        rpc=server.rpc,
        client=server.client,
        documents=server.documents,
        folders=server.folders,
        configuration=Configuration(server.rpc, server.client, options, overrides),
    )
    try:
        await connection.open(open_session or await asyncio.to_thread(_real_session))
    except Refusal as refused:
        raise refusal(refused.code, refused.message, refused.hint) from None
    return connection


def _real_session() -> OpenSession:
    from codelaw.app.session import Session  # noqa: PLC0415 - not loaded where another session is given

    return cast("OpenSession", Session.open)
