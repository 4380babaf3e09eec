"""What a chat tells the outside, as it happens: one closed union, told in order (wire.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from codelaw.domain.chats import Level, Todo, TurnResult
from codelaw.domain.checkpoints import CompactionReport
from codelaw.domain.files import OutputStream
from codelaw.domain.media.images import Image
from codelaw.domain.models import CacheMiss, Usage
from codelaw.domain.permissions import Decision
from codelaw.domain.served import ServerStateName

Where = TypeVar("Where")
CompactionPhase = Literal["started", "summarising", "finished", "failed", "cancelled"]
SteerState = Literal["waiting", "told", "withdrawn", "returned"]
HookMoment = Literal[
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "Stop",
    "SubagentStop",
    "SessionStart",
    "PreCompact",
    "PostCompact",
]
HookStatus = Literal["running", "passed", "blocked", "failed", "cancelled"]
"""`blocked`: it has refused or held up what it was asked about."""
CallStatus = Literal["pending", "awaiting_approval", "running", "completed", "failed", "rejected", "interrupted"]


MentionKind = Literal["file", "folder", "symbol", "resource", "special", "unresolved"]
"""`special` is what git, a terminal or the editor's diagnostics say."""


@dataclass(frozen=True, slots=True)
class Mention:
    """An `@path` in the user's text (M-4), or another mention (M-8)."""

    path: str
    """Of what is not a path: as it is typed behind the `@`, without quotes."""
    kind: MentionKind
    uri: str | None = None
    reminded: bool = False
    """Whether the reminder names it; at most five are."""


@dataclass(frozen=True, slots=True)
class TurnStarted:
    text: str
    mentions: tuple[Mention, ...] = ()
    mentions_left_out: int = 0
    steered: bool = False
    """It is made of what was sent while the answer before came, and began by itself (R-9)."""
    steers: tuple[str, ...] = ()
    """The ids of those messages."""
    images: tuple[Image, ...] = ()
    """Pictures that were sent with it (M-6)."""
    kind: Literal["turn_started"] = "turn_started"


@dataclass(frozen=True, slots=True)
class ThoughtDelta:
    delta: str
    step: int
    progress: bool | None = None
    """It is a note on how the work goes, in a model's own words (P-6)."""
    kind: Literal["thought"] = "thought"


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    delta: str
    step: int
    kind: Literal["answer"] = "answer"


@dataclass(frozen=True, slots=True)
class ToolCallEvent:
    """An upsert by `call_id`; a field left None is unchanged."""

    call_id: str
    tool: str
    title: str
    status: CallStatus
    step: int
    args: Mapping[str, Any] | None = None
    summary: str | None = None
    diff: str | None = None
    decision: Decision | None = None
    parent: str | None = None
    """The call whose child turn made this one; its step is counted in the child (X-4)."""
    kind: Literal["tool_call"] = "tool_call"


@dataclass(frozen=True, slots=True)
class ToolOutputEvent:
    """What a command has printed since the last one, while it runs.

    It is sent and not kept: it has the `seq` of the event before it, and the call's result has it all, bounded.
    """

    call_id: str
    stream: OutputStream
    delta: str
    step: int
    parent: str | None = None
    """As in `ToolCallEvent`."""
    kind: Literal["tool_output"] = "tool_output"


@dataclass(frozen=True, slots=True)
class TodoEvent:
    items: tuple[Todo, ...]
    step: int
    kind: Literal["todo"] = "todo"


@dataclass(frozen=True, slots=True)
class UsageEvent:
    """Usage of one call, and how full the window is."""

    usage: Usage
    context_tokens: int
    context_window: int
    step: int
    parent: str | None = None
    """As in `ToolCallEvent`: the window is the child's."""
    cache_miss: CacheMiss | None = None
    kind: Literal["usage"] = "usage"


@dataclass(frozen=True, slots=True)
class SteerEvent:
    """A message that the user has sent while a turn ran, as typed, and what has become of it: an upsert by `id` (R-9).

    One that still waits when the answer comes is next heard of in `TurnStarted.steers`.
    """

    text: str
    step: int | None = None
    """At which it came or was told; None before the first."""
    id: str = ""
    """Empty in older stores, which have only such as were told."""
    state: SteerState = "told"
    mentions: tuple[Mention, ...] = ()
    """Looked up when it is told (M-7)."""
    mentions_left_out: int = 0
    images: tuple[Image, ...] = ()
    """Pictures that were sent with it, which the chat keeps from then on (M-6)."""
    kind: Literal["steer"] = "steer"


