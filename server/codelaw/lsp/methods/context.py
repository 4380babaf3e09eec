"""`codelaw/context/*`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from codelaw.domain.checkpoints import CompactionReport
from codelaw.domain.errors import Refusal
from codelaw.lsp.cancelling import SCOPE
from codelaw.lsp.documents import convert
from codelaw.lsp.methods.routing import as_command, route
from codelaw.lsp.transport.errors import internal_error
from codelaw.protocol import contexts as wire
from codelaw.protocol.chats import Chat, ChatRef, Started

if TYPE_CHECKING:
    from codelaw.domain.reports import ArchiveReport
    from codelaw.lsp.context import Context

PAGE = 50
"""Completions where no limit is named."""
REFUSAL_SECONDS = 0.2
"""How long the command that compacts waits for a refusal; a later one is told by a message."""


NO_ARCHIVE = "Nothing of this chat is archived."


@route("codelaw/context/inspect", wire.InspectContext, wire.ContextReport, large=True)
async def inspect(context: Context, params: wire.InspectContext) -> object:
    options = convert.strategy_options(params.strategy_options)
    return await context.session.contexts.inspect(
        params.chat_id, params.text, strategy=params.strategy, strategy_options=options, exact=params.exact
    )


@route("codelaw/context/compact", ChatRef, wire.CompactionReport)
async def compact(context: Context, params: ChatRef) -> object:
    """Compact to the end. Cancelling the request cancels the compaction, and the answer is its report (K-6)."""
    return wire.CompactionReport.of(await context.session.contexts.compact(params.chat_id, SCOPE.get()))


@as_command("codelaw/context/compact", Started)
async def start_compacting(context: Context, params: ChatRef) -> object:
    """Begin and answer at once; a client without events is told the outcome by a message."""
    scope = SCOPE.get()
    asked = asyncio.ensure_future(context.session.contexts.compact(params.chat_id, scope))
    await asyncio.wait([asked], timeout=REFUSAL_SECONDS)
    if asked.done() and asked.result().reason == "cancelled" and scope.cancelled:  # raises a refusal
        raise asyncio.CancelledError
    context.spawn(_report(context, asked))
    return Started(chat_id=params.chat_id, turn_id=None)


@route("codelaw/context/restore", wire.RestoreContext, Chat)
async def restore(context: Context, params: wire.RestoreContext) -> object:
    return Chat.of(await context.session.contexts.restore(params.chat_id, params.checkpoint_id))


@route("codelaw/context/archive", ChatRef, wire.Archive, large=True)
async def archive(context: Context, params: ChatRef) -> ArchiveReport:
    return await context.session.contexts.archive(params.chat_id)


@as_command("codelaw/context/archive")
async def show_the_archive(context: Context, params: ChatRef) -> object:
    """The archive; a client without events is shown it as a document besides."""
    found = await archive(context, params)
    if found.text:
        context.ui.record("archives", params.chat_id, found.text)
    elif not context.client.events:
        context.ui.message("info", NO_ARCHIVE)
    return found


@route("codelaw/context/law", wire.ReadLaw, wire.LawReport)
async def law(context: Context, _params: wire.ReadLaw) -> object:
    return await context.session.laws.report()


@route("codelaw/context/mentions", wire.ListMentions, wire.MentionList)
async def mentions(context: Context, params: wire.ListMentions) -> object:
    return {"items": await context.session.extensions.mentions(params.prefix, params.limit or PAGE)}


@route("codelaw/context/editor", wire.LookAt, wire.Looked)
async def editor(context: Context, params: wire.LookAt) -> object:
    return await context.session.contexts.looked_at(params.uri)


async def _report(context: Context, asked: asyncio.Future[CompactionReport]) -> None:
    """The end of a compaction that nobody waits for."""
    try:
        context.ui.compaction(await asked)
    except Refusal as refused:
        context.ui.message("error", " ".join(filter(None, (refused.message, refused.hint))))
    except Exception:
        context.ui.message("error", internal_error().message)
        raise
