"""`codelaw/context/*`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from codelaw.domain.checkpoints import CompactionReport
from codelaw.domain.errors import Refusal
from codelaw.lsp.cancelling import SCOPE
from codelaw.lsp.client_calls.showing import show_archive, show_message
from codelaw.lsp.documents import convert
from codelaw.lsp.transport.errors import internal_error
from codelaw.protocol import contexts as wire
from codelaw.protocol.chats import Chat, ChatRef, Started

if TYPE_CHECKING:
    from codelaw.lsp.server.connection import Connection

PAGE = 50
"""Completions where no limit is named."""
REFUSAL_SECONDS = 0.2
"""How long the command that compacts waits for a refusal; a later one is told by a message."""


async def inspect(connection: Connection, params: wire.InspectContext) -> wire.ContextReport:
    options = convert.strategy_options(params.strategy_options)
    session = connection.session
    return convert.context_report(
        await session.inspect(
            params.chat_id, params.text, strategy=params.strategy, strategy_options=options, exact=params.exact
        )
    )


async def compact(connection: Connection, params: ChatRef) -> wire.CompactionReport:
    """Compact to the end. Cancelling the request cancels the compaction, and the answer is its report (K-6)."""
    return wire.CompactionReport.of(await connection.session.compact(params.chat_id, SCOPE.get()))


async def start_compacting(connection: Connection, params: ChatRef) -> Started:
    """Begin and answer at once; a client without events is told the outcome by a message."""
    scope = SCOPE.get()
    asked = asyncio.ensure_future(connection.session.compact(params.chat_id, scope))
    await asyncio.wait([asked], timeout=REFUSAL_SECONDS)
    if asked.done() and asked.result().reason == "cancelled" and scope.cancelled:  # raises a refusal
        raise asyncio.CancelledError
    connection.later(_tell(connection, asked))
    return Started(chat_id=params.chat_id, turn_id=None)


async def restore(connection: Connection, params: wire.RestoreContext) -> Chat:
    return Chat.of(await connection.session.restore(params.chat_id, params.checkpoint_id))


async def archive(connection: Connection, params: ChatRef) -> wire.Archive:
    return convert.archive(await connection.session.archive(params.chat_id))


async def show_the_archive(connection: Connection, params: ChatRef) -> wire.Archive:
    """The archive; a client without events is shown it as a document besides."""
    found = await archive(connection, params)
    if not connection.client.events:
        connection.later(show_archive(connection.rpc, connection.client, connection.home, params.chat_id, found))
    return found


async def law(connection: Connection, _params: wire.ReadLaw) -> wire.LawReport:
    return convert.law_report(await connection.session.law())


async def mentions(connection: Connection, params: wire.ListMentions) -> wire.MentionList:
    found = await connection.session.mentions(params.prefix, params.limit or PAGE)
    return wire.MentionList(items=[wire.MentionItem.of(item) for item in found])


async def editor(connection: Connection, params: wire.LookAt) -> wire.Looked:
    found = await connection.session.looked_at(params.uri)
    return wire.Looked(path=found.path or None, unsent=found.unsent)


async def _tell(connection: Connection, asked: asyncio.Future[CompactionReport]) -> None:
    """The end of a compaction that nobody waits for."""
    try:
        connection.tell_compaction(await asked)
    except Refusal as refused:
        show_message(connection.rpc, "error", " ".join(filter(None, (refused.message, refused.hint))))
    except Exception:
        show_message(connection.rpc, "error", internal_error().message)
        raise


HANDLERS = {
    "codelaw/context/inspect": inspect,
    "codelaw/context/compact": compact,
    "codelaw/context/restore": restore,
    "codelaw/context/archive": archive,
    "codelaw/context/law": law,
    "codelaw/context/mentions": mentions,
    "codelaw/context/editor": editor,
}

TWINS = {
    "codelaw/context/compact": start_compacting,
    "codelaw/context/archive": show_the_archive,
}
