"""The one way out for events: ordered, coalesced, stored, then sent."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from codelaw.domain.errors import Refusal
from codelaw.domain.events import AnswerDelta, ChatEvent, Event, ThoughtDelta, ToolOutputEvent

if TYPE_CHECKING:
    from codelaw.domain.safety.redaction import Redaction
    from codelaw.ports.store import ChatStore

INTERVAL = 1 / 60
"""Least seconds between two deliveries of nothing but deltas."""
TOGETHER = 0.002
"""Seconds in which events that follow each other are stored as one; the turn does not wait for them."""
MOST_OWED = 1000
"""Most events kept for a store that cannot take them (S-6)."""

_Posted = tuple[str, float, Event]
"""Turn, seconds since the epoch, event."""
_log = logging.getLogger(__name__)


class Outbox:
    """Delivers one chat's events. `post` never waits; `drain` returns when everything posted before has been sent.

    What the store cannot take is sent all the same, and stored with the next event that it takes, so that `seq` stays
    one row of numbers.
    """

    def __init__(
        self,
        chat_id: str,
        store: ChatStore,
        send: Callable[[ChatEvent], None],
        redaction: Redaction | None = None,
    ) -> None:
        self._redaction = redaction
        self._chat_id = chat_id
        self._store = store
        self._send = send
        self.turn = ""
        """The turn that runs; empty when none does."""
        self._waiting: list[_Posted] = []
        self._more: list[str] = []
        """Deltas that belong to the last that waits; they are joined once."""
        self._owed: list[_Posted] = []
        """Sent, but not yet stored."""
        self._urgent = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._task: asyncio.Task[None] | None = None
        self._last_seq = 0
        self._kept_seq = 0
        """The last that the store has surely taken; it may have taken more when it failed after a commit."""
        self._draining = 0
        self._delivered = float("-inf")
        """When the last delivery was, by the loop's clock."""

    def post(self, turn_id: str, event: Event) -> None:
        """Queue an event; deltas of one kind and step are joined while they wait. No known key leaves with it (S-5)."""
        if isinstance(event, ThoughtDelta | AnswerDelta) and self._goes_on(turn_id, event):
            self._more.append(event.delta)
            return
        self._fold()
        self._waiting.append((turn_id, time.time(), self._discreet(event)))
        if not isinstance(event, ThoughtDelta | AnswerDelta):
            self._urgent.set()
        self._idle.clear()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._deliver(), name=f"outbox {self._chat_id}")

    def tell(self, event: Event) -> None:
        """Queue an event of the chat, which belongs to the turn that runs, if one does."""
        self.post(self.turn, event)

    async def drain(self) -> None:
        """Wait until all that was posted has been stored and sent."""
        self._urgent.set()
        self._draining += 1
        try:
            await self._idle.wait()
        finally:
            self._draining -= 1

    def _goes_on(self, turn_id: str, event: ThoughtDelta | AnswerDelta) -> bool:
        """Whether the event belongs to the last that waits."""
        if not self._waiting:
            return False
        of, _, last = self._waiting[-1]
        return of == turn_id and isinstance(last, ThoughtDelta | AnswerDelta) and _kin(last) == _kin(event)

    def _fold(self) -> None:
        """Join the last event that waits with what belongs to it."""
        if self._more:
            of, at, last = self._waiting[-1]
            if isinstance(last, ThoughtDelta | AnswerDelta):
                joined = replace(last, delta="".join((last.delta, *self._more)))
                self._waiting[-1] = of, at, self._discreet(joined)
            self._more.clear()

    def _discreet(self, event: Event) -> Event:
        return event if self._redaction is None else self._redaction.value(event)

    async def _deliver(self) -> None:
        try:
            while self._waiting:
                await self._pause()
                self._fold()
                batch, self._waiting = self._waiting, []
                self._urgent.clear()
                self._delivered = asyncio.get_running_loop().time()
                for turn_id, events in groupby(batch, lambda posted: posted[0]):
                    await self._deliver_batch(turn_id, list(events))
        finally:
            self._idle.set()

    async def _pause(self) -> None:
        """Let deltas gather until the interval is over; anything else waits only for what comes with it."""
        try:
            async with asyncio.timeout_at(self._delivered + INTERVAL):
                await self._urgent.wait()
        except TimeoutError:
            return
        if not self._draining:
            await asyncio.sleep(TOGETHER)

    async def _deliver_batch(self, turn_id: str, batch: list[_Posted]) -> None:
        first = self._last_seq + 1
        kept = [posted for posted in batch if not isinstance(posted[2], ToolOutputEvent)]
        try:
            if self._owed and kept:
                heard = await self._store.events(self._chat_id, self._kept_seq)
                known = [(event.turn_id, event.at, event.event) for event in heard]
                self._owed = [posted for posted in self._owed if posted not in known]
                self._kept_seq = heard[-1].seq if heard else self._kept_seq
                for owed, events in groupby(self._owed, lambda posted: posted[0]):
                    late = list(events)
                    await self._keep(owed, late)
                    self._owed = self._owed[len(late) :]
            if kept:
                first = await self._keep(turn_id, kept)
        except Exception as error:  # noqa: BLE001 - the client must still learn how the turn ends
            known = error.message if isinstance(error, Refusal) else type(error).__name__
            _log.error("events of chat %s could not be stored: %s", self._chat_id, known)
            self._owed = [*self._owed, *kept][-MOST_OWED:]
        self._last_seq = first - 1
        for _, at, event in batch:
            self._last_seq += not isinstance(event, ToolOutputEvent)
            try:
                self._send(ChatEvent(self._chat_id, turn_id, self._last_seq, at, event))
            except Exception:  # noqa: BLE001 - a client that is gone stops no turn
                _log.exception("an event of chat %s could not be sent", self._chat_id)

    async def _keep(self, turn_id: str, events: list[_Posted]) -> int:
        """Store events of one turn; gives the first one's `seq`."""
        numbers = await self._store.append_events(self._chat_id, turn_id, [(at, event) for _, at, event in events])
        self._kept_seq = numbers[-1]
        return numbers[0]


def _kin(delta: ThoughtDelta | AnswerDelta) -> tuple[str, int]:
    return delta.kind, delta.step
