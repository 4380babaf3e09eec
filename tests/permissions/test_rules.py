from __future__ import annotations

import pytest

from codelaw.permissions.rules import RuleError, escape_path, parse, parse_all

BAD = [
    ("", "form"),
    ("Bash(", "form"),
    ("Bash)x(", "form"),
    ("1x", "form"),
    ("Bash()", "empty"),
    ("Bash(npm run *)", "Bash(npm run:*)"),
    ("Bash(a | b:*)", "one command"),
    ("Bash($X:*)", "plain words"),
    ("Bash('a:*)", "one command"),
    ("Bash(a > b:*)", "one command"),
    ("Edit(../x)", "out of the workspace"),
    ("Edit(a/../../x)", "out of the workspace"),
    ("bash(ls)", "no tool bash"),
    ("Bash(" + "x" * 5000 + ")", "longer"),
]


@pytest.mark.parametrize(("text", "reason"), BAD)
def test_a_bad_rule_is_reported_with_its_text(text, reason):
    rules, problems = parse_all([text, "Edit(a)"], {"Bash", "Edit"})
    assert [rule.text for rule in rules] == ["Edit(a)"]
    assert problems[0].text == text
    assert reason in problems[0].reason
    with pytest.raises(RuleError):
        parse(text, {"Bash", "Edit"})


@pytest.mark.parametrize("text", ["Bash", "Bash(*)", "Bash(:*)", "Edit(**)", "mcp__a__b"])
def test_blanket_rules(text):
    assert parse(text, {"Bash", "Edit"}).blanket


def test_an_escaped_path_matches_itself_alone():
    rule = parse(f"Edit(/{escape_path('a[1]/*?.py')})")
    assert rule.covers_path("a[1]/*?.py")
    assert not rule.covers_path("a1/x.py")


@pytest.mark.parametrize(
    ("pattern", "path", "covered"),
    [
        ("**/x", "x", True),
        ("**/x", "a/b/x", True),
        ("a/**/x", "a/x", True),
        ("a/**/x", "a/b/c/x", True),
        ("a/**", "a/b", True),
        ("a/**", "a", False),
        ("[!a]/x", "b/x", True),
        ("[!a]/x", "a/x", False),
        ("[ab].py", "c/b.py", True),
        ("a?c/x", "a/c/x", False),
        ("a*c/x", "a/c/x", False),
        ("./a/x", "a/x", True),
        ("[^a].py", "^.py", True),
        ("[", "[", True),
        ("a/*", "a/b\nc", True),
    ],
)
def test_globs(pattern, path, covered):
    assert parse(f"Edit({pattern})").covers_path(path) is covered


@pytest.mark.parametrize("pattern", ["*a" * 25 + "b", "**/" * 20 + "x/y", "a/**/" * 12 + "b"])
def test_a_pattern_with_many_stars_ends(pattern: str):
    rule = parse(f"Edit({pattern})")
    assert not rule.covers_path("/".join(["a"] * 60) + "/" + "a" * 200)
    assert not rule.forbids_path("/".join(["a"] * 60) + "/" + "a" * 200)
