"""The question whether a workspace's server may start, in clients that do not put it themselves (X-3)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types

from codelaw.domain.errors import Refusal
from codelaw.domain.safety.unseen import visible, visible_line
from codelaw.lsp.client_calls.showing import show_message, show_record
from codelaw.lsp.transport.errors import ClientError, Disconnected

if TYPE_CHECKING:
    from codelaw.domain.served import ServerList
    from codelaw.lsp.server.connection import Connection

log = logging.getLogger(__name__)

ENABLE = "Enable"
NOT_NOW = "Not now"
SHOW = "Show what it runs"
SHOWN_CHARACTERS = 900
"""Of a box: editors cut longer ones, and nobody lets start what they have not seen."""


async def offer_servers(connection: Connection) -> None:
    """Ask about every server that waits for the user, one after the other, each once as long as it is the same.

    A dismissed box is not an answer: it is asked again by the next server. The answer no is remembered.
    """
    if connection.client.servers:
        return
    listed = await connection.session.servers()
    for name in sorted(listed.asking):
        question = (name, listed.digests[name])
        if question not in connection.asked_servers:
            connection.asked_servers.add(question)
            await _ask(connection, listed, name)


async def _ask(connection: Connection, listed: ServerList, name: str) -> None:
    told = next(one.message for one in listed.servers if one.name == name)
    digest = listed.digests[name]
    head = f"codelaw: the server {visible_line(name)} is not started."
    text = f"{head} {visible_line(told)}"
    if len(text) > SHOWN_CHARACTERS:
        size = f"What it would run has {len(told)} characters. Look at all of it first."
        if await _pressed(connection, f"{head} {size}", (SHOW, NOT_NOW)) != SHOW:
            return
        await show_record(connection.rpc, connection.client, connection.home, "server", visible(told))
        if not connection.client.documents:
            show_message(connection.rpc, "warning", f"To let it start, run: codelaw mcp enable {name}")
            return
        text = f"{head} All of it is shown in a document."
    answer = await _pressed(connection, text, (ENABLE, NOT_NOW))
    try:
        if answer == ENABLE:
            await connection.session.enable_server(name, enabled=True, digest=digest)
        elif answer == NOT_NOW:
            await connection.session.decline_server(name, digest=digest)
    except Refusal as refused:
        show_message(connection.rpc, "error", f"codelaw: {refused.message} {refused.hint}")


async def _pressed(connection: Connection, text: str, titles: tuple[str, ...]) -> str | None:
    """The button that was pressed; None where none was, or the client shows no boxes: its chats tell of the server."""
    params = {
        "type": int(types.MessageType.Warning),
        "message": text,
        "actions": [{"title": title} for title in titles],
    }
    try:
        answer: Any = await connection.rpc.request(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
    except (ClientError, Disconnected) as error:
        log.info("The client does not ask about servers: %s", error)
        return None
    title = cast("dict[str, Any]", answer).get("title") if isinstance(answer, dict) else None
    return title if title in titles else None
