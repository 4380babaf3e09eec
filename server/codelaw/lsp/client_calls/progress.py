"""What runs, as `window/workDoneProgress`: a bar for each turn and one for each compaction (V-5)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lsprotocol import types

from codelaw.domain.checkpoints import CompactionReport
from codelaw.domain.events import ChatEvent, CompactionEvent, RetryEvent, ToolCallEvent, TurnEnded, TurnStarted
from codelaw.domain.safety.unseen import visible_line
from codelaw.lsp.cancelling import Spawner
from codelaw.lsp.transport.errors import ClientError
from codelaw.lsp.transport.rpc import Rpc
from codelaw.protocol import contexts as wire
from codelaw.protocol.outcomes import outcome

log = logging.getLogger(__name__)

MAX_LINE = 120
PHASES = {
    "started": "Choosing what is archived",
    "summarising": "Writing the summary",
    "failed": "The compaction failed",
    "cancelled": "The compaction was cancelled",
}


@dataclass(slots=True)
class Bar:
    """One bar. What is said before the client has made it waits."""

    token: str
    cancel: Callable[[], None]
    made: bool = False
    waiting: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    shown: str = ""


class ProgressBars:
    """The progress bars of one client, each under the key of what it shows.

    The button of a turn's bar calls `cancel_turn` with the chat's id. That of a compaction calls `cancel_compaction`,
    so that a turn which waits for it goes on (K-6).
    """

    def __init__(
        self, rpc: Rpc, spawn: Spawner, cancel_turn: Callable[[str], None], cancel_compaction: Callable[[str], None]
    ) -> None:
        self._rpc = rpc
        self._spawn = spawn
        self._cancel_turn = cancel_turn
        self._cancel_compaction = cancel_compaction
        self._bars: dict[str, Bar] = {}

    def follow(self, event: ChatEvent) -> None:
        """Show what an event says."""
        key = f"turn {event.turn_id}"
        match event.event:
            case CompactionEvent() as compaction:
                self._compaction(event, compaction)
            case TurnStarted(text=text):
                bar = Bar(f"codelaw/{event.turn_id}", lambda: self._cancel_turn(event.chat_id))
                self._begin(key, bar, f"codelaw: {text}", "Thinking")
            case ToolCallEvent(status="running" | "awaiting_approval") as call:
                waiting = " (waits for your approval)" if call.status == "awaiting_approval" else ""
                self._report(key, f"Step {call.step}: {visible_line(call.title)}{waiting}")
            case RetryEvent() as retry:
                self._report(key, f"Step {retry.step}: asking again, {visible_line(retry.reason)}")
            case TurnEnded(result=result):
                self._end(key, result.stop_reason)
            case _:
                pass

    def cancelled(self, token: object) -> None:
        """The user pressed cancel; an unknown token is ignored."""
        for bar in list(self._bars.values()):
            if bar.token == token:
                bar.cancel()

    def _compaction(self, event: ChatEvent, compaction: CompactionEvent) -> None:
        key = f"compaction {event.chat_id}"  # at most one is in flight in a chat (K-7)
        match compaction.phase:
            case "started":
                token = f"codelaw/{event.chat_id}/compaction/{event.seq}"
                bar = Bar(token, lambda: self._cancel_compaction(event.chat_id))
                self._begin(key, bar, "codelaw: compacting the chat", PHASES["started"])
            case "summarising":
                self._report(key, PHASES["summarising"])
            case "finished" | "failed" | "cancelled":
                self._end(key, _last_word(compaction.phase, compaction.report))

    def _begin(self, key: str, bar: Bar, title: str, message: str) -> None:
        """Show a new bar, whose token is never used twice."""
        self._end(key, "")  # one whose end was never sent
        self._bars[key] = bar
        self._say(bar, {"kind": "begin", "title": _line(title), "cancellable": True, "message": message})
        self._spawn(self._make(key, bar))

    def _report(self, key: str, message: str) -> None:
        """Say what is done now; the same twice is said once."""
        bar = self._bars.get(key)
        line = _line(message)
        if bar is not None and bar.shown != line:
            bar.shown = line
            self._say(bar, {"kind": "report", "message": line})

    def _end(self, key: str, message: str) -> None:
        """Take a bar away, with a last word; without one it is passed over."""
        bar = self._bars.pop(key, None)
        if bar is not None:
            self._say(bar, {"kind": "end", "message": _line(message)})

    async def _make(self, key: str, bar: Bar) -> None:
        try:
            await self._rpc.request(types.WINDOW_WORK_DONE_PROGRESS_CREATE, {"token": bar.token})
        except ClientError as error:
            log.info("No progress is shown: %s", error)
            if self._bars.get(key) is bar:
                del self._bars[key]
            return
        bar.made = True
        for value in bar.waiting:
            self._rpc.notify(types.PROGRESS, {"token": bar.token, "value": value})
        bar.waiting.clear()

    def _say(self, bar: Bar, value: dict[str, Any]) -> None:
        if bar.made:
            self._rpc.notify(types.PROGRESS, {"token": bar.token, "value": value})
        else:
            # Until the client has answered only the beginning, the latest state and the end matter.
            del bar.waiting[1:]
            bar.waiting.append(value)


def _last_word(phase: str, report: CompactionReport | None) -> str:
    return outcome(wire.CompactionReportPayload.of(report).wire()) if report is not None else PHASES.get(phase, phase)


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…"
