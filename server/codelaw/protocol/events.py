"""`codelaw/chat/event`: one closed union, told apart by `kind`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from codelaw.domain import chats, events, permissions, reports
from codelaw.protocol.base import OrNone, Payload
from codelaw.protocol.chats import UsagePayload
from codelaw.protocol.contexts import CompactionReportPayload


class MentionPayload(Payload, copies=events.Mention):
    pass


class TurnStartedPayload(Payload, copies=events.TurnStarted, maybe="steers images"):
    steered: OrNone[Literal[True]] = None


class Thought(Payload, copies=events.ThoughtDelta):
    progress: Literal[True] | None = None
    """It is a note on how the work goes, which the model wrote for the user."""


class Answer(Payload, copies=events.AnswerDelta):
    pass


class DecisionPayload(Payload, copies=permissions.Decision, without="always_asked"):
    """Why a call was allowed, asked about or denied (S-1)."""


class ToolCall(Payload, copies=events.ToolCallEvent):
    """An upsert by `callId`; a field left out is unchanged."""


class ToolOutput(Payload, copies=events.ToolOutputEvent):
    """What a command has printed since the last one, while it runs: at most ten a second, and bounded.

    Its `seq` is that of the event before it, and `chat/read` does not have it.
    """


class TodoItem(Payload, copies=chats.Todo):
    pass


class TodoPayload(Payload, copies=events.TodoEvent):
    pass


class UsageReport(UsagePayload, copies=events.UsageEvent, without="usage cache_miss"):
    """Usage of one model call, and how full the window is, in tokens; with a `parent` both are a child turn's (X-4)."""

    @model_validator(mode="before")
    @classmethod
    def _of_event(cls, value: Any) -> Any:
        if not isinstance(value, events.UsageEvent):
            return value
        return cls.facts(value.usage) | cls.facts(value)


class Steer(Payload, copies=events.SteerEvent, maybe="mentions mentions_left_out images"):
    """What the user has sent while a turn ran, as typed: an upsert by `id` (R-9).

    `waiting` until the model reads it before its next step (`told`), the user takes it back (`withdrawn`), or the turn
    ends otherwise than by an answer (`returned`: it is not sent). What waits when the answer comes becomes the next
    turn, whose `turn_started` names it in `steers`. Chats of older versions have events without an `id`; those were
    told.
    """


class Compaction(Payload, copies=events.CompactionEvent, without="owner"):
    """A compaction's progress; the last one is `finished`, `failed` or `cancelled` and has the report (K-10)."""

    report: CompactionReportPayload | None = None


class Retry(Payload, copies=events.RetryEvent):
    """The step is asked again: its deltas so far are withdrawn."""


class HookRunPayload(Payload, copies=events.HookRun):
    """A hook's run: an upsert by `id` (X-7). `name` is its command, cut; `message` what it says, or why it failed."""


class NoticeGiven(Payload, copies=events.NoticeEvent):
    pass


class Mcp(Payload, copies=events.McpEvent, maybe="message"):
    """A server that people bring along is doing otherwise (X-3); in chats that use servers."""


class TurnEndedPayload(Payload, copies=events.TurnEnded):
    pass


Event = Annotated[
    TurnStartedPayload
    | Thought
    | Answer
    | ToolCall
    | ToolOutput
    | TodoPayload
    | UsageReport
    | Steer
    | Compaction
    | Retry
    | HookRunPayload
    | NoticeGiven
    | Mcp
    | TurnEndedPayload,
    Field(discriminator="kind"),
]


class ChatEventPayload(Payload, copies=events.ChatEvent):
    """An event with its place in the chat; `seq` rises by one per chat, `at` is in seconds since the epoch.

    `turnId` is empty for a compaction that was asked for while no turn ran.
    """

    event: Event


class ChatRecordPayload(Payload, copies=reports.ChatRecord, without="losses"):
    """A chat with what was said and what happened; `earlier`: there are turns before those given."""
