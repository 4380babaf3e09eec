"""`codelaw/permission/*`."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from codelaw.domain.safety.unseen import visible_line
from codelaw.protocol import permissions as wire

if TYPE_CHECKING:
    from codelaw.domain.permissions import AuditEntry, Grant
    from codelaw.lsp.context import Context

PAGE = 100
"""Entries of the record where no limit is named."""
NOTHING_DECIDED = "Nothing is on record."
NOTHING_ALLOWED = "Nothing is allowed for good: writes and commands are asked about."
OUTDATED = "It was given before folders were kept, and allows nothing any more: give it again where it is wanted."


async def list_grants(context: Context, _params: wire.ListGrants) -> wire.GrantList:
    grants = await context.session.permissions.grants()
    return wire.GrantList(grants=[_grant(one) for one in grants])


def _grant(one: Grant) -> wire.Grant:
    return wire.Grant.of(
        one,
        folder=one.folder or None,
        person=one.person or None,
        problem=OUTDATED if one.outdated else None,
    )


async def audit(context: Context, params: wire.Audit) -> wire.AuditList:
    found = await context.session.permissions.audit(params.chat_id, params.limit or PAGE)
    return wire.AuditList(entries=[_entry(one) for one in found])


async def show_the_audit(context: Context, params: wire.Audit) -> wire.AuditList:
    """The record; a client without events is shown it as a document besides."""
    found = await audit(context, params)
    text = _as_text("What was decided, the newest first", map(_line, found.entries), NOTHING_DECIDED)
    context.ui.record("records", "audit", text)
    return found


async def show_the_grants(context: Context, params: wire.ListGrants) -> wire.GrantList:
    """The standing permissions; a client without events is shown them as a document besides."""
    found = await list_grants(context, params)
    text = _as_text("What is allowed for good", map(_standing, found.grants), NOTHING_ALLOWED)
    context.ui.record("records", "permissions", text)
    return found


def _as_text(title: str, lines: Iterable[str], none: str) -> str:
    return f"# {title}\n\n" + ("\n".join(lines) or none)


def _standing(grant: wire.Grant) -> str:
    scope = "always" if grant.scope == "always" else "in a chat"
    where = f", in {literal(grant.folder)}" if grant.folder else ""
    return f"- {literal(grant.rule)} {scope}{where} (`{grant.id}`){f': {grant.problem}' if grant.problem else ''}"


def _line(entry: wire.AuditEntry) -> str:
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


def _entry(one: AuditEntry) -> wire.AuditEntry:
    return wire.AuditEntry.of(
        one,
        rule=one.rule or None,
        detail=one.detail or None,
        folder=one.folder or None,
        person=one.person or None,
    )


async def revoke(context: Context, params: wire.RevokeGrant) -> wire.Revoked:
    await context.session.permissions.revoke(params.id)
    return wire.Revoked()


HANDLERS = {
    "codelaw/permission/list": list_grants,
    "codelaw/permission/revoke": revoke,
    "codelaw/permission/audit": audit,
}

TWINS = {
    "codelaw/permission/list": show_the_grants,
    "codelaw/permission/audit": show_the_audit,
}
