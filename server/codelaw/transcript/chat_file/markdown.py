"""A chat as one Markdown document: the whole record, with every call and what came of it (E-4).

It is written in the format of chat files, so that what reads those reads this.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from codelaw.domain.chats import Chat
from codelaw.domain.events import ChatEvent, CompactionEvent, NoticeEvent, ToolCallEvent
from codelaw.domain.messages import Message
from codelaw.domain.reports import ContextReport
from codelaw.transcript.chat_file.chat_file import YOU, block, escape_comments, header
from codelaw.transcript.chat_file.fences import fenced
from codelaw.transcript.chat_file.story import (
    OF_A_CHILD,
    Spoken,
    Story,
    closed,
    end_lines,
    noted,
    one_line,
    status,
    stories,
)
from codelaw.transcript.transcript import own

SEARCH = "web_search"
"""The vendor's own tool, whose calls tell the pages that were found, each on a line (X-1)."""
PAGE_CHARACTERS = 500
"""Of a page's title and address."""
RESULT_CHARACTERS = 6000
"""Of one value of a tool's result that are shown."""
_SENT = {"attachment", "image", "symbol", "problems", "git", "terminal"}
"""Fragments that came with what the user sent."""


def transcript(chat: Chat, messages: Sequence[Message], events: Sequence[ChatEvent]) -> str:
    """The whole record of a chat."""
    turns = stories(events)
    begun = datetime.fromtimestamp(chat.created_at, UTC).strftime("%Y-%m-%d %H:%M")
    title = one_line(chat.title) or "Chat"
    parts = [header(chat.id), f"# {title}", f"*{chat.mode} · {escape_comments(chat.model)} · begun {begun} UTC*"]
    by_turn: dict[str, list[Message]] = {}
    order: list[str | Message] = []
    for message in messages:
        if message.role == "summary":
            order.append(message)
            continue
        if message.turn_id not in by_turn:
            order.append(message.turn_id)
        by_turn.setdefault(message.turn_id, []).append(message)
    order += [turn_id for turn_id in turns if turn_id not in by_turn]
    for entry in order:
        if isinstance(entry, Message):
            parts.append(block(entry.id, escape_comments(entry.content.strip()), kind="summary", title="Summary"))
        else:
            parts += _turn(turns.get(entry, Story(entry)), by_turn.get(entry, []), running=chat.running == entry)
    return "\n\n".join(parts) + "\n"


BAR = "\\|"
"""A bar in a cell."""


def context(report: ContextReport) -> str:
    """What would be sent now, with its sections and their tokens."""
    rows = [
        f"| {part.layer} | {one_line(part.name).replace('|', BAR)} | {part.tokens} | {part.chars} | "
        f"{'yes' if part.cached else 'no'} | {'yes' if part.cut else 'no'} |"
        for part in report.sections
    ]
    full = f"{report.total_tokens / report.context_window:.0%}" if report.context_window else "?"
    parts = [
        "# Context",
        f"{report.total_tokens} of {report.context_window} tokens ({full}), strategy `{report.strategy}`",
        f"A compaction is due at {report.threshold} tokens.",
        "## Sections",
        "\n".join(["| layer | section | tokens | characters | cached | cut |", "|---|---|---|---|---|---|", *rows]),
    ]
    if report.dropped:
        parts += [
            "## Left out",
            "\n".join(f"- {one_line(item.name)}: {one_line(item.reason)}" for item in report.dropped),
        ]
    for part in report.sections:
        parts += [f"## {part.layer} {one_line(part.name)}", fenced(part.text, "text")]
    return "\n\n".join(parts) + "\n"


def _turn(story: Story, messages: Sequence[Message], *, running: bool) -> list[str]:
    asked = next(
        (message.content for message in messages if message.role == "user" and message.metadata.note is None), ""
    )
    said = own(messages)
    parts = [YOU, escape_comments(story.question or asked).strip()]
    parts += [fenced(escape_comments(part.text), "xml") for part in _fragments(messages)]
    results = {
        message.metadata.call_id: message.content
        for message in messages
        if message.role == "tool" and message.metadata.call_id is not None
    }
    body = _story(story, results) if story.parts or story.result is not None else _messages(said)
    notes = [_note(message) for message in said if message.role == "user" and message.metadata.note is not None]
    thought = sum(len(message.metadata.kept.items) for message in messages if message.metadata.kept is not None)
    kept = f"> - **Thinking kept:** {thought} block{'s' * (thought != 1)}" if thought else ""
    inside = "\n\n".join(closed(piece) for piece in [*notes, *body, kept] if piece.strip())
    return [*(part for part in parts if part), block(story.turn_id, inside, running=running, status=status(story))]