@dataclass(frozen=True, slots=True)
class CompactionEvent:
    """A compaction's progress; the last one is `finished`, `failed` or `cancelled` and has a report (K-10).

    One that a person asked for while no turn runs has the empty string as its turn.
    """

    phase: CompactionPhase
    report: CompactionReport | None = None
    owner: str = ""
    """The server instance at work, so that another can end what this one left open when it died; not on the wire."""
    kind: Literal["compaction"] = "compaction"


@dataclass(frozen=True, slots=True)
class RetryEvent:
    """The step is asked again: its deltas so far are withdrawn."""

    attempt: int
    in_seconds: float
    reason: str
    step: int
    kind: Literal["retry"] = "retry"


@dataclass(frozen=True, slots=True)
class HookRun:
    """A hook's run: an upsert by `id` (X-7). One that ran before the turn began, or between turns, belongs to none."""

    id: str
    name: str
    """Its command, cut."""
    event: HookMoment
    status: HookStatus
    seconds: float
    message: str | None = None
    """What it says to the user, why it refused, or why it failed."""
    step: int | None = None
    call_id: str | None = None
    kind: Literal["hook"] = "hook"


@dataclass(frozen=True, slots=True)
class NoticeEvent:
    level: Level
    code: str
    message: str
    step: int | None = None
    kind: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True)
class McpEvent:
    """A server that people bring along is doing otherwise, in a chat that uses servers (X-3)."""

    server: str
    state: ServerStateName
    message: str = ""
    """Why, in one sentence, where that is not plain."""
    kind: Literal["mcp"] = "mcp"


@dataclass(frozen=True, slots=True)
class TurnEnded:
    result: TurnResult
    kind: Literal["turn_ended"] = "turn_ended"


Event = (
    TurnStarted
    | ThoughtDelta
    | AnswerDelta
    | ToolCallEvent
    | ToolOutputEvent
    | TodoEvent
    | UsageEvent
    | SteerEvent
    | CompactionEvent
    | RetryEvent
    | HookRun
    | NoticeEvent
    | McpEvent
    | TurnEnded
)


@dataclass(frozen=True, slots=True)
class ChatEvent:
    """An event with its place in the chat; `at` is seconds since the epoch."""

    chat_id: str
    turn_id: str
    seq: int
    at: float
    event: Event


RESERVED = 100_000
"""Numbers behind the last stored one that a server may have given out and not stored, as when the disk was full."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a chat's events as a server knows them; -1: none."""

    stored: int = -1
    """The last that it has stored."""
    given: int = -1
    """The last that it has given out."""


def of_child(event: Event, parent: str) -> Event | None:
    """What is told of an event of a call's child turn: its calls, their output and its usage name the call (X-4).

    Words of a child are told by its report; the deltas of a step belong to the chat's own turn, and so does what
    withdraws them.
    """
    match event:
        case ToolCallEvent() | ToolOutputEvent() | UsageEvent():
            return replace(event, parent=parent)
        case RetryEvent(reason=reason):
            return NoticeEvent("info", "subagent_retry", f"A subagent asks its model again: {reason}.")
        case NoticeEvent():
            return replace(event, step=None)
        case HookRun():
            return event
        case _:
            return None


def still_waiting(reported: Iterable[tuple[Where, Event]]) -> list[tuple[Where, SteerEvent]]:
    """Of events in their order, each with where it stands: the steers that wait after the last of them (R-9)."""
    waiting: dict[str, tuple[Where, SteerEvent]] = {}
    for where, event in reported:
        match event:
            case SteerEvent(id=steer_id, state="waiting"):
                waiting[steer_id] = where, event
            case SteerEvent(id=steer_id):
                waiting.pop(steer_id, None)
            case TurnStarted(steers=steers):
                for steer_id in steers:
                    waiting.pop(steer_id, None)
            case _:
                pass
    return list(waiting.values())
