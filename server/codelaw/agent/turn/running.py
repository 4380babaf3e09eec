"""A turn that runs: awaited by several, cancelled by any."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from codelaw.ports.cancelling import give_cancel

if TYPE_CHECKING:
    from codelaw.agent.turn.turn import Ending
    from codelaw.domain.chats import TurnResult


class RunningTurn:
    """The handle of a running turn.

    `conduct` runs the turn and writes its end; only `work`, the part before the end is written, can be cancelled, so
    that a cancel never loses what was said.
    """

    def __init__(self, chat_id: str, turn_id: str) -> None:
        self.chat_id = chat_id
        self.turn_id = turn_id
        self.work: asyncio.Task[Ending] | None = None
        self.conduct: asyncio.Task[TurnResult] | None = None
        self._stopped = False

    @property
    def over(self) -> bool:
        """Whether the model will not be asked again in this turn."""
        return self.work is None or self.work.done()

    def cancel(self) -> bool:
        """Stop the turn (R-8); whether its work had not ended yet. May be called again."""
        if self.work is None or self.work.done():
            return False
        # Our own mark and not `cancelling()`: timeouts, and libraries with cancel scopes, raise that count as well.
        if not self._stopped:
            self._stopped = True
            give_cancel(self.work)
        return True

    async def result(self) -> TurnResult:
        """How the turn ended. Cancelling the awaiter does not cancel the turn."""
        assert self.conduct is not None  # noqa: S101 - set before anyone gets this handle
        return await asyncio.shield(self.conduct)
