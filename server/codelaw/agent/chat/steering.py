"""What is sent while a turn runs, and the turn that is made of what came with the answer (R-9)."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from codelaw.agent.inputs.attachments import check_pictures, pictures_in
from codelaw.domain.errors import Refusal
from codelaw.domain.events import NoticeEvent, SteerEvent

if TYPE_CHECKING:
    from codelaw.agent.recording.outbox import Outbox
    from codelaw.agent.recording.pictures import Pictures
    from codelaw.agent.recording.turn_record import TurnRecord
    from codelaw.agent.turn.pending import PendingMessages, Steer
    from codelaw.agent.turn.running import TurnTask

_log = logging.getLogger(__name__)


class SteerQueue:
    """The steers of one chat, and the turn that follows by itself.

    Steers that wait when the answer comes become one turn, in the order they came, a blank line between them. When the
    turn ends otherwise, or the next cannot be started, they are returned to the user.
    """

    def __init__(self, outbox: Outbox, pending: PendingMessages, pictures: Pictures) -> None:
        self._outbox, self._pending, self._pictures = outbox, pending, pictures
        self.beginning: asyncio.Task[None] | None = None
        """Starts the next turn."""
        self.record: TurnRecord | None = None
        """Of the turn that runs."""
        self.after = ""
        """The turn that ended last."""
        self.begun: TurnTask | None = None
        """The one that followed it by itself."""

    @property
    def in_flight(self) -> bool:
        """A next turn is about to begin."""
        return self.beginning is not None

    async def steer(self, steer: Steer) -> None:
        """Queue a message for the model's next step, or the next turn; returns once it cannot be lost.

        Raises:
            Refusal: `turn_not_found`; `invalid_attachment`: the pictures of all that waits are too many.
        """
        self._refuse_idle()
        waiting = [one for other in self._pending.waiting for one in pictures_in(other.attachments)]
        pictures = pictures_in(steer.attachments)
        check_pictures([*waiting, *pictures])
        if pictures:
            # Kept from now on: who takes the message back, or gets it back, has them again.
            await self._pictures.keep(pictures)
            self._refuse_idle()
        self._pending.steer(steer)
        step = self.record.step or None if self.record is not None else None
        self._report(SteerEvent(steer.text, step, steer.id, "waiting", images=steer.images))
        await self._outbox.drain()

    async def unsteer(self, steer_id: str) -> bool:
        """Take back a steer that still waits; False when it does not (any more)."""
        steer = self._pending.withdraw(steer_id)
        if steer is None:
            return False
        self._report(SteerEvent(steer.text, None, steer.id, "withdrawn", images=steer.images))
        await self._outbox.drain()
        return True

    def taken(self, after: str) -> tuple[Steer, ...]:
        """All that waits, to become a turn behind the turn `after`; no part of it can be withdrawn any more."""
        self.after, self.begun = after, None
        for steer in self._pending.waiting:
            steer.taken = True
        return self._pending.waiting

    def failed(self, notice: NoticeEvent) -> None:
        """The next turn could not be started: say why, and return all that waits."""
        self._outbox.post("", notice)
        self.give_back(self.after)

    def give_back(self, after: str) -> None:
        """Return all that waits: it will not be sent."""
        for steer in self._pending.take():
            returned = SteerEvent(steer.text, None, steer.id, "returned", images=steer.images)
            self._outbox.post(after, returned)

    def _report(self, event: SteerEvent) -> None:
        self._outbox.post(self.after if self.record is None else self.record.id, event)

    def _refuse_idle(self) -> None:
        if self.record is None and not self.in_flight:
            raise Refusal("turn_not_found", "No turn is running in this chat.", "Send the message instead.")

    async def next(self, after: str | None = None) -> TurnTask | None:
        """The turn that follows the turn `after`, once it has begun; without `after`, one that is about to begin."""
        if self.beginning is not None:
            await asyncio.shield(self.beginning)
        elif after is None:
            return None
        return self.begun if after in {None, self.after} else None
