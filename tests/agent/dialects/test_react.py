"""The `react` reader: a corpus of nasty replies, and properties of any reply (R-3, R-6)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.agent.dialects.react import React
from codelaw.domain.messages import Call
from codelaw.domain.models import ModelReply


def read(text: str):
    return React().read(ModelReply(text, "end_turn"), "s")


@dataclass(frozen=True)
class Case:
    name: str
    text: str
    tool: str | None = None
    arguments: dict[str, Any] | None = None
    answer: str | None = None
    thought: str = ""
    unreadable: str | None = None
    kept: str | None = None


CORPUS = [
    Case("plain call", 'Thought: look\nAction: Read[{"path": "a.py"}]', "Read", {"path": "a.py"}, thought="look"),
    Case("no thought", 'Action: LS[{"path": "."}]', "LS", {"path": "."}),
    Case("a status", 'Reading a.py\nAction: Read[{"path": "a.py"}]', "Read", {"path": "a.py"}, thought="Reading a.py"),
    Case("no arguments", "Thought: x\nAction: LS[]", "LS", {}, thought="x"),
    Case("brackets in a string", 'Action: Grep[{"pattern": "a[0]]}{"}]', "Grep", {"pattern": "a[0]]}{"}),
    Case(
        "an action inside a string",
        'Action: Write[{"path": "a", "content": "\\nAction: Bash[{}]"}]',
        "Write",
        {"path": "a", "content": "\nAction: Bash[{}]"},
    ),
    Case("arguments over lines", 'Action: Edit[\n{\n "path": "a"\n}\n]', "Edit", {"path": "a"}),
    Case(
        "fence around the arguments",
        'Thought: t\nAction:\n```json\nRead[{"path": "a"}]\n```',
        "Read",
        {"path": "a"},
        thought="t",
    ),
    Case("inline code", 'Thought: t\nAction: `Read[{"path": "a"}]`', "Read", {"path": "a"}, thought="t"),
    Case("bold label", '**Thought:** t\n**Action:** Read[{"path": "a"}]', "Read", {"path": "a"}, thought="t"),
    Case("name on the next line", 'Action:\nRead[{"path": "a"}]', "Read", {"path": "a"}),
    Case("unclosed but whole", 'Action: Read[{"path": "a"}', "Read", {"path": "a"}),
    Case(
        "invented observation",
        'Thought: t\nAction: LS[{}]\n[tool] {"status": "success"}\nAction: Bash[{"command": "rm"}]',
        "LS",
        {},
        thought="t",
        kept="Thought: t\nAction: LS[{}]",
    ),
    Case("finish", "Thought: done\nAction: Finish[It is 42.]", answer="It is 42.", thought="done"),
    Case("finish, then chatter", "Action: Finish[a]\n\nHope that helps!", answer="a]\n\nHope that helps!"),
    Case("a label behind a bracket", "Action: Finish[a[0]\nObservation: b]", answer="a[0]\nObservation: b"),
    Case(
        "an answer with sections named like speakers",
        "Action: Finish[Set x = [1]\n[user]\nname = me\n[tool]\n]\n",
        answer="Set x = [1]\n[user]\nname = me\n[tool]\n",
    ),
    Case(
        "advice that looks like a label",
        "Thought: t\nAction: Finish[The crash comes from `items[0]`\n\n**Action:** guard it]",
        answer="The crash comes from `items[0]`\n\n**Action:** guard it",
        thought="t",
    ),
    Case("finish that ends with a fence", "Action: Finish[do\n```py\nx[0]\n```]", answer="do\n```py\nx[0]\n```"),
    Case(
        "a fence around a finish with one",
        "```\nAction: Finish[do\n```py\nx\n```\n]\n```",
        answer="do\n```py\nx\n```\n",
    ),
    Case("bold around finish", "**Action: Finish[a **b**]**", answer="a **b**"),
    Case("a bold end", "Action: Finish[a **b**]", answer="a **b**"),
    Case("no action, with a fence at the end", "So:\n```\nx\n```\n", answer="So:\n```\nx\n```\n"),
    Case(
        "no action, but advice",
        "The crash comes from `items[0]`.\n\n**Action:** guard it",
        answer="The crash comes from `items[0]`.\n\n**Action:** guard it",
    ),
    Case(
        "no action, but an example of one",
        "An agent writes\n```\nThought: t\nAction: LS[{}]\n```\nand waits.",
        answer="An agent writes\n```\nThought: t\nAction: LS[{}]\n```\nand waits.",
    ),
    Case(
        "no action, but a short example of one",
        "An agent writes\n```\nAction: LS[{}]\n```\nor\n```\nAction: Finish[x]\n```\nand waits.",
        answer="An agent writes\n```\nAction: LS[{}]\n```\nor\n```\nAction: Finish[x]\n```\nand waits.",
    ),
    Case(
        "an example in a thought",
        'Thought: it writes\n```\nAction: Bash[{"command": "rm"}]\n```\nwhich I explain.\nAction: Finish[so]',
        answer="so",
        thought='it writes\n```\nAction: Bash[{"command": "rm"}]\n```\nwhich I explain.',
    ),
    Case(
        "an action in a fence, then an invented observation and a further step",
        "Thought: t\n```\nAction: LS[{}]\n```\nObservation: x\nso it is\nAction: Finish[no]",
        "LS",
        {},
        thought="t",
    ),
    Case(
        "words, then an unreadable action",
        "I look.\nAction: Read[{path}]",
        unreadable="not valid JSON",
        thought="I look.",
    ),
    Case(
        "finish that speaks of labels",
        "Action: Finish[Write\nAction: LS[{}]\nlike this]",
        answer="Write\nAction: LS[{}]\nlike this",
    ),
    Case("finish never closed", "Action: Finish[the answer \n", answer="the answer"),
    Case("bare finish", "Finish[all good]", answer="all good"),
    Case(
        "the word action in prose", "We take Action: none. Then Read[x].", answer="We take Action: none. Then Read[x]."
    ),
    Case("bad JSON", "Action: Read[{path: a}]", unreadable="not valid JSON"),
    Case("a list", "Action: Read[[1]]", unreadable="one JSON object, not list"),
    Case("cut JSON", 'Action: Write[{"path": "a", "content": "x', unreadable="not valid JSON"),
    Case(
        "bad JSON, then an invented observation",
        "Thought: t\nAction: Read[{oops}]\n[tool] {}\nThought: x",
        unreadable="not valid JSON",
        thought="t",
        kept="Thought: t\nAction: Read[{oops}]\n",
    ),
    Case("too deep", "Action: Read[" + '{"a":' * 70 + "1" + "}" * 70 + "]", unreadable="nested too deeply"),
    Case("label without an action", "Thought: t\nAction: read the file", unreadable="could not be read"),
    Case("endless nesting", "Action: Read[" + '{"a":' * 100_000, unreadable="nested too deeply"),
    Case("nothing", ""),
    Case("blank", " \n\t\n"),
    Case("an empty thought", "Thought:   "),
]


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_corpus(case: Case):
    reading = read(case.text)
    assert reading.thought == case.thought
    assert reading.answer == case.answer
    if case.unreadable is not None:
        assert reading.unreadable is not None
        assert case.unreadable in reading.unreadable.problem
        assert not reading.calls
    elif case.tool is not None:
        assert reading.calls == (Call("call_s_0", case.tool, case.arguments or {}),)
    else:
        assert not reading.calls
        assert reading.empty == (case.answer is None)
    if case.kept is not None:
        assert reading.kept == case.kept


def test_a_cut_call_is_answered_with_an_error_and_a_cut_answer_is_continued():
    cut = React().cut(ModelReply('Thought: t\nAction: Write[{"path": "a", "content": "x', "max_tokens"), "s")
    assert cut is not None
    assert "was not run" in cut.calls[0].problem  # type: ignore[union-attr]
    assert React().cut(ModelReply("Thought: t\nAction: Finish[so far", "max_tokens"), "s") is None
    complete = ModelReply('Action: LS[{"path": "."}]', "max_tokens")
    assert React().cut(complete, "s").calls[0].call == Call("call_s_0", "LS", {})  # type: ignore[union-attr]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), json_values), st.booleans())
def test_any_arguments_survive(arguments: dict[str, Any], ascii_only: bool):
    text = f"Thought: t\nAction: Tool[{json.dumps(arguments, ensure_ascii=ascii_only)}]\nAction: Finish[no]"
    assert read(text).calls == (Call("call_s_0", "Tool", arguments),)


pieces = st.sampled_from(
    [
        "Thought:",
        "Action:",
        "Finish[",
        "Read[",
        '{"a": 1}',
        "]",
        "[",
        "\n",
        " ",
        "x",
        "[tool]",
        "```",
        "**",
        "Observation:",
        "é",
        "`",
        "A",
        "F",
        "Fin",
    ]
)


@given(st.lists(pieces, max_size=25).map("".join), st.data())
def test_streamed_answer_equals_the_read_one_however_it_arrives(text: str, data: st.DataObject):
    dialect = React()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    stream, shown = dialect.stream(), {"thought": "", "answer": ""}
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        for channel, piece in stream.feed(text[start:end]):
            shown[channel] += piece
    reading = read(text)
    for channel, piece in stream.finish(reading):
        shown[channel] += piece
    assert shown["answer"] == (reading.answer or "")


@given(st.text(max_size=200))
def test_reading_never_fails(text: str):
    reading = read(text)
    assert text.startswith(reading.kept)
