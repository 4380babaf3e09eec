"""What is decided, put on record while the work goes on (S-8)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, cast

from codelaw.domain.errors import Refusal
from codelaw.domain.permissions import AuditEntry, AuditKind, By, Decided

if TYPE_CHECKING:
    from codelaw.domain.permissions import Decision, Grant
    from codelaw.domain.results import ToolResult
    from codelaw.domain.safety.redaction import Redaction
    from codelaw.ports.store import ChatStore

PATIENCE = 1.0
"""Seconds that a call waits for its decision to be durable; a store that is slower fails no turn."""
MOST_OWED = 1000
"""Entries kept for a store that cannot take them (S-6)."""
TITLE = 200
"""Characters."""
DETAIL = 2000
"""Characters of a command, or of a list of paths."""
_SHOWN = 50
"""Paths or hosts that one entry names."""
_BY: dict[str, By] = {
    "mode": "mode",
    "deny": "rule",
    "allow": "rule",
    "grant": "grant",
    "default": "default",
    "hook": "hook",
}

_log = logging.getLogger(__name__)


class Recorder:
    """Writes what one session decides, in order and in the background. No key reaches the record (S-5)."""

    def __init__(self, store: Callable[[], Awaitable[ChatStore]], redaction: Redaction, person: str) -> None:
        self._store = store
        self._redaction = redaction
        self._person = person
        self._waiting: list[AuditEntry] = []
        self._task: asyncio.Task[None] | None = None

    def note(
        self,
        kind: AuditKind,
        decision: Decided,
        by: By,
        *,
        title: str = "",
        rule: str = "",
        detail: str = "",
        **about: str,
    ) -> None:
        """Put something on record, `about` a chat, tool or folder; returns at once."""
        title, rule, detail = (self._redaction.text(text, shapes=True) for text in (title, rule, detail))
        entry = AuditEntry(
            at=time.time(),
            kind=kind,
            decision=decision,
            by=by,
            title=_cut(" ".join(title.split()), TITLE),
            rule=_cut(rule, DETAIL),
            detail=_cut(detail, DETAIL),
            person=self._person,
            **{"chat_id": "", "tool": "", **about},
        )
        self._waiting.append(entry)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write(), name="audit")

    def granted(self, grant: Grant, chat_id: str, decision: Literal["grant", "revoke"] = "grant") -> None:
        """Put on record that a standing permission was given, or taken back."""
        scope = "always" if grant.scope == "always" else "in this chat"
        title = f"Allowed {scope}: {grant.rule}" if decision == "grant" else f"Taken back: {grant.rule}"
        tool = grant.rule.partition("(")[0]
        self.note(
            "grant", decision, "user", chat_id=chat_id, tool=tool, title=title, rule=grant.rule, folder=grant.folder
        )

    def judged(self, decision: Decision, by: By | None, **about: str) -> None:
        """Put the last decision about a call on record; `by` where it was no rule's."""
        made: Decided = "allow" if decision.action == "allow" else "deny"
        self.note("call", made, by or _BY.get(decision.source, "user"), rule=decision.rule, **about)

    def violated(self, result: ToolResult, **about: str) -> None:
        """Put on record what a command met: paths that the sandbox keeps or set aside, hosts that it refused."""
        blocked, refused = _names(result.data.get("blocked")), _names(result.data.get("refused"))
        aside = [f"{one['path']} is {one['kept']}" for one in result.data.get("set_aside", ())]
        for names, rule in (
            (blocked, "kept by the sandbox"),
            (aside, "set aside by the sandbox"),
            (refused, "refused by the network's rules"),
        ):
            if names:
                self.note("violation", "violation", "sandbox", rule=rule, **{**about, "detail": "\n".join(names)})

    async def settled(self) -> None:
        """Wait until all of it is durable, or the patience is over: what was decided survives what it allowed.

        Never raises but for a cancel.
        """
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task], timeout=PATIENCE)

    async def _write(self) -> None:
        while self._waiting:
            batch = tuple(self._waiting)
            try:
                await (await self._store()).note(batch)
            except Exception as error:  # noqa: BLE001 - no turn fails for it; it is written with the next
                known = error.message if isinstance(error, Refusal) else type(error).__name__
                _log.warning("%d decisions could not be put on record: %s", len(batch), known)
                del self._waiting[:-MOST_OWED]
                return
            del self._waiting[: len(batch)]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _names(value: Any) -> list[str]:
    """The texts of a list, as a tool's data has them."""
    if not isinstance(value, list | tuple):
        return []
    return [str(item) for item in cast("list[Any]", value)[:_SHOWN]]