def _fragments(messages: Sequence[Message]) -> list[Any]:
    first = next((message for message in messages if message.role == "user"), None)
    return [part for part in first.metadata.fragments if part.name in _SENT] if first is not None else []


def _note(message: Message) -> str:
    who = "You, meanwhile" if message.metadata.note == "steer" else "codelaw, to the model"
    return f"> - **{who}:** {one_line(message.content, 2000)}"


def _story(story: Story, results: Mapping[str, str]) -> list[str]:
    pieces: list[str] = []
    step: int | None = None
    spoken = False
    for part in story.parts:
        if (
            isinstance(part, (Spoken, ToolCallEvent))
            and not (isinstance(part, ToolCallEvent) and part.parent)
            and part.step != step
            and not (isinstance(part, Spoken) and part.kind == "answer")
        ):
            step = part.step
            pieces.append(f"### Step {step}")
        match part:
            case Spoken(kind="thought", text=text):
                pieces.append("\n".join(f"> {line}".rstrip() for line in escape_comments(text).strip().split("\n")))
            case Spoken(text=text):
                if text.strip():
                    pieces += ["### Answer", escape_comments(text).strip("\n")]
                    spoken = True
            case ToolCallEvent():
                pieces += _call(part, results.get(part.call_id))
            case NoticeEvent() | CompactionEvent():
                pieces.append(noted(part, 2000))
            case _:
                pass
    if story.result is not None:
        if not spoken and story.result.answer.strip():
            pieces += ["### Answer", escape_comments(story.result.answer).strip("\n")]
        pieces.append("\n".join(end_lines(story, story.result)))
    return pieces


def _messages(messages: Sequence[Message]) -> list[str]:
    """A turn whose events are lost, by what was stored of its messages."""
    pieces: list[str] = []
    for message in messages:
        if message.role == "assistant":
            pieces.append(escape_comments(message.metadata.answer or message.content).strip("\n"))
        elif message.role == "tool":
            pieces += [f"#### {one_line(message.metadata.tool_name or 'Tool')}", _collapsed("result", message.content)]
    return pieces


def _call(call: ToolCallEvent, result: str | None) -> list[str]:
    pieces = [f"#### {OF_A_CHILD if call.parent else ''}{one_line(call.title)} ({call.status.replace('_', ' ')})"]
    searched = call.tool == SEARCH and call.summary is not None
    facts = [one_line(call.summary)] if call.summary and not searched else []
    facts += [f"decided by {one_line(f'{call.decision.source}: {call.decision.rule}')}"] if call.decision else []
    if facts:
        pieces.append(" · ".join(facts))
    if call.diff:
        pieces.append(fenced(escape_comments(call.diff), "diff"))
    if searched and call.summary:
        pieces.append("\n".join(f"- {one_line(page, PAGE_CHARACTERS)}" for page in call.summary.split("\n")))
    if call.args and not call.diff and not searched:
        pieces.append(_details("arguments", _values(call.args)))
    if result is not None:
        pieces.append(_collapsed("result", result))
    return pieces


def _collapsed(name: str, content: str) -> str:
    try:
        body: Any = json.loads(content)
    except ValueError:
        return _details(name, fenced(escape_comments(_cut(content)), "text"))
    if not isinstance(body, dict):
        return _details(name, fenced(escape_comments(_cut(content)), "json"))
    known = cast("dict[str, Any]", body)
    inner: dict[str, Any] = {"status": known.get("status")} if "status" in known else {}
    for key, value in known.items():
        if key in {"data", "error"} and isinstance(value, dict):
            inner |= cast("dict[str, Any]", value)
        elif key not in {"stats", "context", "status"}:
            inner[key] = value
    return _details(name, _values(inner))


def _values(values: Mapping[str, Any]) -> str:
    """Short values as a list, long ones as blocks of code."""
    short: list[str] = []
    long: list[str] = []
    for key, value in values.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if value in (None, "", [], {}):
            continue
        if "\n" in text or len(text) > 120:
            long.append(f"{one_line(str(key))}:\n\n{fenced(escape_comments(_cut(text)), 'text')}")
        else:
            short.append(f"- {one_line(str(key))}: {one_line(text)}")
    return "\n\n".join([*(["\n".join(short)] if short else []), *long])


def _details(name: str, inside: str) -> str:
    return f"<details><summary>{name}</summary>\n\n{inside}\n\n</details>"


def _cut(text: str) -> str:
    return text if len(text) <= RESULT_CHARACTERS else f"{text[:RESULT_CHARACTERS]}\n… ({len(text)} characters in all)"
