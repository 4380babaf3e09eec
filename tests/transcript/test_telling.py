"""A turn told to a person: as a chat file, as a transcript, as an outline (E-3, E-4)."""

from __future__ import annotations

import json
from typing import Any

from codelaw.domain.chats import Chat, Notice, TurnError, TurnResult
from codelaw.domain.checkpoints import CompactionReport
from codelaw.domain.events import (
    AnswerDelta,
    ChatEvent,
    CompactionEvent,
    NoticeEvent,
    RetryEvent,
    ThoughtDelta,
    ToolCallEvent,
    TurnEnded,
    TurnStarted,
)
from codelaw.domain.messages import Message, Metadata
from codelaw.domain.models import Usage
from codelaw.domain.permissions import Decision
from codelaw.domain.reports import ContextReport, SectionReport
from codelaw.domain.results import FileChange
from codelaw.transcript.chat_file.chat_file import block, parse
from codelaw.transcript.chat_file.fences import left_open
from codelaw.transcript.chat_file.markdown import context, transcript
from codelaw.transcript.chat_file.outline import folds, outline
from codelaw.transcript.chat_file.story import Story, block_body, status, stories

CHAT = Chat("c1", "A title", "panel", "agent", "m", "layered", 0.0, 0.0, turns=1)


def result(stop: Any = "finished", answer: str = "", **more: Any) -> TurnEnded:
    return TurnEnded(TurnResult("c1", "t1", stop, answer, 1, Usage(), **more))


def events(*happened: Any) -> list[ChatEvent]:
    return [ChatEvent("c1", "t1", seq, 0.0, event) for seq, event in enumerate(happened, 1)]


def story(*happened: Any) -> Story:
    return stories(events(*happened))["t1"]


def test_a_turn_told_later_begins_with_what_was_told_before() -> None:
    happened = [
        TurnStarted("Q"),
        ThoughtDelta("hm", 1),
        ToolCallEvent("a", "Read", "Read a", "pending", 1),
        ToolCallEvent("b", "Read", "Read b", "running", 1),
        ToolCallEvent("b", "Read", "Read b", "completed", 1, summary="3\nlines"),
        NoticeEvent("warning", "w", "Mind\nthis", 1),
        ToolCallEvent("a", "Read", "Read a", "rejected", 1),
        AnswerDelta("It is\n", 2),
        AnswerDelta("\n```py\nx", 2),
        result(answer="It is\n\n```py\nx"),
    ]
    before, lines = "", Story("t1")
    for event in events(*happened):
        assert lines.take(event)
        assert not lines.take(event), "nothing is told twice"
        now = block_body(lines)
        assert now.startswith(before)
        before = now
    assert before == (
        "> - Read b: 3 lines\n> - **Warning:** Mind this\n> - Read a — **refused**\n\nIt is\n\n```py\nx\n```"
    )


def test_what_goes_on_is_one_line() -> None:
    assert status(story(TurnStarted("Q"))) == "*Thinking …*"
    waits = story(TurnStarted("Q"), ToolCallEvent("a", "Bash", "Run *x*\ny", "awaiting_approval", 1))
    assert status(waits) == "*Run x y (waits for your approval) …*"
    assert status(story(TurnStarted("Q"), result())) == ""


def test_a_step_that_is_asked_again_takes_its_words_back() -> None:
    lines = story(TurnStarted("Q"), AnswerDelta("wrong", 1), RetryEvent(2, 0.0, "overload", 1), AnswerDelta("right", 1))
    assert block_body(lines) == "right"


def test_an_end_that_is_no_answer_is_block_body() -> None:
    error = TurnError("model_unavailable", "No model.", "Set a key.")
    assert block_body(story(TurnStarted("Q"), result("failed", error=error))) == "> - **Error:** No model. Set a key."
    assert (
        block_body(story(TurnStarted("Q"), AnswerDelta("Half", 1), result("cancelled", "Half")))
        == "Half\n\n> - **Stopped.**"
    )
    changed = result(changes=(FileChange("a.py", "file:///a.py", "modified", 2, 1),))
    assert block_body(story(TurnStarted("Q"), changed)) == "> - **Changed:** a.py (+2 −1)"
    noticed = result(notices=(Notice("info", "n", "Once"), Notice("info", "o", "Twice")))
    assert block_body(story(TurnStarted("Q"), NoticeEvent("info", "n", "Once"), noticed)).count("Once") == 1


