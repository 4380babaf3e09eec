"""Kinds of subagents as files tell them: leniently, and never refused (X-4)."""

from __future__ import annotations

import pytest

from codelaw.app.extensions.agents import LONGEST_BODY, agent, name_of
from codelaw.domain.extensions import AgentSheet, Sheet


def read(text: str, name: str = "file") -> AgentSheet:
    return agent(Sheet(name, f".claude/agents/{name}.md", "file:///x", own=False), text)


def test_all_that_a_head_may_say():
    found = read(
        "---\nname: reviewer\ndescription: Reviews\n  a change.\ntools: Read, Grep, Bash(git diff:*), WebFetch\n"
        "disallowedTools: [Bash, mcp__x]\nmodel: sonnet\nmaxTurns: 12\ncolor: blue\nskills:\n  - one\n---\n\nBe brief.\n"
    )
    assert found == AgentSheet(
        Sheet("reviewer", ".claude/agents/file.md", "file:///x", own=False),
        "Reviews a change.",
        "Be brief.",
        ("Read", "Grep", "Bash", "web_fetch"),
        ("Bash", "mcp__x"),
        "sonnet",
        12,
    )


def test_what_is_wrong_is_told_and_the_rest_counts():
    broken = read("---\ndescription: one: two: three\nmodel: inherit\n---\nDo it.")
    assert broken.problem == "Its head is not YAML in line 2. A value with a colon in it needs quotes."
    assert (broken.sheet.name, broken.description, broken.body, broken.model) == (
        "file",
        "one: two: three",
        "Do it.",
        "",
    )
    assert "no description" in read("Do it.").problem
    assert "no text" in read("---\ndescription: x\n---\n").problem
    odd = read("---\ndescription: x\nmaxTurns: many\n---\ny")
    assert odd.max_turns is None
    assert "maxTurns" in odd.problem
    long = read("---\ndescription: x\n---\n" + "y" * (LONGEST_BODY + 1))
    assert len(long.body) == LONGEST_BODY
    assert f"the first {LONGEST_BODY} count" in long.problem


def test_names_are_one_word():
    assert name_of("review/code reviewer.md") == "code-reviewer"
    assert name_of("notes.txt") == ""
    assert read("---\nname: Code Reviewer\ndescription: x\n---\ny").sheet.name == "Code-Reviewer"
    assert read("---\nname: ' '\ndescription: x\n---\ny").sheet.name == "file"


@pytest.mark.parametrize(
    ("head", "field"),
    [
        ("description: a: b\ntools:\n  - Read\n", "tools"),
        ("description: a\ntools: [[Read]]\n", "tools"),
        ("description: a: b\nDisallowedTools:\n- Bash\n", "disallowedTools"),
        ("- tools: Read\n", "tools"),
        ("tools: Read\nx: " + "[" * 600 + "\ntools:\n - Read\n", None),
    ],
)
def test_one_whose_tools_cannot_be_read_does_not_count(head: str, field: str | None):
    found = read(f"---\n{head}---\nDo it.")
    if field is None:
        assert found.tools == ("Read",), "what is read of it holds"
        return
    assert found.body == ""
    assert f"Its `{field}` cannot be read, so that the file does not count." in found.problem
