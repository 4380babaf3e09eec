"""What runs, as progress bars: a bar for each turn and one for each compaction, drawn from their events (V-5)."""

from __future__ import annotations

from collections.abc import Callable

from codelaw.domain.checkpoints import CompactionReport
from codelaw.domain.events import ChatEvent, CompactionEvent, RetryEvent, ToolCallEvent, TurnEnded, TurnStarted
from codelaw.domain.safety.unseen import visible_line
from codelaw.lsp.client_calls.progress_bars import Bars
from codelaw.lsp.transport.rpc import Rpc
from codelaw.protocol import contexts as wire
from codelaw.protocol.outcomes import outcome

PHASES = {
    "started": "Choosing what is archived",
    "summarising": "Writing the summary",
    "failed": "The compaction failed",
    "cancelled": "The compaction was cancelled",
}


class Progress:
    """The progress bars of one client.

    The button of a turn's bar calls `cancel_turn` with the chat's id. That of a compaction calls `cancel_compaction`,
    so that a turn which waits for it goes on (K-6).
    """

    def __init__(self, rpc: Rpc, cancel_turn: Callable[[str], None], cancel_compaction: Callable[[str], None]) -> None:
        self._bars = Bars(rpc)
        self._cancel_turn = cancel_turn
        self._cancel_compaction = cancel_compaction

    def follow(self, event: ChatEvent) -> None:
        """Show what an event says."""
        if isinstance(event.event, CompactionEvent):
            self._compaction(event, event.event)
        else:
            self._turn(event)

    def cancelled(self, token: object) -> None:
        """The user pressed cancel; an unknown token is ignored."""
        self._bars.cancelled(token)

    def _turn(self, event: ChatEvent) -> None:
        key = f"turn {event.turn_id}"
        match event.event:
            case TurnStarted(text=text):
                cancel = self._cancel_turn
                self._bars.begin(
                    key, f"codelaw/{event.turn_id}", f"codelaw: {text}", "Thinking", lambda: cancel(event.chat_id)
                )
            case ToolCallEvent(status="running" | "awaiting_approval") as call:
                waiting = " (waits for your approval)" if call.status == "awaiting_approval" else ""
                self._bars.report(key, f"Step {call.step}: {visible_line(call.title)}{waiting}")
            case RetryEvent() as retry:
                self._bars.report(key, f"Step {retry.step}: asking again, {visible_line(retry.reason)}")
            case TurnEnded(result=result):
                self._bars.end(key, result.stop_reason)
            case _:
                pass

    def _compaction(self, event: ChatEvent, compaction: CompactionEvent) -> None:
        key = f"compaction {event.chat_id}"  # at most one is in flight in a chat (K-7)
        match compaction.phase:
            case "started":
                cancel = self._cancel_compaction
                token = f"codelaw/{event.chat_id}/compaction/{event.seq}"
                title = "codelaw: compacting the chat"
                self._bars.begin(key, token, title, PHASES["started"], lambda: cancel(event.chat_id))
            case "summarising":
                self._bars.report(key, PHASES["summarising"])
            case "finished" | "failed" | "cancelled":
                self._bars.end(key, _told(compaction.phase, compaction.report))


def _told(phase: str, report: CompactionReport | None) -> str:
    return outcome(wire.CompactionReport.of(report).wire()) if report is not None else PHASES.get(phase, phase)
