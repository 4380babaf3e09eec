"""`codelaw/context/*`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codelaw.lsp import convert
from codelaw.protocol import contexts as wire

if TYPE_CHECKING:
    from codelaw.lsp.connection import Connection

PAGE = 50
"""Completions where no limit is named."""


async def inspect(connection: Connection, params: wire.InspectContext) -> wire.ContextReport:
    return convert.context_report(await connection.session.inspect(params.chat_id, params.text))


async def law(connection: Connection, _params: wire.ReadLaw) -> wire.LawReport:
    return convert.law_report(await connection.session.law())


async def mentions(connection: Connection, params: wire.ListMentions) -> wire.MentionList:
    found = await connection.session.mentions(params.prefix, params.limit or PAGE)
    return wire.MentionList(items=[convert.mention(item) for item in found])
