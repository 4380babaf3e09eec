"""What is sent while a turn runs, and the turn that is made of what came with the answer (R-9)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
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

    def __init__(
        self,
        outbox: Outbox,
        pending: PendingMessages,
        pictures: Pictures,
        begin: Callable[[Sequence[Steer]], Awaitable[TurnTask]],
    ) -> None:
        """`begin` starts the turn that waiting steers become."""
        self._outbox, self._pending, self._pictures, self._begin = outbox, pending, pictures, begin
        self._task: asyncio.Task[None] | None = None
        self.record: TurnRecord | None = None
        """Of the turn that runs."""
        self.after = ""
        """The turn that ended last."""
        self._begun: TurnTask | None = None
        """The one that followed it by itself."""

    @property
    def in_flight(self) -> bool:
        """A next turn is about to begin."""
        return self._task is not None

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
        self._tell(SteerEvent(steer.text, step, steer.id, "waiting", images=steer.images))
        await self._outbox.drain()

    async def unsteer(self, steer_id: str) -> bool:
        """Take back a steer that still waits; False when it does not (any more)."""
        steer = self._pending.withdraw(steer_id)
        if steer is None:
            return False
        self._tell(SteerEvent(steer.text, None, steer.id, "withdrawn", images=steer.images))
        await self._outbox.drain()
        return True

    def begin(self, after: str) -> bool:
        """Start a turn of all that waits, if anything does; then nothing else may start in the chat until it has."""
        steers = self._pending.waiting
        self.after, self._begun = after, None
        if not steers:
            return False
        for steer in steers:
            steer.taken = True
        self._task = asyncio.create_task(self._start(steers), name="next turn")
        return True

    def give_back(self, after: str) -> None:
        """Return all that waits: it will not be sent."""
        for steer in self._pending.take():
            returned = SteerEvent(steer.text, None, steer.id, "returned", images=steer.images)
            self._outbox.post(after, returned)

    def _tell(self, event: SteerEvent) -> None:
        self._outbox.post(self.after if self.record is None else self.record.id, event)

    def _refuse_idle(self) -> None:
        if self.record is None and not self.in_flight:
            raise Refusal("turn_not_found", "No turn is running in this chat.", "Send the message instead.")

    async def next(self, after: str | None = None) -> TurnTask | None:
        """The turn that follows the turn `after`, once it has begun; without `after`, one that is about to begin."""
        if self._task is not None:
            await asyncio.shield(self._task)
        elif after is None:
            return None
        return self._begun if after in {None, self.after} else None

    async def _start(self, steers: tuple[Steer, ...]) -> None:
        try:
            self._begun = await self._begin(steers)
        except Refusal as refusal:
            self._failed(NoticeEvent("error", refusal.code, f"{refusal.message} {refusal.hint}".strip()))
        except Exception:  # noqa: BLE001 - a bug must not keep the user's words from them (R-10)
            _log.exception("a next turn could not be started")
            self._failed(NoticeEvent("error", "internal_error", "codelaw failed inside; the log says why."))
        finally:
            self._task = None

    def _failed(self, notice: NoticeEvent) -> None:
        self._outbox.post("", notice)
        self.give_back(self.after)
