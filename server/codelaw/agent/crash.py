"""A turn whose server died is closed: marked interrupted, nothing run again (D-1, R-6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codelaw.context.observations import one_line
from codelaw.domain.chats import StoredTurn, TurnError, TurnResult
from codelaw.domain.events import Event, ToolCallEvent, TurnEnded
from codelaw.domain.messages import Message
from codelaw.domain.models import Usage
from codelaw.transcript.closing import CRASHED, final_message, open_calls, result_message

_WHY = "codelaw stopped before the turn ended"


def last_words(turn: StoredTurn, said: Sequence[Message]) -> list[Message]:
    """The messages that close the round; `said` are the turn's own."""
    error = {"status": "error", "data": {}, "error": {"code": "EXECUTION_ERROR", "message": CRASHED}}
    closed = [result_message(caller, call, one_line(error)) for caller, call in open_calls(said)]
    return [*closed, final_message(turn.id, "", _WHY)]


def last_events(turn: StoredTurn, said: Sequence[Message]) -> list[Event]:
    """What the client is told: every open call interrupted, and the turn's end."""
    told: list[Event] = [
        ToolCallEvent(call.id, call.tool, call.tool, "interrupted", caller.metadata.step or 0)
        for caller, call in open_calls(said)
    ]
    gone = TurnError("internal_error", f"{_WHY}.", "Send the message again to go on.")
    steps = max((message.metadata.step or 0 for message in said), default=0)
    ended = TurnResult(turn.chat_id, turn.id, "failed", "", steps, turn.last_usage or Usage(), error=gone)
    return [*told, TurnEnded(ended)]


def ended(turn: StoredTurn) -> StoredTurn:
    """The turn as it is written down."""
    return replace(turn, status="ended", stop_reason="failed")
