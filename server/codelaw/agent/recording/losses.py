"""What of a chat is damaged or missing is told, each loss once in a server's life (D-1)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from codelaw.domain.events import NoticeEvent

if TYPE_CHECKING:
    from codelaw.agent.recording.outbox import Outbox

_log = logging.getLogger(__name__)

NAMED = 20
"""Losses that one notice names; the log has all."""


class Losses:
    """Those of one chat."""

    def __init__(self, chat_id: str, outbox: Outbox) -> None:
        self._chat_id = chat_id
        self._outbox = outbox
        self._told: set[str] = set()

    @property
    def any(self) -> bool:
        """Whether some were told."""
        return bool(self._told)

    def tell(self, losses: Sequence[str]) -> None:
        """Tell those that are new, in one notice."""
        new = [loss for loss in dict.fromkeys(losses) if loss not in self._told]
        if not new:
            return
        self._told.update(new)
        _log.warning("chat %s: damaged: %s", self._chat_id, "; ".join(new))
        named = "; ".join(new[:NAMED]) + (f"; and {len(new) - NAMED} more" if len(new) > NAMED else "")
        message = f"Damaged on the disk in this chat: {named}. What can still be read of it is shown, and marked."
        self._outbox.tell(NoticeEvent("warning", "record_damaged", message))
