"""`codelaw/permission/*`."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from codelaw.domain.safety.unseen import visible_line
from codelaw.lsp.methods.routing import as_command, route
from codelaw.protocol import permissions as wire

if TYPE_CHECKING:
    from codelaw.domain.permissions import AuditEntry, Grant
    from codelaw.lsp.context import Context

PAGE = 100
"""Entries of the record where no limit is named."""
NOTHING_DECIDED = "Nothing is on record."
NOTHING_ALLOWED = "Nothing is allowed for good: writes and commands are asked about."


@route("codelaw/permission/list", wire.ListGrants, wire.GrantList)
async def list_grants(context: Context, _params: wire.ListGrants) -> object:
    return _listed(await context.session.permissions.grants())


@as_command("codelaw/permission/list")
async def show_the_grants(context: Context, _params: wire.ListGrants) -> object:
    """The standing permissions; a client without events is shown them as a document besides."""
    found = await context.session.permissions.grants()
    text = _as_text("What is allowed for good", map(_standing, found), NOTHING_ALLOWED)
    context.ui.record("records", "permissions", text)
    return _listed(found)


def _listed(found: Sequence[Grant]) -> dict[str, Any]:
    return {"grants": [wire.Grant.of(one) for one in found]}


@route("codelaw/permission/audit", wire.Audit, wire.AuditList)
async def audit(context: Context, params: wire.Audit) -> object:
    return {"entries": await context.session.permissions.audit(params.chat_id, params.limit or PAGE)}


@as_command("codelaw/permission/audit")
async def show_the_audit(context: Context, params: wire.Audit) -> object:
    """The record; a client without events is shown it as a document besides."""
    found = await context.session.permissions.audit(params.chat_id, params.limit or PAGE)
    text = _as_text("What was decided, the newest first", map(_line, found), NOTHING_DECIDED)
    context.ui.record("records", "audit", text)
    return {"entries": found}


def _as_text(title: str, lines: Iterable[str], none: str) -> str:
    return f"# {title}\n\n" + ("\n".join(lines) or none)


def _standing(grant: Grant) -> str:
    scope = "always" if grant.scope == "always" else "in a chat"
    where = f", in {literal(grant.folder)}" if grant.folder else ""
    return f"- {literal(grant.rule)} {scope}{where} (`{grant.id}`)"


def _line(entry: AuditEntry) -> str:
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


@route("codelaw/permission/revoke", wire.RevokeGrant, wire.Revoked)
async def revoke(context: Context, params: wire.RevokeGrant) -> object:
    await context.session.permissions.revoke(params.id)
    return wire.Revoked()
