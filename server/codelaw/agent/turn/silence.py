"""A model that says nothing for long: the user is told, and what they can do (P-1)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self

from codelaw.domain.chats import Notice

if TYPE_CHECKING:
    from codelaw.agent.recording.turn_record import TurnRecord

QUIET_SECONDS = 30.0
"""Without content, whatever signs of life the connection gives."""
SILENT = "model_silent"
"""The notice's code."""


class Silence:
    """Around one request of a turn: gives a notice once for each silence; `heard` ends one."""

    def __init__(self, turn: TurnRecord) -> None:
        self._turn = turn
        self._loop = asyncio.get_running_loop()
        self._last = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        self.heard()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def heard(self) -> None:
        """Content has come."""
        self._last = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_at(self._last + QUIET_SECONDS, self._look)

    def _look(self) -> None:
        if self._loop.time() < (until := self._last + QUIET_SECONDS):
            self._timer = self._loop.call_at(until, self._look)
            return
        self._timer = None
        message = (
            f"{self._turn.model or 'The model'} has sent nothing for {QUIET_SECONDS:g} s; the request is still open. "
            "Wait, or cancel the turn and send the message again: what was done so far is kept."
        )
        self._turn.notice(Notice("warning", SILENT, message))
