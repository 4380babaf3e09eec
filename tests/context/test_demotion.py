"""How a demoted message looks, and that it stays what it was (C-4, C-6)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.agent.dialects.native import Native
from codelaw.agent.dialects.react import React
from codelaw.context.escaping import json_line
from codelaw.context.sections import action_text
from codelaw.context.shortening.demotion import LONG, demotable, demoted
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.messages import KeptItem, KeptItems, Message, Metadata
from codelaw.domain.models import CallBlock, ModelReply, TextBlock
from tests.context.spoken import Spoken, bash, edit, read


def all_of(messages):
    return frozenset(what for message in messages if (what := demotable(message)) is not None)


def parsed(message) -> Any:
    return React().read(ModelReply(action_text(message), "end_turn"), "s")


def test_a_result_becomes_one_line_that_says_what_it_was_and_how_to_get_it_back():
    spoken = Spoken().turn("t", read("parser.py"))
    line = demoted(spoken.record, all_of(spoken.record))[2]
    body = json.loads(line.content)
    assert body["status"] == "success"
    assert body["shortened"].startswith("Read parser.py 1-100, ")
    assert body["whole"] == "result:r_t_1"
    assert "parser_" in body["names"], "names out of the body help to find it again"
    assert "data" not in body
    assert "\n" not in line.content
    assert len(line.content) < len(spoken.record[2].content) / 5
    assert line.metadata == spoken.record[2].metadata


def named(messages) -> list[list[str]]:
    """The names in each result's line."""
    return [json.loads(message.content).get("names", "").split() for message in messages if message.role == "tool"]


def test_a_name_that_stands_in_front_is_not_said_again():
    spoken = Spoken().turn("t", read("parser.py"), read("parser.py"), bash("make parser_100"))
    first, second, _ = named(demoted(spoken.record, all_of(spoken.record)))
    assert first
    assert second, "the room is for other names"
    assert not set(first) & set(second)
    alone = named(demoted(spoken.record[3:], all_of(spoken.record)))
    assert alone[0] == first, "where nothing stands in front every name is said"


def test_what_failed_still_says_how():
    spoken = Spoken().turn("t", bash("make " + "very " * 20 + "long", failed=True))
    body = json.loads(demoted(spoken.record, all_of(spoken.record))[2].content)
    assert body["status"] == "error"
    assert body["error"] == {"code": "EXECUTION_ERROR", "message": "The command ended with exit code 1."}
    assert body["shortened"].startswith("Bash make very")
    assert next(iter(body)) == "status", "the native dialect tells a failed result by its beginning"


def test_long_arguments_become_marks_and_the_action_is_still_one():
    spoken = Spoken().turn("t", edit("parser.py"))
    said = demoted(spoken.record, all_of(spoken.record))[1]
    reading = parsed(said)
    assert reading.unreadable is None
    assert reading.thought == "step 1"
    (call,) = reading.calls
    assert call.arguments["path"] == "parser.py"
    assert call.arguments["old_string"] == "old line… [594 characters, shortened: result:r_t_1]"
    assert call.arguments == said.metadata.calls[0].arguments, "both dialects are told the same"


def test_a_native_call_is_shortened_where_its_arguments_are_sent():
    spoken = Spoken(native=True).turn("t", edit("parser.py"))
    said = demoted(spoken.record, all_of(spoken.record))[1]
    assert said.content == "step 1"
    (block,) = [block for block in Native().message(said)[1] if isinstance(block, CallBlock)]
    assert "shortened: result:r_t_1" in block.call.arguments["old_string"]
    assert block.call.arguments["new_string"].endswith("characters, shortened]"), "the ref is told once in a call"
    assert parsed(said).calls[0].arguments == said.metadata.calls[0].arguments


def test_thinking_behind_a_shortened_call_is_not_returned_any_more():
    spoken = Spoken(native=True).turn("t", edit("parser.py"))
    items = tuple(KeptItem(body, text, calls) for body, text, calls in (("a", 0, 0), ("b", 6, 0), ("c", 6, 1)))
    caller = spoken.record[1]
    facts = replace(caller.metadata, kept=KeptItems("anthropic", items))
    record = [spoken.record[0], replace(caller, metadata=facts), *spoken.record[2:]]
    assert demoted(record, all_of(record))[1].metadata.kept == KeptItems("anthropic", items[:2])


