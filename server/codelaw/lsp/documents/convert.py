"""Domain values ↔ wire types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from codelaw.domain import chats, checkpoints, edits, events, messages, models, permissions, reports, requests
from codelaw.lsp.documents.documents import EditorDocuments
from codelaw.lsp.documents.positions import code_points, line_at, line_starts
from codelaw.protocol import approvals as wire_approvals
from codelaw.protocol import chats as wire
from codelaw.protocol import contexts as wire_contexts
from codelaw.protocol import events as wire_events
from codelaw.protocol import models as wire_models


def chat(value: chats.Chat) -> wire.Chat:
    return wire.Chat(
        id=value.id,
        title=value.title,
        kind=value.kind,
        mode=value.mode,
        model=value.model,
        strategy=value.strategy,
        created_at=value.created_at,
        updated_at=value.updated_at,
        turns=value.turns,
        running=value.running,
    )


def message(value: messages.Message) -> wire.Message:
    facts = value.metadata
    metadata = wire.MessageMetadata(
        step=facts.step,
        tool_name=facts.tool_name,
        call_id=facts.call_id,
        mtime=facts.mtime,
        answer=facts.answer,
        calls=[wire.Call(id=call.id, tool=call.tool, arguments=dict(call.arguments)) for call in facts.calls] or None,
        fragments=[wire.MessageFragment(name=part.name, text=part.text) for part in facts.fragments] or None,
        note=facts.note,
        ref=facts.ref,
        interrupted=True if facts.interrupted else None,
        damaged=True if facts.damaged else None,
    )
    return wire.Message(id=value.id, turn_id=value.turn_id, role=value.role, content=value.content, metadata=metadata)


def turn_result(value: chats.TurnResult) -> wire.TurnResult:
    return wire.TurnResult(
        chat_id=value.chat_id,
        turn_id=value.turn_id,
        stop_reason=value.stop_reason,
        answer=value.answer,
        steps=value.steps,
        usage=wire.Usage(**_usage(value.usage), cost_usd=value.cost_usd),
        notices=[notice(item) for item in value.notices],
        changes=[
            wire.Change(uri=item.uri, path=item.path, kind=item.kind, added=item.added, removed=item.removed)
            for item in value.changes
        ],
        error=wire.TurnError(code=value.error.code, message=value.error.message, hint=value.error.hint)
        if value.error
        else None,
        model=value.model,
    )


def notice(value: chats.Notice) -> wire.Notice:
    return wire.Notice(level=value.level, code=value.code, message=value.message)


def _usage(value: models.Usage) -> dict[str, Any]:
    return {
        "input_tokens": value.input_tokens,
        "cache_read_tokens": value.cache_read_tokens,
        "cache_write_tokens": value.cache_write_tokens,
        "output_tokens": value.output_tokens,
        "total_tokens": value.total_tokens,
    }


def chat_event(value: events.ChatEvent) -> wire_events.ChatEvent:
    return wire_events.ChatEvent(
        chat_id=value.chat_id, turn_id=value.turn_id, seq=value.seq, at=value.at, event=event(value.event)
    )


def event(value: events.Event) -> wire_events.Event:
    convert: Callable[[Any], Any] = _EVENTS[type(value)]
    return convert(value)


def _started(value: events.TurnStarted) -> wire_events.TurnStarted:
    return wire_events.TurnStarted(
        text=value.text,
        mentions=_mentions(value.mentions),
        mentions_left_out=value.mentions_left_out,
        steered=True if value.steered else None,
        steers=list(value.steers) or None,
    )


def _steer(value: events.SteerEvent) -> wire_events.Steer:
    return wire_events.Steer(
        text=value.text,
        id=value.id,
        state=value.state,
        step=value.step,
        mentions=_mentions(value.mentions) or None,
        mentions_left_out=value.mentions_left_out or None,
    )


def _mentions(mentions: Sequence[events.Mention]) -> list[wire_events.Mention]:
    return [
        wire_events.Mention(path=item.path, kind=item.kind, uri=item.uri, reminded=item.reminded) for item in mentions
    ]


def _tool_call(value: events.ToolCallEvent) -> wire_events.ToolCall:
    decision = value.decision
    return wire_events.ToolCall(
        call_id=value.call_id,
        tool=value.tool,
        title=value.title,
        status=value.status,
        step=value.step,
        args=dict(value.args) if value.args is not None else None,
        summary=value.summary,
        diff=value.diff,
        decision=wire_events.Decision(action=decision.action, source=decision.source, rule=decision.rule)
        if decision
        else None,
    )


def _usage_report(value: events.UsageEvent) -> wire_events.UsageReport:
    return wire_events.UsageReport(
        **_usage(value.usage),
        context_tokens=value.context_tokens,
        context_window=value.context_window,
        step=value.step,
    )


def _todo(value: events.TodoEvent) -> wire_events.Todo:
    items = [wire_events.TodoItem(content=item.content, status=item.status) for item in value.items]
    return wire_events.Todo(items=items, step=value.step)


def _compaction(value: events.CompactionEvent) -> wire_events.Compaction:
    report = compaction_report(value.report) if value.report is not None else None
    return wire_events.Compaction(phase=value.phase, report=report)


def _retry(value: events.RetryEvent) -> wire_events.Retry:
    return wire_events.Retry(attempt=value.attempt, in_seconds=value.in_seconds, reason=value.reason, step=value.step)


def _notice_given(value: events.NoticeEvent) -> wire_events.NoticeGiven:
    return wire_events.NoticeGiven(level=value.level, code=value.code, message=value.message, step=value.step)


_EVENTS: dict[type[Any], Callable[[Any], wire_events.Event]] = {
    events.TurnStarted: _started,
    events.ThoughtDelta: lambda value: wire_events.Thought(delta=value.delta, step=value.step),
    events.AnswerDelta: lambda value: wire_events.Answer(delta=value.delta, step=value.step),
    events.ToolCallEvent: _tool_call,
    events.TodoEvent: _todo,
    events.UsageEvent: _usage_report,
    events.SteerEvent: _steer,
    events.CompactionEvent: _compaction,
    events.RetryEvent: _retry,
    events.NoticeEvent: _notice_given,
    events.TurnEnded: lambda value: wire_events.TurnEnded(result=turn_result(value.result)),
}


def chat_record(value: reports.ChatRecord) -> wire_events.ChatRecord:
    return wire_events.ChatRecord(
        chat=chat(value.chat),
        messages=[message(item) for item in value.messages],
        events=[chat_event(item) for item in value.events],
        running=value.running,
        earlier=value.earlier,
    )


def revert_report(value: edits.RevertReport) -> wire.Reverted:
    conflicts = [wire.RevertConflict(uri=item.uri, reason=item.reason) for item in value.conflicts]
    return wire.Reverted(reverted=list(value.reverted), conflicts=conflicts)


def context_report(value: reports.ContextReport) -> wire_contexts.ContextReport:
    sections = [
        wire_contexts.Section(
            layer=part.layer,
            name=part.name,
            tokens=part.tokens,
            chars=part.chars,
            cut=part.cut,
            cached=part.cached,
            text=part.text,
        )
        for part in value.sections
    ]
    return wire_contexts.ContextReport(
        sections=sections,
        total_tokens=value.total_tokens,
        context_window=value.context_window,
        threshold=value.threshold,
        strategy=value.strategy,
        dropped=[wire_contexts.Dropped(name=item.name, reason=item.reason) for item in value.dropped],
        text=value.text,
        kept=value.kept,
        budget=[
            wire_contexts.BudgetLine(part=line.part, share=line.share, tokens=line.tokens, over=line.over)
            for line in value.budget
        ],
        model=value.model,
        exact_tokens=value.exact_tokens,
        exact_problem=value.exact_problem or None,
    )


def compaction_report(value: checkpoints.CompactionReport) -> wire_contexts.CompactionReport:
    return wire_contexts.CompactionReport(
        compacted=value.compacted,
        reason=value.reason,
        checkpoint_id=value.checkpoint_id,
        rounds_archived=value.rounds_archived,
        rounds_kept=value.rounds_kept,
        tokens_before=value.tokens_before,
        tokens_after=value.tokens_after,
        summary=value.summary,
        seconds=value.seconds,
        thinned=value.thinned,
        message=value.message,
    )


def archive(value: reports.ArchiveReport) -> wire_contexts.Archive:
    parts = [
        wire_contexts.ArchivedRounds(
            id=item.id,
            at=item.at,
            rounds_archived=item.rounds_archived,
            summary=item.by,
            text=item.summary.content if item.summary is not None else "",
        )
        for item in value.checkpoints
    ]
    return wire_contexts.Archive(text=value.text, checkpoints=parts)


def law_report(value: reports.LawReport) -> wire_contexts.LawReport:
    documents = [
        wire_contexts.LawDocument(
            folder=item.folder, uri=item.uri, tokens=item.tokens, hash=item.hash, source=item.source
        )
        for item in value.documents
    ]
    return wire_contexts.LawReport(found=value.found, documents=documents, text=value.text)


def mention(value: reports.MentionItem) -> wire_contexts.MentionItem:
    return wire_contexts.MentionItem(path=value.path, kind=value.kind, detail=value.detail)


def model(value: reports.ModelInfo) -> wire_models.Model:
    return wire_models.Model(
        name=value.name,
        context_window=value.context_window,
        max_output=value.max_output,
        provider=value.provider,
        current=value.current,
    )


def approval_request(value: permissions.ApprovalQuestion) -> wire_approvals.ApprovalRequest:
    options = [
        wire_approvals.ApprovalOption(id=option.id, title=option.title, kind=option.kind, rule=option.rule)
        for option in value.options
    ]
    return wire_approvals.ApprovalRequest(
        chat_id=value.chat_id,
        turn_id=value.turn_id,
        call_id=value.call_id,
        tool=value.tool,
        title=value.title,
        risk=value.risk,
        preview=wire_approvals.ApprovalPreview(diff=value.diff, command=value.command, text=value.text),
        options=options,
        always_asked=value.always_asked or None,
        description=value.description or None,
        why=value.why or None,
    )


def attachment(value: wire.AttachmentParams, documents: EditorDocuments) -> requests.Attachment:
    """An attachment with its range in code points."""
    if value.range is None:
        return requests.Attachment(value.uri)
    return requests.Attachment(value.uri, _line_range(value.uri, value.range, documents))


def editor_state(value: wire.EditorParams | None, documents: EditorDocuments) -> requests.EditorState | None:
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


def _line_range(uri: str, value: wire.Range, documents: EditorDocuments) -> requests.LineRange:
    """A range in code points.

    A document that is not open keeps its range as sent: its text is not known here, and no editor has a selection in
    a document that it has not opened.
    """
    buffer = documents.get(uri)
    text = buffer.text if buffer is not None else None
    starts = line_starts(text) if text is not None else []

    def character(place: wire.Position) -> int:
        if text is None:
            return place.character
        return code_points(line_at(text, starts, place.line), place.character, documents.encoding)

    return requests.LineRange(value.start.line, character(value.start), value.end.line, character(value.end))


def strategy_options(value: wire.StrategyOptions | None) -> dict[str, float]:
    """The numbers that were given, by the names of settings in Python."""
    return {} if value is None else value.model_dump(exclude_none=True)
