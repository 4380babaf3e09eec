from __future__ import annotations

import pytest

from codelaw.domain.permissions import PathUse
from codelaw.domain.safety.globs import path_matcher
from codelaw.permissions.rules import MAX_RULES, RuleError, escape_path, parse, parse_all

TOOLS: dict[str, PathUse | None] = {"Bash": None, "Edit": "writes", "Read": "reads", "TodoWrite": None}

BAD = [
    *(("", "form"), ("Bash(", "form"), ("Bash()", "empty"), ("Bash(npm run *)", "Bash(npm run:*)")),
    *(("Bash(a | b:*)", "one command"), ("Bash($X:*)", "plain words"), ("Bash(a > b:*)", "one command")),
    *(("Edit(**/*.{key,pem)", "not closed"), ("Edit([b-a])", "cannot be read")),
    *(("Edit(" + "{a,b}" * 12 + ")", "alternatives"), ("Edit(.)", "names no file")),
    *(("Edit(~/.ssh/**)", "out of the workspace"), ("Edit(//etc/passwd)", "out of the workspace")),
    *(("Edit(C:\\secrets\\**)", "out of the workspace"), ("edit(src/**)", "it is spelt Edit")),
    *(("TodoWrite(a)", "takes no path"), ("Edit(../x)", "out of the workspace")),
    *(("Edit({../x,a/../b})", "out of the workspace"), ("bash(ls)", "no tool bash")),
    *(("mcp__github__create_issue(title)", "takes no path"), ("Ed*", "form"), ("Bash(" + "x" * 5000 + ")", "longer")),
]


@pytest.mark.parametrize(("text", "reason"), BAD)
def test_a_bad_rule_is_reported_with_its_text(text, reason):
    rules, problems = parse_all([text, "Edit(a)"], TOOLS)
    assert [rule.text for rule in rules] == ["Edit(a)"]
    assert problems[0].text == text
    assert reason in problems[0].reason
    with pytest.raises(RuleError):
        parse(text, TOOLS)


@pytest.mark.parametrize("text", ["Bash", "Bash(*)", "Bash(:*)", "Edit(**)", "mcp__a__b"])
def test_blanket_rules(text):
    assert parse(text, TOOLS).blanket


@pytest.mark.parametrize(
    ("pattern", "path", "covered"),
    [
        *(("**/x", "x", True), ("**/x", "a/b/x", True), ("a/**/x", "a/x", True), ("a/**", "a/b", True)),
        *(("a/**", "a", False), ("[!a]/x", "b/x", True), ("[!a]/x", "a/x", False), ("a?c/x", "a/c/x", False)),
        *(("./a/x", "a/x", True), ("[--x].py", "a.py", True), ("[+--].py", ",.py", True), ("[!&&].py", "&.py", False)),
        *(("[||~~].py", "~.py", True), ("a/*", "a/b\nc", True)),
    ],
)
def test_globs(pattern, path, covered):
    assert parse(f"Edit({pattern})").covers_path(path) is covered


@pytest.mark.parametrize("pattern", ["*a" * 25 + "b", "**/" * 20 + "x/y", "a/**/" * 12 + "b"])
def test_a_pattern_with_many_stars_ends(pattern: str):
    rule = parse(f"Edit({pattern})")
    assert not rule.covers_path("/".join(["a"] * 60) + "/" + "a" * 200)
    assert not rule.forbids_path("/".join(["a"] * 60) + "/" + "a" * 200)


@pytest.mark.parametrize(
    "pattern",
    [
        *("**/*.{key,pem}", "*.{key,pem}", "{src,test}/**", "**/a/**/b", "a/**", "[!a]/x", "a?c/x", "src/{a,b/c}.py"),
        "/a.py",
    ],
)
def test_a_rule_matches_what_the_same_glob_finds(pattern: str):
    found = path_matcher(pattern)
    rule = parse(f"Edit({pattern})")
    paths = [
        *("a.key", "certs/a.pem", "certs/a.pub", "src/x", "src/b/x", "test/y", "a/b", "x/a/y/b", "b/x", "a/x"),
        *("abc/x", "a/c/x", "src/a.py", "src/b/c.py", "a.py", "x/a.py", "a/b/c/d"),
    ]
    assert [path for path in paths if rule.covers_path(path)] == [path for path in paths if found(path)]


EVASIONS = [
    *(("**/*.{key,pem}", "certs/a.pem"), ("**/*.{key,pem}", "Certs/A.PEM"), ("**/*.{KEY,pem}", "a.key")),
    *(("[!A-Z]*.key", "secret.key"), ("{.env,config/key}", "deep/.env"), ("secrets/", "deep/secrets/x")),
    *(("secrets/.", "secrets/x"), ("secrets//**", "secrets/x"), ("secrets\\**", "secrets/x")),
    *(("secrets/**", "./a/../secrets/x"), ("caf\u00e9/**", "cafe\u0301/x"), ("stra\u00dfe/**", "STRASSE/x")),
    *(("/secrets", "secrets/x/y"), ("{../x,secrets}/**", "secrets/x")),
]


