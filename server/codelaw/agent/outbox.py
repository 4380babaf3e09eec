"""The one way out for events: ordered, coalesced, stored, then sent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from codelaw.domain.errors import Refusal
from codelaw.domain.events import AnswerDelta, ChatEvent, Event, ThoughtDelta

if TYPE_CHECKING:
    from codelaw.ports.store import ChatStore

INTERVAL = 1 / 60
"""Least seconds between two deliveries of deltas."""

_log = logging.getLogger(__name__)


class Outbox:
    """Delivers one chat's events. `post` never waits; `drain` returns when everything posted before has been sent."""

    def __init__(
        self, chat_id: str, store: ChatStore, send: Callable[[ChatEvent], None], clock: Callable[[], float]
    ) -> None:
        self._chat_id = chat_id
        self._store = store
        self._send = send
        self._clock = clock
        self._waiting: list[tuple[str, float, Event]] = []
        self._urgent = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._task: asyncio.Task[None] | None = None
        self._last_seq = 0

    def post(self, turn_id: str, event: Event) -> None:
        """Queue an event; deltas of one kind and step are joined while they wait."""
        delta = isinstance(event, ThoughtDelta | AnswerDelta)
        if delta and self._waiting:
            _, at, last = self._waiting[-1]
            if isinstance(event, ThoughtDelta) and isinstance(last, ThoughtDelta) and last.step == event.step:
                self._waiting[-1] = turn_id, at, replace(last, delta=last.delta + event.delta)
                return
            if isinstance(event, AnswerDelta) and isinstance(last, AnswerDelta) and last.step == event.step:
                self._waiting[-1] = turn_id, at, replace(last, delta=last.delta + event.delta)
                return
        self._waiting.append((turn_id, self._clock(), event))
        if not delta:
            self._urgent.set()
        self._idle.clear()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._deliver(), name=f"outbox {self._chat_id}")

    async def drain(self) -> None:
        """Wait until all that was posted has been stored and sent."""
        self._urgent.set()
        await self._idle.wait()

    async def _deliver(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                self._urgent.clear()
                await self._deliver_batch(batch)
                if self._waiting and not self._urgent.is_set():
                    await self._pause()
        finally:
            self._idle.set()

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(INTERVAL):
                await self._urgent.wait()
        except TimeoutError:
            return

    async def _deliver_batch(self, batch: list[tuple[str, float, Event]]) -> None:
        turn_id = batch[-1][0]
        events = [(at, event) for _, at, event in batch]
        try:
            seqs = await self._store.append_events(self._chat_id, turn_id, events)
            self._last_seq = seqs[-1]
        except Refusal as refusal:
            # The client must still learn how the turn ends; the turn itself fails on its own writes.
            _log.error("events of chat %s could not be stored: %s", self._chat_id, refusal.message)
            seqs = list(range(self._last_seq + 1, self._last_seq + 1 + len(events)))
            self._last_seq = seqs[-1]
        for seq, (at, event) in zip(seqs, events, strict=True):
            self._send(ChatEvent(self._chat_id, turn_id, seq, at, event))