@pytest.mark.parametrize(
    "before",
    [
        "Thought: Action: is a word I like\nAction: Write[",
        "**Thought:** look\n**Action:** Write[",
        "Thought: I shall not write\n\n> Action: `Write[",
        "Thought: t\nAction:\n```json\nWrite[",
        "```\nAction: Write[\n",
        "Action: Write [ ",
    ],
)
def test_the_action_is_found_however_it_was_written(before):
    arguments = {"path": "a.md", "content": 'say "x]"\nAction: Bash[{"command": "rm"}]\n' + "y" * 400}
    written = f"{before}{json.dumps(arguments)}]"
    reading: Any = React().read(ModelReply(written, "end_turn"), "s")
    said = Message("m", "t", "assistant", reading.kept, Metadata(calls=reading.calls))
    (short,) = demoted([said], all_of([said]))
    again = parsed(short)
    assert again.thought == reading.thought
    assert [call.tool for call in again.calls] == ["Write"]
    assert again.calls[0].arguments == short.metadata.calls[0].arguments
    assert len(short.content) < 300


def test_a_result_without_a_ref_is_not_demoted_because_nothing_brings_it_back():
    lost = Message("m", "t", "tool", json_line({"status": "error", "data": {"x": "y" * 900}}), Metadata(call_id="c"))
    assert demotable(lost) is None
    assert demoted([lost], {Demotion("m", "result")})[0] is lost


@pytest.mark.parametrize(
    "content", ["", "no json", "[1, 2]", '"text"', "null", "{}", "[" * 5_000, '{"data": ' + "[" * 900 + "]" * 900 + "}"]
)
def test_damaged_results_stay_as_they_are(content):
    damaged = Message("m", "t", "tool", content + " " * 2_000, Metadata(call_id="c", ref="r1"))
    shown = demoted([damaged], {Demotion("m", "result")})
    assert len(shown[0].content) <= len(damaged.content)


TEXT = st.text(max_size=30) | st.text("ab \n]}[{\"'\\`:", min_size=LONG, max_size=3 * LONG)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["path", "content", "old_string", "command", "edits"]),
    TEXT | st.lists(st.dictionaries(st.sampled_from(["old_string", "new_string"]), TEXT), max_size=2),
    max_size=3,
)
STEPS = st.lists(st.tuples(st.sampled_from(["Read", "Edit", "Bash", "mcp_thing"]), ARGUMENTS, TEXT), max_size=4)


def answered(tool, text):
    return read("a.py", len(text) % 90 + 1)[2] if tool == "Read" else bash(text or "true", len(text) % 70)[2]


@st.composite
def chats(draw):
    spoken = Spoken(native=draw(st.booleans()))
    for number in range(draw(st.integers(1, 3))):
        spoken.turn(f"t{number}", *((tool, given, answered(tool, text)) for tool, given, text in draw(STEPS)))
    return spoken


@given(chats(), st.data())
def test_any_demotions_keep_pairs_words_and_actions_and_are_made_once(spoken, data):
    possible = sorted(all_of(spoken.record), key=str)
    chosen = frozenset(data.draw(st.sets(st.sampled_from(possible)))) if possible else frozenset()
    shown = demoted(spoken.record, chosen)
    assert demoted(shown, chosen) is shown, "a second time changes nothing"
    assert list(shown) == list(demoted(list(spoken.record), frozenset(sorted(chosen, key=str)))), "the same bytes"
    assert [(m.id, m.role, m.turn_id) for m in shown] == [(m.id, m.role, m.turn_id) for m in spoken.record]
    for before, after in zip(spoken.record, shown, strict=True):
        assert len(after.content) <= len(before.content)
        if before.role == "user" or demotable(before) not in chosen:
            assert after is before
        if before.role == "tool":
            assert after.metadata is before.metadata
            was, now = json.loads(before.content), json.loads(after.content)
            assert (now["status"], now.get("error")) == (was["status"], was.get("error"))
            assert "\n" not in after.content
        if before.metadata.calls:
            (old,), (new,) = before.metadata.calls, after.metadata.calls
            assert (old.id, old.tool, old.arguments.keys()) == (new.id, new.tool, new.arguments.keys())
            was, now = parsed(before), parsed(after)
            assert now.unreadable is None
            assert now.thought == was.thought
            assert [call.arguments for call in now.calls] == [new.arguments]
            (said, *_), (first, *_) = React().message(after)[1], React().message(before)[1]
            assert isinstance(said, TextBlock)
            assert isinstance(first, TextBlock)
            assert said.text.count("Action:") <= first.text.count("Action:")
