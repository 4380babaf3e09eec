"""The question whether a workspace's server may start, in clients that do not put it themselves (X-3)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from codelaw.domain.errors import Refusal
from codelaw.domain.safety.unseen import visible, visible_line
from codelaw.lsp.transport.errors import ClientError

if TYPE_CHECKING:
    from codelaw.lsp.context import Context

log = logging.getLogger(__name__)

ENABLE = "Enable"
NOT_NOW = "Not now"
SHOW = "Show what it runs"
SHOWN_CHARACTERS = 900
"""Of a box: editors cut longer ones, and nobody lets start what they have not seen."""


async def offer_servers(context: Context, asked: set[tuple[str, str]]) -> None:
    """Ask about every server that waits for the user, one after the other, each once as long as it is the same.

    A dismissed box is not an answer: it is asked again by the next server. The answer no is remembered.
    """
    if context.client.servers:
        return
    for server in (await context.session.servers.list()).servers:
        question = (server.name, server.digest or "")
        if server.ask and question not in asked:
            asked.add(question)
            await _ask(context, server.message, *question)


async def _ask(context: Context, reported: str, name: str, digest: str) -> None:
    head = f"codelaw: the server {visible_line(name)} is not started."
    text = f"{head} {visible_line(reported)}"
    if len(text) > SHOWN_CHARACTERS:
        size = f"What it would run has {len(reported)} characters. Look at all of it first."
        if await _pressed(context, f"{head} {size}", (SHOW, NOT_NOW)) != SHOW:
            return
        await context.ui.document("records", "server", visible(reported))
        if not context.client.documents:
            context.ui.message("warning", f"To let it start, run: codelaw mcp enable {name}")
            return
        text = f"{head} All of it is shown in a document."
    answer = await _pressed(context, text, (ENABLE, NOT_NOW))
    try:
        if answer == ENABLE:
            await context.session.servers.enable(name, enabled=True, digest=digest)
        elif answer == NOT_NOW:
            await context.session.servers.decline(name, digest=digest)
    except Refusal as refused:
        context.ui.message("error", f"codelaw: {refused.message} {refused.hint}")


async def _pressed(context: Context, text: str, titles: tuple[str, ...]) -> str | None:
    """The button that was pressed; None where none was, or the client shows no boxes: its chats tell of the server."""
    try:
        return await context.ui.pressed(text, titles)
    except ClientError as error:
        log.info("The client does not ask about servers: %s", error)
        return None
