"""Answers that list something: memories, grants, servers, places in code, settings; and some shown as documents."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from codelaw.domain.safety.unseen import visible_line
from codelaw.protocol import memories as memory
from codelaw.protocol import searching
from codelaw.protocol.models import ListModels, SettingsFault

if TYPE_CHECKING:
    from codelaw.domain.permissions import AuditEntry, Grant
    from codelaw.domain.served import ServerState
    from codelaw.lsp.context import Context
    from codelaw.ports.code import IndexState
    from codelaw.protocol.base import Params
    from codelaw.protocol.chats import ChatRef
    from codelaw.protocol.permissions import Audit

NO_ARCHIVE = "Nothing of this chat is archived."
NO_SERVERS = "No servers are written down: not in `mcp.servers`, `.mcp.json` or `.vscode/mcp.json`."
NOTHING_ALLOWED = "Nothing is allowed for good: writes and commands are asked about."
NOTHING_DECIDED = "Nothing is on record."


async def show_the_archive(context: Context, params: ChatRef) -> object:
    """What is archived of a chat; a client without events is shown it as a document besides, as the lists below."""
    found = await context.session.contexts.archive(params.chat_id)
    if found.text:
        context.ui.record("archives", params.chat_id, found.text)
    elif not context.client.events:
        context.ui.message("info", NO_ARCHIVE)
    return found


async def show_the_servers(context: Context, _params: Params) -> object:
    found = await context.session.servers.list()
    problems = (f"- {literal(problem)}" for problem in found.problems)
    _show(context, "servers", "Servers", [*(map(_server, found.servers) if found.servers else [NO_SERVERS]), *problems])
    return found


async def show_the_grants(context: Context, _params: Params) -> object:
    found = await context.session.permissions.grants()
    _show(context, "permissions", "What is allowed for good", map(_grant, found), NOTHING_ALLOWED)
    return found


async def show_the_audit(context: Context, params: Audit) -> object:
    found = await context.session.permissions.audit(params.chat_id, params.limit)
    _show(context, "audit", "What was decided, the newest first", map(_decided, found), NOTHING_DECIDED)
    return found


def _show(context: Context, name: str, title: str, lines: Iterable[str], none: str = "") -> None:
    context.ui.record("records", name, f"# {title}\n\n" + ("\n".join(lines) or none))


def _server(server: ServerState) -> str:
    tools = f", {server.tools} tools" if server.state == "ready" else ""
    return f"- `{server.name}` **{server.state}**{tools}{f': {literal(server.message)}' if server.message else ''}"


def _grant(grant: Grant) -> str:
    scope = "always" if grant.scope == "always" else "in a chat"
    where = f", in {literal(grant.folder)}" if grant.folder else ""
    return f"- {literal(grant.rule)} {scope}{where} (`{grant.id}`)"


def _decided(entry: AuditEntry) -> str:
    """An entry as an item of a list: when, what was decided by whom, and what it was about."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.at))
    rule = f" {literal(entry.rule)}" if entry.rule else ""
    about = " ".join(filter(None, (entry.tool, literal(entry.detail or entry.title))))
    where = f" in {literal(entry.folder)}" if entry.folder else ""
    return f"- {when} **{entry.decision}** by {entry.by}{rule}: {about}{where}"


def literal(text: str) -> str:
    """Text that others wrote, as code in Markdown, on one line and with nothing hidden."""
    shown = visible_line(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    inside = f" {shown} " if shown.startswith("`") or shown.endswith("`") else shown
    return f"{fence}{inside}{fence}"


async def save_memory(context: Context, params: memory.SaveMemory) -> object:
    saved = await context.session.memories.save(**dict(params))
    return memory.MemoryPayload.of(saved.memory, merged=saved.merged)


async def search_memories(context: Context, params: memory.SearchMemories) -> object:
    return [
        memory.MemoryPayload.of(
            one.memory,
            similarity=round(one.similarity, 4),
            score=round(one.score, 4),
            relevance=round(one.similarity, 2),
        )
        for one in await context.session.memories.search(**dict(params))
    ]


async def search(context: Context, params: searching.SearchCode) -> object:
    """Places in the code, their lines whole."""
    found, uris = await context.session.code.search(**dict(params))
    places = [
        {
            **{name: getattr(place, name) for name in ("path", "kind", "lines", "why")},
            "uri": uri,
            "range": {
                name: {"line": line, "character": 0} for name, line in (("start", place.start), ("end", place.end))
            },
            "symbol": place.symbol or None,
            "score": round(place.score, 4),
        }
        for place, uri in zip(found.places, uris, strict=True)
    ]
    state = found.state
    fresh = state.status in {"ready", "memory"} and not state.pending
    return places, {"files": state.files, "fresh": fresh}


async def index_state(context: Context, _params: Params) -> object:
    return _index(context.session.code.state())


async def rebuild_index(context: Context, _params: Params) -> object:
    return _index(await context.session.code.rebuild())


def _index(state: IndexState) -> searching.IndexReport:
    return searching.IndexReport.of(state, state=state.status, skipped=dict(state.skipped))


async def models(context: Context, params: ListModels) -> object:
    found, problems = await context.session.models_now(discover=params.discover)
    return found, problems or None


async def read_settings(context: Context, _params: Params) -> object:
    effective = context.configuration.effective
    faults = [
        SettingsFault(message=str(one), uri=one.file.as_uri() if one.file else None, line=one.line)
        for one in (*effective.faults, *effective.stale)
    ]
    problems = [*effective.problems, *await context.session.permissions.rule_notices()]
    return effective.describe()["settings"], problems, faults or None
