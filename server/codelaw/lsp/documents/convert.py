"""Domain values ↔ wire types."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any

from codelaw.domain import chats, edits, events, messages, permissions, reports, requests
from codelaw.domain.errors import Refusal
from codelaw.domain.media import images
from codelaw.domain.models import Usage
from codelaw.lsp.documents.documents import EditorDocuments
from codelaw.lsp.documents.positions import code_points, line_at, line_starts
from codelaw.protocol import approvals as wire_approvals
from codelaw.protocol import chats as wire
from codelaw.protocol import contexts as wire_contexts
from codelaw.protocol import events as wire_events
from codelaw.protocol.base import CacheMiss
from codelaw.protocol.enclosed import EditorParams, Enclosure, ImageParams, Position, Range, StrategyOptions, TextParams

ENCODED_BYTES = images.MOST_BYTES * 4 // 3 + 4


def message(value: messages.Message) -> wire.Message:
    facts = value.metadata
    metadata = wire.MessageMetadata.of(
        facts,
        calls=[wire.Call.of(call, arguments=dict(call.arguments)) for call in facts.calls] or None,
        fragments=[wire.MessageFragment.of(part) for part in facts.fragments] or None,
        images=_images(facts.images),
        searches=[_search(one) for one in facts.searches] or None,
        interrupted=facts.interrupted or None,
        damaged=facts.damaged or None,
    )
    return wire.Message.of(value, metadata=metadata)


def _search(value: messages.WebSearch) -> wire.WebSearch:
    found = [wire.FoundPage.of(page) for page in value.found]
    return wire.WebSearch.of(value, found=found, problem=value.problem or None)


def turn_result(value: chats.TurnResult) -> wire.TurnResult:
    return wire.TurnResult.of(
        value,
        usage=wire.Usage.of(value.usage, cost_usd=value.cost_usd, cache_miss=_missed(value), **_where_any(value.usage)),
        notices=[wire.Notice.of(item) for item in value.notices],
        changes=[wire.Change.of(item) for item in value.changes],
        error=wire.TurnError.of(value.error) if value.error else None,
    )


def chat_event(value: events.ChatEvent) -> wire_events.ChatEvent:
    return wire_events.ChatEvent.of(value, event=event(value.event))


def event(value: events.Event) -> wire_events.Event:
    convert: Callable[[Any], Any] = _EVENTS[type(value)]
    return convert(value)


def _started(value: events.TurnStarted) -> wire_events.TurnStarted:
    return wire_events.TurnStarted.of(
        value,
        mentions=_mentions(value.mentions),
        steered=value.steered or None,
        steers=list(value.steers) or None,
        images=_images(value.images),
    )


def _steer(value: events.SteerEvent) -> wire_events.Steer:
    return wire_events.Steer.of(
        value,
        mentions=_mentions(value.mentions) or None,
        mentions_left_out=value.mentions_left_out or None,
        images=_images(value.images),
    )


def _images(found: Sequence[images.Image]) -> list[wire.MessageImage] | None:
    return [wire.MessageImage.of(one) for one in found] or None


def _mentions(mentions: Sequence[events.Mention]) -> list[wire_events.Mention]:
    return [wire_events.Mention.of(item) for item in mentions]


def _tool_call(value: events.ToolCallEvent) -> wire_events.ToolCall:
    return wire_events.ToolCall.of(
        value,
        args=dict(value.args) if value.args is not None else None,
        decision=wire_events.Decision.of(value.decision) if value.decision else None,
    )


def _todo(value: events.TodoEvent) -> wire_events.Todo:
    return wire_events.Todo.of(value, items=[wire_events.TodoItem.of(item) for item in value.items])


def _where_any(usage: Usage) -> dict[str, int | None]:
    """What is told only where there was any."""
    return {"web_searches": usage.web_searches or None, "thinking_tokens": usage.thinking_tokens or None}


def _missed(value: events.UsageEvent | chats.TurnResult) -> CacheMiss | None:
    return None if value.cache_miss is None else CacheMiss.of(value.cache_miss)


def _usage(value: events.UsageEvent) -> wire_events.UsageReport:
    return wire_events.UsageReport.of(
        value.usage,
        kind=value.kind,
        cost_usd=None,
        **_where_any(value.usage),
        cache_miss=_missed(value),
        context_tokens=value.context_tokens,
        context_window=value.context_window,
        step=value.step,
        parent=value.parent,
    )


def _compaction(value: events.CompactionEvent) -> wire_events.Compaction:
    report = wire_contexts.CompactionReport.of(value.report) if value.report is not None else None
    return wire_events.Compaction.of(value, report=report)


def _mcp(value: events.McpEvent) -> wire_events.Mcp:
    return wire_events.Mcp.of(value, message=value.message or None)


_EVENTS: dict[type[Any], Callable[[Any], wire_events.Event]] = {
    events.TurnStarted: _started,
    events.ThoughtDelta: wire_events.Thought.of,
    events.AnswerDelta: wire_events.Answer.of,
    events.ToolCallEvent: _tool_call,
    events.ToolOutputEvent: wire_events.ToolOutput.of,
    events.TodoEvent: _todo,
    events.UsageEvent: _usage,
    events.SteerEvent: _steer,
    events.CompactionEvent: _compaction,
    events.RetryEvent: wire_events.Retry.of,
    events.HookRun: wire_events.HookRun.of,
    events.NoticeEvent: wire_events.NoticeGiven.of,
    events.McpEvent: _mcp,
    events.TurnEnded: lambda value: wire_events.TurnEnded(result=turn_result(value.result)),
}


def chat_record(value: reports.ChatRecord) -> wire_events.ChatRecord:
    return wire_events.ChatRecord.of(
        value,
        chat=wire.Chat.of(value.chat),
        messages=[message(item) for item in value.messages],
        events=[chat_event(item) for item in value.events],
    )


def revert_report(value: edits.RevertReport) -> wire.Reverted:
    return wire.Reverted.of(value, conflicts=[wire.RevertConflict.of(item) for item in value.conflicts])


def checkpoint_report(value: edits.CheckpointReport) -> wire.CheckpointState:
    files = [wire.CheckpointFile.of(item) for item in value.files]
    return wire.CheckpointState.of(
        value, files=files, conflicts=[wire.RevertConflict.of(item) for item in value.conflicts]
    )


def context_report(value: reports.ContextReport) -> wire_contexts.ContextReport:
    return wire_contexts.ContextReport.of(
        value,
        sections=[wire_contexts.Section.of(part) for part in value.sections],
        dropped=[wire_contexts.Dropped.of(item) for item in value.dropped],
        budget=[wire_contexts.BudgetLine.of(line) for line in value.budget],
        exact_problem=value.exact_problem or None,
        tools=[wire_contexts.ToolOffer.of(item) for item in value.tools],
    )


def archive(value: reports.ArchiveReport) -> wire_contexts.Archive:
    parts = [
        wire_contexts.ArchivedRounds.of(
            item, summary=item.by, text=item.summary.content if item.summary is not None else ""
        )
        for item in value.checkpoints
    ]
    return wire_contexts.Archive.of(value, checkpoints=parts)


def law_report(value: reports.LawReport) -> wire_contexts.LawReport:
    return wire_contexts.LawReport.of(value, documents=[wire_contexts.LawDocument.of(item) for item in value.documents])


def approval_request(value: permissions.ApprovalQuestion) -> wire_approvals.ApprovalRequest:
    return wire_approvals.ApprovalRequest.of(
        value,
        preview=wire_approvals.ApprovalPreview.of(value),
        options=[wire_approvals.ApprovalOption.of(option) for option in value.options],
        always_asked=value.always_asked or None,
        description=value.description or None,
        why=value.why or None,
    )


def attachment(value: Enclosure, documents: EditorDocuments) -> requests.Enclosed:
    """An attachment, its range in code points; a picture is decoded, which takes a moment.

    Raises:
        Refusal: `invalid_attachment`: it is not a picture, or too large.
    """
    if isinstance(value, TextParams):
        return requests.Snippet(value.title, value.text)
    if isinstance(value, ImageParams):
        return _picture(value.data)
    if value.range is None:
        return requests.Attachment(value.uri)
    return requests.Attachment(value.uri, _line_range(value.uri, value.range, documents))


def _picture(data: str) -> images.Picture:
    problem = f"it is over {images.MOST_BYTES} bytes: make it smaller."
    if len(data) <= ENCODED_BYTES:
        try:
            content = base64.b64decode(data, validate=True)
            return images.Picture(images.image_of(content), content)
        except binascii.Error:
            problem = "its data is not base64."
        except images.NoImage as error:
            problem = str(error)
    message = f"A picture was not taken: {problem}"
    raise Refusal("invalid_attachment", message, "Send the message without it, or with another one.")


def editor_state(value: EditorParams | None, documents: EditorDocuments) -> requests.EditorState | None:
    """What the user looks at; an empty selection is none."""
    if value is None:
        return None
    chosen, visible = value.selection, value.visible
    return requests.EditorState(
        value.uri,
        value.cursor.line if value.cursor is not None else value.line,
        _line_range(value.uri, chosen, documents) if chosen is not None and chosen.start != chosen.end else None,
        (visible.start.line, visible.end.line) if visible is not None else None,
        value.version,
    )


def _line_range(uri: str, value: Range, documents: EditorDocuments) -> requests.LineRange:
    """A range in code points.

    A document that is not open keeps its range as sent: its text is not known here, and no editor has a selection in
    a document that it has not opened.
    """
    buffer = documents.get(uri)
    text = buffer.text if buffer is not None else None
    starts = line_starts(text) if text is not None else []

    def character(place: Position) -> int:
        if text is None:
            return place.character
        return code_points(line_at(text, starts, place.line), place.character, documents.encoding)

    return requests.LineRange(value.start.line, character(value.start), value.end.line, character(value.end))


def strategy_options(value: StrategyOptions | None) -> dict[str, float]:
    """The numbers that were given, by the names of settings in Python."""
    return {} if value is None else value.model_dump(exclude_none=True)
