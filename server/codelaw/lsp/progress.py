"""`window/workDoneProgress` of turns, drawn from their events (V-5)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lsprotocol import types

from codelaw.domain.events import ChatEvent, RetryEvent, ToolCallEvent, TurnEnded, TurnStarted
from codelaw.lsp.errors import ClientError, Disconnected
from codelaw.lsp.rpc import Rpc

log = logging.getLogger(__name__)

MAX_LINE = 120


@dataclass(slots=True)
class Bar:
    """One turn's progress. What is said before the client has made the bar waits."""

    token: str
    chat_id: str
    made: bool = False
    waiting: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    shown: str = ""


class TurnProgress:
    """A progress bar for each running turn; its cancel button cancels the turn."""

    def __init__(self, rpc: Rpc, cancel: Callable[[str], None]) -> None:
        self._rpc = rpc
        self._cancel = cancel
        self._bars: dict[str, Bar] = {}
        self._making: set[asyncio.Task[None]] = set()

    def follow(self, event: ChatEvent) -> None:
        """Show what an event says."""
        match event.event:
            case TurnStarted(text=text):
                self._begin(event, text)
            case ToolCallEvent(status="running" | "awaiting_approval") as call:
                waiting = " (waits for your approval)" if call.status == "awaiting_approval" else ""
                self._report(event.turn_id, f"Step {call.step}: {call.title}{waiting}")
            case RetryEvent() as retry:
                self._report(event.turn_id, f"Step {retry.step}: asking again, {retry.reason}")
            case TurnEnded(result=result):
                self._end(event.turn_id, result.stop_reason)
            case _:
                pass

    def cancelled(self, token: object) -> None:
        """The user pressed cancel; an unknown token is ignored."""
        for bar in self._bars.values():
            if bar.token == token:
                self._cancel(bar.chat_id)

    def _begin(self, event: ChatEvent, text: str) -> None:
        bar = Bar(f"codelaw/{event.turn_id}", event.chat_id)
        self._bars[event.turn_id] = bar
        title = f"codelaw: {_line(text)}"
        self._say(bar, {"kind": "begin", "title": title, "cancellable": True, "message": "Thinking"})
        task = asyncio.get_running_loop().create_task(self._make(event.turn_id, bar))
        self._making.add(task)
        task.add_done_callback(self._making.discard)

    async def _make(self, turn_id: str, bar: Bar) -> None:
        try:
            await self._rpc.request(types.WINDOW_WORK_DONE_PROGRESS_CREATE, {"token": bar.token})
        except (ClientError, Disconnected) as error:
            log.info("No progress is shown: %s", error)
            self._bars.pop(turn_id, None)
            return
        bar.made = True
        for value in bar.waiting:
            self._rpc.tell(types.PROGRESS, {"token": bar.token, "value": value})
        bar.waiting.clear()

    def _report(self, turn_id: str, message: str) -> None:
        bar = self._bars.get(turn_id)
        line = _line(message)
        if bar is not None and bar.shown != line:
            bar.shown = line
            self._say(bar, {"kind": "report", "message": line})

    def _end(self, turn_id: str, stop_reason: str) -> None:
        bar = self._bars.pop(turn_id, None)
        if bar is not None:
            self._say(bar, {"kind": "end", "message": stop_reason})

    def _say(self, bar: Bar, value: dict[str, Any]) -> None:
        if bar.made:
            self._rpc.tell(types.PROGRESS, {"token": bar.token, "value": value})
        else:
            # Until the client has answered only the beginning, the latest state and the end matter.
            del bar.waiting[1:]
            bar.waiting.append(value)


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…"
