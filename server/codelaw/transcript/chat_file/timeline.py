"""What happened in a turn, gathered from its events: the order in which a person is told of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from codelaw.domain.chats import Level, TurnResult
from codelaw.domain.checkpoints import CompactionReport
from codelaw.domain.events import (
    AnswerDelta,
    CallStatus,
    ChatEvent,
    CompactionEvent,
    NoticeEvent,
    RetryEvent,
    ThoughtDelta,
    ToolCallEvent,
    TurnEnded,
    TurnStarted,
)

SETTLED: frozenset[CallStatus] = frozenset({"completed", "failed", "rejected", "interrupted"})


@dataclass(slots=True)
class Said:
    """A thought, or a part of the answer."""

    kind: Literal["thought", "answer"]
    step: int
    text: str


@dataclass(slots=True)
class Called:
    """A tool call as it stands now."""

    id: str
    tool: str
    title: str
    status: CallStatus
    step: int
    args: Mapping[str, Any] | None = None
    summary: str | None = None
    diff: str | None = None
    decision: str | None = None
    """Who decided, and by which rule."""
    parent: str | None = None
    """The call whose child turn made it (X-4); its step is counted there."""

    @property
    def settled(self) -> bool:
        return self.status in SETTLED


@dataclass(slots=True)
class Noted:
    """Something the person should know."""

    level: Level
    code: str
    message: str


@dataclass(slots=True)
class Compacted:
    """A compaction within the turn."""

    report: CompactionReport


Part = Said | Called | Noted | Compacted


@dataclass(slots=True)
class Story:
    """A turn, told by its events in order. A call stands where it was settled."""

    turn_id: str
    question: str = ""
    started_at: float = 0.0
    """Seconds since the epoch."""
    parts: list[Part] = field(default_factory=list[Part])
    doing: str = ""
    """What goes on now, in a few words; empty when the turn has ended."""
    result: TurnResult | None = None
    seq: int = -1
    """The newest event that was taken in; older ones are ignored."""
    _calls: dict[str, Called] = field(default_factory=dict[str, Called])

    def take(self, event: ChatEvent) -> bool:
        """Take in an event of this turn; False when it was told before."""
        if event.seq <= self.seq:
            return False
        self.seq = event.seq
        match event.event:
            case TurnStarted(text=text):
                self.question, self.started_at, self.doing = text, event.at, "Thinking"
            case ThoughtDelta(delta=delta, step=step):
                self._say("thought", step, delta)
                self.doing = "Thinking"
            case AnswerDelta(delta=delta, step=step):
                self._say("answer", step, delta)
                self.doing = "Answering"
            case ToolCallEvent() as call:
                self._call(call)
            case RetryEvent() as retry:
                self.parts = [part for part in self.parts if not (isinstance(part, Said) and part.step == retry.step)]
                self.doing = f"Asking again: {retry.reason}"
            case NoticeEvent() as notice:
                self.parts.append(Noted(notice.level, notice.code, notice.message))
            case CompactionEvent(phase=phase, report=report):
                self.doing = "Compacting the chat" if report is None else "Thinking"
                if report is not None and (report.message or phase == "finished"):
                    self.parts.append(Compacted(report))
            case TurnEnded(result=result):
                self.result, self.doing = result, ""
            case _:
                pass
        return True

    @property
    def answer(self) -> str:
        """The answer so far; of an ended turn the whole one."""
        if self.result is not None and self.result.answer:
            return self.result.answer
        return "".join(part.text for part in self.parts if isinstance(part, Said) and part.kind == "answer")

    def _say(self, kind: Literal["thought", "answer"], step: int, delta: str) -> None:
        last = self.parts[-1] if self.parts else None
        if isinstance(last, Said) and (last.kind, last.step) == (kind, step):
            last.text += delta
        else:
            self.parts.append(Said(kind, step, delta))

    def _call(self, event: ToolCallEvent) -> None:
        call = self._calls.get(event.call_id)
        if call is None:
            call = Called(event.call_id, event.tool, event.title, event.status, event.step, parent=event.parent)
            self._calls[event.call_id] = call
            self.parts.append(call)
        call.title, call.status = event.title or call.title, event.status
        call.args = event.args if event.args is not None else call.args
        call.summary = event.summary if event.summary is not None else call.summary
        call.diff = event.diff if event.diff is not None else call.diff
        if event.decision is not None:
            call.decision = f"{event.decision.source}: {event.decision.rule}"
        if call.settled:
            self.parts = [part for part in self.parts if part is not call]
            self.parts.append(call)
            self.doing = "Thinking"
        elif call.status != "pending":
            waits = " (waits for your approval)" if call.status == "awaiting_approval" else ""
            self.doing = f"{call.title}{waits}"


def stories(events: Iterable[ChatEvent]) -> dict[str, Story]:
    """The turns of a chat in the order of their first events."""
    found: dict[str, Story] = {}
    for event in events:
        if event.turn_id:
            found.setdefault(event.turn_id, Story(event.turn_id)).take(event)
    return found
