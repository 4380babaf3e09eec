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
from codelaw.domain.events import RESERVED, AnswerDelta, ChatEvent, Event, Numbers, ThoughtDelta, ToolOutputEvent
from codelaw.domain.safety.redaction import Redaction

if TYPE_CHECKING:
    from codelaw.ports.store import ChatStore

INTERVAL = 1 / 60
"""Least seconds between two deliveries of nothing but deltas."""
TOGETHER = 0.002
"""Seconds in which events that follow each other are stored as one; the turn does not wait for them."""
MOST_OWED = 1000
"""Most events kept for a store that cannot take them (S-6)."""

_DELTAS = (ThoughtDelta, AnswerDelta)
_Posted = tuple[str, float, Event]
"""Turn, seconds since the epoch, event."""
_log = logging.getLogger(__name__)


class Outbox:
    """Delivers one chat's events. `post` never waits; `drain` returns when everything posted before has been sent.

    What the store cannot take is sent all the same, and stored under the same numbers with the next event that it
    takes. No number is given to two events: where the chat's last one is not what this outbox left, the next begin
    beyond all that another server may have given out.
    """

    def __init__(
        self,
        chat_id: str,
        store: ChatStore,
        send: Callable[[ChatEvent], None],
        redaction: Redaction | None = None,
        *,
        new: bool = True,
    ) -> None:
        """`new`: nobody has given a number to an event of this chat yet."""
        self._redaction = redaction or Redaction()
        self._chat_id = chat_id
        self._store = store
        self._send = send
        self.turn = ""
        """The turn that runs; empty when none does."""
        self._waiting: list[_Posted] = []
        self._owed: list[tuple[int, _Posted]] = []
        """Sent under these numbers, but not yet stored."""
        self._urgent = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._task: asyncio.Task[None] | None = None
        self._last_seq = 0 if new else -1
        """The last that was given; -1: none was by this outbox."""
        self._kept_seq = 0 if new else -1
        """The last that the store has surely taken; it may have taken more when it failed after a commit."""
        self._draining = 0
        self._delivered = float("-inf")
        """When the last delivery was, by the loop's clock."""

    def post(self, turn_id: str, event: Event) -> None:
        """Queue an event; deltas of one kind and step are joined while they wait. No known key leaves with it (S-5)."""
        of, at, last = self._waiting[-1] if self._waiting else ("", 0.0, None)
        if of == turn_id and isinstance(event, _DELTAS) and isinstance(last, _DELTAS) and _kin(last) == _kin(event):
            self._waiting[-1] = of, at, replace(last, delta=last.delta + event.delta)
            return
        self._waiting.append((turn_id, time.time(), event))
        if not isinstance(event, _DELTAS):
            self._urgent.set()
        self._idle.clear()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._deliver(), name=f"outbox {self._chat_id}")

    def report(self, event: Event) -> None:
        """Queue an event of the chat, which belongs to the turn that runs, if one does."""
        self.post(self.turn, event)

    async def reserve(self) -> None:
        """Begin beyond what any other server may have given out, and keep that, before a turn's first number is given.

        Raises:
            Refusal: the store cannot take it.
        """
        if self._kept_seq < 0:
            self._kept_seq = await self._store.reserve_numbers(self._chat_id)
            self._last_seq = max(self._last_seq, self._kept_seq)

    async def drain(self) -> None:
        """Wait until all that was posted has been stored and sent."""
        self._urgent.set()
        self._draining += 1
        try:
            await self._idle.wait()
        finally:
            self._draining -= 1

    async def _deliver(self) -> None:
        try:
            while self._waiting:
                await self._pause()
                batch, self._waiting = [(of, at, self._redaction.value(event)) for of, at, event in self._waiting], []
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
        kept = [posted for posted in batch if not isinstance(posted[2], ToolOutputEvent)]
        try:
            if kept:
                await self._pay()
                first = (await self._keep(turn_id, kept, self._last_seq))[0]
                self._last_seq = first - 1
        except Exception as error:  # noqa: BLE001 - the client must still learn how the turn ends
            known = error.message if isinstance(error, Refusal) else type(error).__name__
            _log.error("events of chat %s could not be stored: %s", self._chat_id, known)
            await self._begin()
            owed = [*enumerate(kept, self._last_seq + 1)]
            self._owed = [*self._owed, *owed][-MOST_OWED:]
        for _, at, event in batch:
            self._last_seq += not isinstance(event, ToolOutputEvent)
            try:
                self._send(ChatEvent(self._chat_id, turn_id, max(0, self._last_seq), at, event))
            except Exception:  # noqa: BLE001 - a client that is gone stops no turn
                _log.exception("an event of chat %s could not be sent", self._chat_id)

    async def _begin(self) -> None:
        """Without the store: begin where the first number would be that it gave."""
        if self._last_seq < 0:
            try:
                self._last_seq = RESERVED + await self._store.last_number(self._chat_id)
            except Exception as error:  # noqa: BLE001 - as above
                _log.warning("the last event of chat %s is not known: %s", self._chat_id, type(error).__name__)
                self._last_seq = RESERVED

    async def _pay(self) -> None:
        """Store what is owed, but for what the store has taken although it said that it failed."""
        if not self._owed:
            return
        if self._kept_seq >= 0:
            owed = [posted for _, posted in self._owed]
            heard = await self._store.events(self._chat_id, self._kept_seq)
            known = [(event.turn_id, event.at, event.event) for event in heard]
            self._owed = [one for one in self._owed if one[1] not in known]
            if heard:
                self._kept_seq = heard[-1].seq if all(one in owed for one in known) else -1
        for turn_id, group in groupby(self._owed, lambda one: one[1][0]):
            late = list(group)
            await self._keep(turn_id, [posted for _, posted in late], late[0][0] - 1)
            self._owed = self._owed[len(late) :]

    async def _keep(self, turn_id: str, events: list[_Posted], given: int) -> list[int]:
        """Store events of one turn; gives their `seq`."""
        after = Numbers(self._kept_seq, given)
        stored = [(at, event) for _, at, event in events]
        numbers = await self._store.append_events(self._chat_id, turn_id, stored, after)
        self._kept_seq = numbers[-1]
        self._last_seq = max(self._last_seq, numbers[-1])
        return numbers


def _kin(delta: ThoughtDelta | AnswerDelta) -> ThoughtDelta | AnswerDelta:
    return replace(delta, delta="")
