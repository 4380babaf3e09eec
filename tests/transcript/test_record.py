"""The JSON export: nothing of what is stored is missing in it (D-2)."""

from __future__ import annotations

import dataclasses
import json

from codelaw.domain.chats import Chat, StoredChat, StoredTurn, Todo, TurnResult
from codelaw.domain.checkpoints import Aside, Checkpoint, Demotion, ThreadSummary
from codelaw.domain.events import AnswerDelta, ChatEvent, ToolCallEvent, TurnEnded
from codelaw.domain.media.images import Image
from codelaw.domain.messages import Call, FoundPage, Fragment, KeptItem, KeptItems, Message, Metadata, WebSearch
from codelaw.domain.models import Usage
from codelaw.transcript.record import FORMAT, VERSION, record

NASTY = "a\0b \ud800 😀 \u2028 \x7f </script> snake_case"
METADATA = Metadata(
    step=1,
    tool_name="Read",
    call_id="k",
    mtime=1.5,
    answer=NASTY,
    calls=(Call("k", "Read", {"file_path": NASTY, "old_string": [1, None, True]}),),
    searches=(WebSearch(NASTY, (FoundPage("T", NASTY),), "gone"),),
    fragments=(Fragment("environment", NASTY),),
    images=(Image("image/png", 640, 480, 9, "d1"),),
    note="steer",
    ref="r1",
    interrupted=True,
    native=True,
    kept=KeptItems("anthropic", (KeptItem('{"signature": "SEALED"}'), KeptItem('{"data": "SEALED"}', 3)), "p", "a"),
)
WHOLE = StoredChat(
    Chat("c1", NASTY, "panel", "agent", "model", "layered", 1.0, 2.0, 1, None, 3),
    (Message("m1", "t1", "user", NASTY), Message("m2", "t1", "assistant", NASTY, METADATA)),
    (StoredTurn("t1", "c1", "ended", "o", 1.0, Usage(1, 2, 3, 4), "finished"),),
    (Todo("a", "pending"),),
    frozenset({"law_large", "a"}),
    (Checkpoint("k1", "t1", 5.0, 1, Message("s1", "", "summary", NASTY), "model", (Demotion("m1", "result"),)),),
    (Demotion("m2", "arguments"),),
    (Aside("m1", "memories", "what only the view shows"),),
    frozenset({"t0"}),
    ThreadSummary(NASTY, "t1", 9.0),
    "t1",
    ("one message",),
)
EVENTS = [
    ChatEvent("c1", "t1", 1, 1.5, AnswerDelta(NASTY, 1)),
    ChatEvent("c1", "t1", 3, 1.5, ToolCallEvent("k", "Read", "Read a", "completed", 1, {"file_path": "x"})),
    ChatEvent("c1", "t1", 4, 1.5, TurnEnded(TurnResult("c1", "t1", "finished", NASTY, 1, Usage(1)))),
]
RESULTS = {"r1": {"data": {"file_text": NASTY}}}


def snake(values, known):
    """The fields of a domain value, from names as on the wire."""
    names = {field.name.replace("_", ""): field.name for field in dataclasses.fields(known)}
    return {names[name.lower()]: value for name, value in values.items()}


def test_every_field_of_a_chat_is_in_its_record():
    text = record(WHOLE, RESULTS, EVENTS)
    assert text.isascii()
    assert "\x7f" not in text
    reported = json.loads(text)
    assert (reported["format"], reported["version"]) == (FORMAT, VERSION)
    assert reported["chat"] == {
        "id": "c1",
        "title": NASTY,
        "kind": "panel",
        "mode": "agent",
        "effort": None,
        "model": "model",
        "strategy": "layered",
        "createdAt": 1.0,
        "updatedAt": 2.0,
        "turns": 1,
        "running": None,
        "generation": 3,
        "chosen": False,
        "places": [],
    }
    extra = {"format", "version", "results", "events"}
    assert "what only the view shows" not in text
    assert "SEALED" not in text, "kept items are marked only (P-5)"
    assert (set(reported) - extra) | {"asides"} == {
        "".join(part.title() if place else part for place, part in enumerate(field.name.split("_")))
        for field in dataclasses.fields(StoredChat)
    }
    assert snake(reported["messages"][1]["metadata"], Metadata) == {
        **{
            field.name: getattr(METADATA, field.name)
            for field in dataclasses.fields(Metadata)
            if field.name != "asides"
        },
        "calls": [{"id": "k", "tool": "Read", "arguments": {"file_path": NASTY, "old_string": [1, None, True]}}],
        "fragments": [{"name": "environment", "text": NASTY}],
        "images": [{"mediaType": "image/png", "width": 640, "height": 480, "size": 9, "digest": "d1"}],
        "kept": {"maker": "anthropic", "blocks": 2},
        "searches": [{"query": NASTY, "found": [{"title": "T", "url": NASTY}], "problem": "gone"}],
    }
    assert reported["checkpoints"][0]["summary"]["content"] == NASTY
    assert reported["checkpoints"][0]["demotions"] == [{"messageId": "m1", "part": "result"}]
    assert reported["threadSummary"] == {"text": NASTY, "covers": "t1", "at": 9.0}
    assert reported["notices"] == ["a", "law_large"]
    assert reported["turns"][0]["lastUsage"]["inputTokens"] == 1
    assert reported["results"] == RESULTS, "what tools wrote keeps its keys"


def test_events_are_told_with_their_numbers_and_kinds():
    reported = json.loads(record(WHOLE, {}, EVENTS))["events"]
    assert [(event["seq"], event["event"]["kind"]) for event in reported] == [
        (1, "answer"),
        (3, "tool_call"),
        (4, "turn_ended"),
    ]
    assert reported[1]["event"]["args"] == {"file_path": "x"}
    assert reported[2]["event"]["result"]["stopReason"] == "finished"
