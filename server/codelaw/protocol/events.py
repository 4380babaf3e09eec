"""`codelaw/chat/event`: one closed union, told apart by `kind`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from codelaw.domain.chats import Level
from codelaw.domain.events import CallStatus, CompactionPhase, HookMoment, HookStatus, MentionKind, SteerState
from codelaw.domain.served import ServerStateName
from codelaw.protocol.base import Method, OrNone, Payload
from codelaw.protocol.chats import Chat, Message, MessageImage, ReadChat, TurnResult, Usage
from codelaw.protocol.contexts import CompactionReport


class Mention(Payload):
    path: str
    kind: MentionKind
    uri: str | None = None
    reminded: bool


class TurnStarted(Payload):
    kind: Literal["turn_started"] = "turn_started"
    text: str
    mentions: list[Mention]
    mentions_left_out: int
    steered: OrNone[Literal[True]] = None
    """It began by itself, of what was sent while the answer before came (R-9)."""
    steers: OrNone[list[str]] = None
    """The ids of the `steer` events that it is made of, their texts joined by a blank line."""
    images: OrNone[list[MessageImage]] = None
    """Pictures that were sent with it; `codelaw/chat/picture` gives their bytes."""


class Thought(Payload):
    kind: Literal["thought"] = "thought"
    delta: str
    step: int
    progress: Literal[True] | None = None
    """It is a note on how the work goes, which the model wrote for the user."""


class Answer(Payload):
    kind: Literal["answer"] = "answer"
    delta: str
    step: int


class Decision(Payload):
    """Why a call was allowed, asked about or denied (S-1)."""

    action: Literal["allow", "ask", "deny"]
    source: Literal["mode", "deny", "allow", "grant", "default", "user", "hook"]
    rule: str


class ToolCall(Payload):
    """An upsert by `callId`; a field left out is unchanged."""

    kind: Literal["tool_call"] = "tool_call"
    call_id: str
    tool: str
    title: str
    status: CallStatus
    step: int
    args: dict[str, Any] | None = None
    summary: str | None = None
    diff: str | None = None
    decision: Decision | None = None
    parent: str | None = None
    """The `callId` of the `Task` call whose child turn made this call; `step` is counted in the child (X-4)."""


class ToolOutput(Payload):
    """What a command has printed since the last one, while it runs: at most ten a second, and bounded.

    Its `seq` is that of the event before it, and `chat/read` does not have it.
    """

    kind: Literal["tool_output"] = "tool_output"
    call_id: str
    stream: Literal["stdout", "stderr"]
    delta: str
    step: int
    parent: str | None = None


class TodoItem(Payload):
    content: str
    status: Literal["pending", "in_progress", "completed", "cancelled"]


class Todo(Payload):
    kind: Literal["todo"] = "todo"
    items: list[TodoItem]
    step: int


class UsageReport(Usage):
    """Usage of one model call, and how full the window is, in tokens; with a `parent` both are a child turn's (X-4)."""

    kind: Literal["usage"] = "usage"
    context_tokens: int
    context_window: int
    step: int
    parent: str | None = None


class Steer(Payload):
    """What the user has sent while a turn ran, as typed: an upsert by `id` (R-9).

    `waiting` until the model reads it before its next step (`told`), the user takes it back (`withdrawn`), or the turn
    ends otherwise than by an answer (`returned`: it is not sent). What waits when the answer comes becomes the next
    turn, whose `turn_started` names it in `steers`. Chats of older versions have events without an `id`; those were
    told.
    """

    kind: Literal["steer"] = "steer"
    text: str
    id: str = ""
    state: SteerState = "told"
    step: int | None = None
    mentions: OrNone[list[Mention]] = None
    mentions_left_out: OrNone[int] = None
    images: OrNone[list[MessageImage]] = None


class Compaction(Payload):
    """A compaction's progress; the last one is `finished`, `failed` or `cancelled` and has the report (K-10)."""

    kind: Literal["compaction"] = "compaction"
    phase: CompactionPhase
    report: CompactionReport | None = None


class Retry(Payload):
    """The step is asked again: its deltas so far are withdrawn."""

    kind: Literal["retry"] = "retry"
    attempt: int
    in_seconds: float
    reason: str
    step: int


class HookRun(Payload):
    """A hook's run: an upsert by `id` (X-7). `name` is its command, cut; `message` what it says, or why it failed."""

    kind: Literal["hook"] = "hook"
    id: str
    name: str
    event: HookMoment
    status: HookStatus
    seconds: float
    message: str | None = None
    step: int | None = None
    call_id: str | None = None


class NoticeGiven(Payload):
    kind: Literal["notice"] = "notice"
    level: Level
    code: str
    message: str
    step: int | None = None


class Mcp(Payload):
    """A server that people bring along is doing otherwise (X-3); in chats that use servers."""

    kind: Literal["mcp"] = "mcp"
    server: str
    state: ServerStateName
    message: OrNone[str] = None


class TurnEnded(Payload):
    kind: Literal["turn_ended"] = "turn_ended"
    result: TurnResult


Event = Annotated[
    TurnStarted
    | Thought
    | Answer
    | ToolCall
    | ToolOutput
    | Todo
    | UsageReport
    | Steer
    | Compaction
    | Retry
    | HookRun
    | NoticeGiven
    | Mcp
    | TurnEnded,
    Field(discriminator="kind"),
]


class ChatEvent(Payload):
    """An event with its place in the chat; `seq` rises by one per chat, `at` is in seconds since the epoch.

    `turnId` is empty for a compaction that was asked for while no turn ran.
    """

    chat_id: str
    turn_id: str
    seq: int
    at: float
    event: Event


class ChatRecord(Payload):
    """A chat with what was said and what happened; `earlier`: there are turns before those given."""

    chat: Chat
    messages: list[Message]
    events: list[ChatEvent]
    running: str | None
    earlier: bool


METHODS = {
    "codelaw/chat/read": Method(ReadChat, ChatRecord),
}
