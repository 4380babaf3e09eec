"""Which paths an approval of a command opens: those it is seen to change, and no others (S-8)."""

from __future__ import annotations

import pytest

from codelaw.permissions.opening import MOST, named_paths


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("echo x > .envrc", {".envrc"}),
        ("make && echo x > ./sub/../.envrc", {".envrc"}),
        ("node gen.js --out=.vscode/tasks.json", {".vscode/tasks.json"}),
        ("cp a /ws/.idea/x.xml", {"/ws/.idea/x.xml"}),
        ("cd sub && touch .envrc", {".envrc", "sub/.envrc"}),
        ("sed -i s/a/b/ '.mcp.json'", {".mcp.json"}),
        ("git config user.name x", {".git/config"}),
        ("git init", {".git"}),
        ("pre-commit install", {".git/hooks"}),
        ("for f in .envrc .exrc; do touch $f; done", {".envrc", ".exrc"}),
        ("cat .vscode/tasks.json && touch .envrc", {".envrc"}),
        ("git config --get user.name && touch .envrc", {".envrc"}),
        ("echo git config; touch .envrc", {".envrc"}),
        ("cat .envrc", set()),
        ("touch a.txt", set()),
        ("rm -rf .vs*", {".vs*"}),
    ],
)
def test_the_paths(command: str, paths: set[str]):
    assert set(named_paths(command)) == paths


def test_what_cannot_be_read_is_looked_through_as_it_is():
    assert ".envrc" in named_paths("if true; then echo x > .envrc; fi; case $x in")


def test_there_are_not_too_many():
    assert len(named_paths("touch " + " ".join(f"{number}/.envrc" for number in range(1000)))) == MOST
