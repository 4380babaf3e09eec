"""A turn, gathered from its events, and as a chat file shows it (E-3).

The answer stands there verbatim, everything else as short quoted lines.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

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
from codelaw.domain.safety.unseen import legible
from codelaw.transcript.chat_file.chat_file import escape_comments
from codelaw.transcript.chat_file.fences import left_open

LINE_CHARACTERS = 160
"""Of a quoted line."""
STATUS_CHARACTERS = 100
OF_A_CHILD = "↳ "
"""In front of what a child turn has called (X-4)."""
LEVELS: dict[Level, str] = {"info": "Note", "warning": "Warning", "error": "Error"}
_WORDS = {"failed": "failed", "rejected": "refused", "interrupted": "interrupted"}
_ENDS = {
    "cancelled": "Stopped.",
    "step_limit": "Stopped: the turn has taken all its steps.",
    "token_limit": "Stopped: the turn has used all its tokens.",
    "refused": "The model refused to answer.",
    "failed": "The turn failed.",
}


SETTLED: frozenset[CallStatus] = frozenset({"completed", "failed", "rejected", "interrupted"})


@dataclass(slots=True)
class Spoken:
    """A thought, or a part of the answer."""

    kind: Literal["thought", "answer"]
    step: int
    text: str


Part = Spoken | ToolCallEvent | NoticeEvent | CompactionEvent
"""A call stands there as it is by now."""


@dataclass(slots=True)
class Story:
    """A turn in the order of its events. A call stands where it was settled."""

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
    _calls: dict[str, ToolCallEvent] = field(default_factory=dict[str, ToolCallEvent])

    def take(self, event: ChatEvent) -> bool:
        """Take in an event of this turn; False when it was taken before."""
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
                self.parts = [part for part in self.parts if not (isinstance(part, Spoken) and part.step == retry.step)]
                self.doing = f"Asking again: {retry.reason}"
            case NoticeEvent() as notice:
                self.parts.append(notice)
            case CompactionEvent(phase=phase, report=report) as compaction:
                self.doing = "Compacting the chat" if report is None else "Thinking"
                if report is not None and (report.message or phase == "finished"):
                    self.parts.append(compaction)
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
        return "".join(part.text for part in self.parts if isinstance(part, Spoken) and part.kind == "answer")

    def _say(self, kind: Literal["thought", "answer"], step: int, delta: str) -> None:
        last = self.parts[-1] if self.parts else None
        if isinstance(last, Spoken) and (last.kind, last.step) == (kind, step):
            last.text += delta
        else:
            self.parts.append(Spoken(kind, step, delta))

    def _call(self, event: ToolCallEvent) -> None:
        known = self._calls.get(event.call_id)
        call = event if known is None else _merged(known, event)
        self._calls[event.call_id] = call
        if known is not None and not settled(call):
            self.parts = [call if part is known else part for part in self.parts]
        else:
            self.parts = [*(part for part in self.parts if part is not known), call]
        if settled(call):
            self.doing = "Thinking"
        elif call.status != "pending":
            waits = " (waits for your approval)" if call.status == "awaiting_approval" else ""
            self.doing = f"{call.title}{waits}"


def _merged(known: ToolCallEvent, event: ToolCallEvent) -> ToolCallEvent:
    return replace(
        known,
        title=event.title or known.title,
        status=event.status,
        args=event.args if event.args is not None else known.args,
        summary=event.summary if event.summary is not None else known.summary,
        diff=event.diff if event.diff is not None else known.diff,
        decision=event.decision or known.decision,
    )


def settled(call: ToolCallEvent) -> bool:
    """Whether the call has its result."""
    return call.status in SETTLED


def stories(events: Iterable[ChatEvent]) -> dict[str, Story]:
    """The turns of a chat in the order of their first events."""
    found: dict[str, Story] = {}
    for event in events:
        if event.turn_id:
            found.setdefault(event.turn_id, Story(event.turn_id)).take(event)
    return found


def block_body(story: Story) -> str:
    """The body of the turn's block.

    While the turn runs, a later body begins with the ones before, unless a step is asked again.
    """
    pieces: list[tuple[bool, str]] = []
    """Whether a piece is quoted, and its text."""
    spoken = False
    for part in story.parts:
        match part:
            case Spoken(kind="answer", text=text):
                pieces.append((False, escape_comments(text)))
                spoken = spoken or bool(text.strip())
            case ToolCallEvent() if settled(part):
                pieces.append((True, call_line(part)))
            case NoticeEvent() | CompactionEvent():
                pieces.append((True, noted(part)))
            case _:
                pass
    if story.result is not None:
        if not spoken and story.result.answer.strip():
            pieces.append((False, escape_comments(story.result.answer)))
        pieces += [(True, line) for line in end_lines(story, story.result)]
        return closed(_joined(pieces))
    return _joined(pieces)


def status(story: Story) -> str:
    """What goes on, in one line; empty when the turn has ended."""
    if not story.doing:
        return ""
    words = one_line(story.doing, STATUS_CHARACTERS).replace("*", "")
    return f"*{words} …*"


def call_line(call: ToolCallEvent) -> str:
    """A settled call in one quoted line."""
    line = f"> - {OF_A_CHILD if call.parent else ''}{one_line(call.title)}"
    if call.status in _WORDS:
        line += f" — **{_WORDS[call.status]}**"
    if call.summary:
        line += f": {one_line(call.summary)}"
    return line


def noted(part: NoticeEvent | CompactionEvent, most: int = LINE_CHARACTERS) -> str:
    """A notice or a compaction in one quoted line."""
    if isinstance(part, NoticeEvent):
        return f"> - **{LEVELS[part.level]}:** {one_line(part.message, most)}"
    report = part.report or CompactionReport(compacted=False, reason="cancelled")
    tokens = f"{report.tokens_before} → {report.tokens_after} tokens"
    words = report.message or f"{report.rounds_archived} older rounds were archived ({tokens})."
    return f"> - **Note:** {one_line(words)}"


def end_lines(story: Story, result: TurnResult) -> list[str]:
    """How a turn ended, where that is more than its answer."""
    known = {(part.code, part.message) for part in story.parts if isinstance(part, NoticeEvent)}
    lines = [
        f"> - **{LEVELS[item.level]}:** {one_line(item.message)}"
        for item in result.notices
        if (item.code, item.message) not in known
    ]
    if result.changes:
        names = ", ".join(f"{change.path} (+{change.added} −{change.removed})" for change in result.changes)
        lines.append(f"> - **Changed:** {one_line(names, 2000)}")
    if result.error is not None:
        lines.append(
            f"> - **Error:** {one_line(result.error.message, 1000)} {one_line(result.error.hint, 1000)}".rstrip()
        )
    elif result.stop_reason in _ENDS:
        lines.append(f"> - **{_ENDS[result.stop_reason]}**")
    return lines


def one_line(text: str, most: int = LINE_CHARACTERS) -> str:
    """A text as a line that begins no other block of Markdown, with what hides in it made visible."""
    line = escape_comments(" ".join(legible(text).split()))
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _joined(pieces: list[tuple[bool, str]]) -> str:
    body, before = "", False
    for quoted, text in pieces:
        if not text.strip():
            continue
        if body:
            body += "\n" if quoted and before else "\n\n"
        # A block of code that an answer leaves open would swallow what follows it.
        if quoted and not before and (fence := left_open(body)) is not None:
            body = f"{body.rstrip(chr(10))}\n{fence}\n\n"
        body += text if quoted else text.strip("\n")
        before = quoted
    return body


def closed(body: str) -> str:
    """A finished body: nothing in it reaches beyond its end."""
    fence = left_open(body)
    return body if fence is None else f"{body.rstrip(chr(10))}\n{fence}"