@pytest.mark.parametrize(("pattern", "path"), EVASIONS)
def test_no_spelling_escapes_a_deny_rule(pattern: str, path: str):
    assert parse(f"Read({pattern})").forbids_path(path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [("secrets/", "deep/secrets/x"), ("*.{KEY}", "a.key"), ("src\\**", "src/x"), ("{a.py,b/c}", "x/a.py")],
)
def test_an_allow_rule_is_read_narrowly(pattern: str, path: str):
    assert not parse(f"Edit({pattern})").covers_path(path)


def test_a_deny_rule_holds_in_each_of_several_folders():
    folders = {"/home/me/one": "one", "/home/me/two": "two"}
    rule = parse("Read(secrets/**)", TOOLS, folders)
    assert rule.forbids_path("two/secrets/x")
    assert not rule.forbids_path("three/secrets/x")
    assert not parse("Edit(src/**)", TOOLS, folders).covers_path("two/src/x")


def test_an_absolute_pattern_inside_the_workspace_is_taken_as_relative():
    assert parse("Read(/home/me/one/secrets/**)", TOOLS, {"/home/me/one": "one"}).forbids_path("secrets/x")
    several = {"/home/me/one": "one", "/home/me/two": "t{w}o"}
    rule = parse("Read(/home/me/two/secrets/**)", TOOLS, several)
    assert rule.forbids_path("t{w}o/secrets/x")
    assert not rule.forbids_path("one/secrets/x")


def test_what_is_beyond_the_number_of_rules_is_told():
    rules, problems = parse_all(["Edit(a)"] * (MAX_RULES + 2))
    assert (len(rules), len(problems)) == (MAX_RULES, 1)
    assert str(MAX_RULES) in problems[0].reason


@pytest.mark.parametrize("path", ["a{b}c", "a\\b", "a*b?[c]", "{a,b}", "x}y"])
def test_an_escaped_name_is_matched_whatever_it_holds(path: str):
    rule = parse(f"Edit(/{escape_path(path)})")
    assert rule.covers_path(path)
    assert not rule.covers_path("ab")


def test_a_deny_rule_holds_in_a_folder_inside_another():
    folders = {"/w": "w", "/w/sub": "Backend", "/w/sub/deep": "deep"}
    assert parse("Read(/w/sub/secrets/**)", TOOLS, folders).forbids_path("Backend/secrets/x")
    inner = parse("Read(sub/secrets/**)", TOOLS, folders)
    assert inner.forbids_path("Backend/secrets/x")
    assert not inner.forbids_path("Backend/other/secrets/x")
    assert parse("Read(w/sub/**)", TOOLS, folders).forbids_path("Backend/x")
    assert parse("Read(sub/deep/x)", TOOLS, folders).forbids_path("deep/x")
    assert parse("Edit(/w/sub/src/**)", TOOLS, folders).covers_path("Backend/src/x")


@pytest.mark.parametrize("rule", ["Read(/)", "Read({/,x})", "Read(/**)"])
def test_a_deny_rule_about_the_root_covers_every_file(rule: str):
    assert parse(rule, TOOLS).forbids_path("a/b")
    assert parse(rule, TOOLS).forbids_path("a")


@pytest.mark.parametrize(
    "shown",
    [
        *("untitled:/w/secrets/new.txt", "untitled:secrets/new.txt", "fugitive:///w/.git//0/secrets/key"),
        *("git:/w/secrets/key?%7B%22ref%22%3A%22HEAD%22%7D", "untitled:/w/s%65crets/a"),
    ],
)
def test_a_deny_rule_covers_a_document_that_is_no_file(shown: str):
    assert parse("Read(secrets/**)", TOOLS).forbids_path(shown)
    assert not parse("Read(other/**)", TOOLS).forbids_path(shown)
    assert not parse("Edit(secrets/**)", TOOLS).covers_path(shown)


@pytest.mark.parametrize(
    ("rule", "tools"),
    [
        ("mcp__github", {"mcp__github__get_issue", "mcp__github__delete_repo"}),
        ("mcp__github__*", {"mcp__github__get_issue", "mcp__github__delete_repo"}),
        ("mcp__github__get_*", {"mcp__github__get_issue"}),
        ("mcp__*__get_issue", {"mcp__github__get_issue", "mcp__gitlab__get_issue"}),
        ("mcp__github__get_issue", {"mcp__github__get_issue"}),
        ("mcp__*", {"mcp__github__get_issue", "mcp__github__delete_repo", "mcp__gitlab__get_issue", "mcp__a__b__c"}),
        ("mcp__a__b", set[str]()),
        ("mcp__*z*", set[str]()),
    ],
)
def test_rules_name_what_servers_bring_with_stars(rule: str, tools: set[str]) -> None:
    every = {
        *("mcp__github__get_issue", "mcp__github__delete_repo", "mcp__gitlab__get_issue", "mcp__a__b__c"),
        *("Read", "Edit", "Bash", "mcp"),
    }
    read = parse(rule, TOOLS)
    assert read.blanket
    assert {tool for tool in every if read.permits(tool, None)} == tools
    assert {tool for tool in every if read.forbids(tool, None)} == tools


def test_to_deny_a_servers_tools_case_does_not_matter_and_to_allow_it_does() -> None:
    rule = parse("mcp__GitHub__*", TOOLS)
    assert rule.forbids("mcp__github__get_issue", None)
    assert not rule.permits("mcp__github__get_issue", None)