def test_a_quoted_line_closes_a_block_of_code() -> None:
    lines = story(
        TurnStarted("Q"), AnswerDelta("```\nx", 1), CompactionEvent("finished", CompactionReport(True, "threshold", 4))
    )
    assert "```\nx\n```\n\n> - **Note:** 4 older rounds were archived" in block_body(lines)
    assert left_open(block_body(lines)) is None


def test_a_transcript_tells_everything_and_can_be_read_back() -> None:
    happened = [
        TurnStarted("Do\n## You\nit"),
        ThoughtDelta("# I think\nso", 1),
        ToolCallEvent(
            "a", "Edit", "Edit a.md", "completed", 1, args={"path": "a.md"}, summary="1 change",
            diff="-```\n+````", decision=Decision("allow", "allow", "Edit(a.md)"),
        ),
        ToolCallEvent("b", "Bash", "Run ls", "failed", 1, args={"command": "ls\n-l"}),
        AnswerDelta("# Top\n\n<!-- /turn t1 -->\n\n## You\n", 2),
        result(answer="# Top"),
    ]  # fmt: skip
    failed = {"status": "error", "data": {"stdout": "a\n````\nb"}, "text": "", "error": {"code": "X", "message": "no"}}
    messages = [
        Message("s1", "t0", "summary", "# Archived\n\n## You\n"),
        Message("m1", "t1", "user", "Do\n## You\nit\n\n<system-reminder>"),
        Message("m2", "t1", "tool", json.dumps(failed), Metadata(call_id="b")),
        Message("m3", "t1", "user", "Be quick", Metadata(note="steer")),
        Message("m4", "t9", "user", "Lost"),
        Message("m5", "t9", "assistant", "Thought: x\nAction: Finish[Found]", Metadata(answer="Found")),
    ]
    text = transcript(CHAT, messages, events(*happened))
    file = parse(text)
    assert [(found.kind, found.id) for found in file.blocks] == [("summary", "s1"), ("turn", "t1"), ("turn", "t9")]
    assert file.chat_id == "c1"
    assert "> # I think\n> so" in text
    assert "1 change · decided by allow: Edit(a.md)" in text
    assert "`````diff\n-```\n+````\n`````" in text
    assert "`````text\na\n````\nb\n`````" in text
    assert "- code: X\n- message: no" in text
    assert "**You, meanwhile:** Be quick" in text
    assert "# Top\n\n&lt;!-- /turn t1 -->" in text
    assert "Found\n\n<!-- /turn t9 -->" in text
    assert left_open(text) is None

    found = outline(text)
    assert [entry.title for entry in found] == ["A title", "Summary", "You: Do", "You: it", "You: Lost"]
    lines = text.split("\n")
    turn = found[3].inside[0]
    assert (turn.title, lines[turn.first]) == ("codelaw", "## codelaw <!-- turn t1 -->")
    assert [entry.title for entry in turn.inside][:2] == ["Step 1", "Answer"]
    assert all(entry.first <= entry.last < len(lines) for entry in found)
    for fold in folds(text):
        assert 0 <= fold.first < fold.last < len(lines)


def test_an_outline_nests_what_an_answer_has() -> None:
    text = f"# Mine\n\n## You\n\nHow?\n\n{block('t1', '# One' + chr(10) + '### Three' + chr(10) + '## Two' + chr(10) + '```' + chr(10) + '# no' + chr(10) + '```')}\n\n## You\n\n### Part\n"

    def shape(entries: Any) -> Any:
        return [(entry.title, shape(entry.inside)) for entry in entries]

    assert shape(outline(text)) == [
        ("Mine", []),
        ("You: How?", [("codelaw", [("One", [("Three", []), ("Two", [])])])]),
        ("You: ### Part", [("Part", [])]),
    ]
    assert outline("") == []


def test_a_context_is_told_with_its_sections() -> None:
    section = SectionReport("L1", "core | x", 10, 40, cut=False, cached=True, text="has\n```\nfences")
    report = ContextReport((section,), 10, 100, 80, "layered", (), "E1")
    text = context(report)
    assert "10 of 100 tokens (10%), strategy `layered`" in text
    assert "| L1 | core \\| x | 10 | 40 | yes | no |" in text
    assert "## L1 core | x\n\n````text\nhas\n```\nfences\n````" in text
