"""The fields at the head of a Markdown file, as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.skills.front_matter import LONGEST, written


@pytest.mark.parametrize(
    ("text", "fields", "body"),
    [
        ("Do it.", {}, "Do it."),
        ("---\ndescription: Look\n---\nDo it.\n", {"description": "Look"}, "Do it.\n"),
        ("---\na: 1\nb: yes\nc: 2026-13-45\n---\nx", {"a": "1", "b": "yes", "c": "2026-13-45"}, "x"),
        ("---\ntools: [a, b]\ndeep: {x: y}\nname: n\n---\nx", {"name": "n"}, "x"),
        ("---\ndescription: >\n  two\n  lines\n...\nx", {"description": "two lines\n"}, "x"),
    ],
)
def test_fields_and_text(text: str, fields: dict[str, str], body: str):
    found = written(text)
    assert (dict(found.fields), found.body, found.problem) == (fields, body, "")


def test_what_is_no_yaml_is_told_and_gives_its_plain_fields():
    found = written("---\nname: review\ndescription: Use it when: things break\n bad: [\n---\nDo it.")
    assert found.fields == {"name": "review", "description": "Use it when: things break"}
    assert found.body == "Do it."
    assert found.problem == "Its head is not YAML in line 3. A value with a colon in it needs quotes."
    assert written("---\nname: @x\n---\n").problem == "Its head is not YAML in line 2."
    assert written("---\nname: 'x\n---\n").problem.startswith("Its head is not YAML in line ")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\n- a\n- b\n---\nx", "Its head has no fields."),
        (f"---\nname: {'x' * LONGEST * 2}\n---\nDo it.", "Its head has no end"),
        ("---\n" + "[" * 5000 + "\n---\nDo it.", "Its head has more than 500 brackets"),
    ],
)
def test_a_head_that_cannot_be_read_is_told(text: str, problem: str):
    found = written(text)
    assert found.problem.startswith(problem)
    assert not found.fields


@given(st.text())
def test_no_text_is_refused_and_none_of_it_is_lost(text: str):
    assert written(text).body == text.removeprefix("\ufeff") or text.lstrip("\ufeff").startswith("---")
    assert written(f"---\nname: x\n---\n{text}").body == text
    written(f"---\n{text}\n---\nrest")
