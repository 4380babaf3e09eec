from __future__ import annotations

import pytest

from codelaw.permissions.options import SHOWN, options_for, proposed_rule
from codelaw.permissions.policy import CallFacts, Rules, judge
from codelaw.permissions.rules import parse

PROPOSED = [
    ("git diff HEAD", "Bash(git diff:*)"),
    ("npm run build -- x", "Bash(npm run build:*)"),
    ("npm test", "Bash(npm test:*)"),
    ("git -C x diff", "Bash(git -C x diff)"),
    ("pytest -q tests", "Bash(pytest:*)"),
    ("rm -rf build", "Bash(rm -rf build)"),
    ("python x.py", "Bash(python x.py)"),
    ("curl http://x", "Bash(curl http://x)"),
    ("sh -c 'ls'", "Bash(sh -c 'ls')"),
    ("sudo ls", "Bash(sudo ls)"),
    ("find . -delete", "Bash(find . -delete)"),
    ("ls > x", "Bash(ls > x)"),
    ("X=1 ls", "Bash(X=1 ls)"),
    ("make && make test", "Bash(make && make test)"),
    ("/tmp/ls x", "Bash(/tmp/ls x)"),
    ("ls *", "Bash(ls:*)"),
    ("uv run python x.py", "Bash(uv run python x.py)"),
    ("npm exec bash x", "Bash(npm exec bash x)"),
    ("docker run ubuntu ls", "Bash(docker run ubuntu ls)"),
    ("git config user.name x", "Bash(git config user.name x)"),
    ("git submodule foreach ls", "Bash(git submodule foreach ls)"),
    ("uv run pytest", "Bash(uv run pytest:*)"),
    ("ruff check .", "Bash(ruff check:*)"),
    ("rm *", None),
    ("echo $((1))", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "rule"), PROPOSED)
def test_the_proposed_rule_is_sensible_and_covers_the_call(text, rule):
    facts = CallFacts("Bash", "execute", text)
    assert proposed_rule(facts) == rule
    if rule is not None:
        assert judge(facts, mode="agent", rules=Rules(grants=(parse(rule),))).action == "allow"
    assert [option.kind for option in options_for(facts)][:: len(options_for(facts)) - 1] == ["allow_once", "reject"]


@pytest.mark.parametrize(
    ("tool", "path", "rule"),
    [
        ("Edit", "src/a.py", "Edit(src/**)"),
        ("Write", "src/x/a.py", "Edit(src/x/**)"),
        ("MultiEdit", "README.md", "Edit(/README.md)"),
        ("Edit", "app/[id]/a.tsx", "Edit(app/[[]id]/**)"),
        ("Edit", "../a", None),
    ],
)
def test_paths_propose_their_folder(tool, path, rule):
    facts = CallFacts(tool, "write", path, paths="writes")
    assert proposed_rule(facts) == rule
    kinds = [option.kind for option in options_for(facts)]
    assert kinds == (["allow_once", "allow_chat", "allow_always", "reject"] if rule else ["allow_once", "reject"])


@pytest.mark.parametrize(
    "command",
    [
        "rm -r " + "x" * SHOWN,
        "rm -r 'a\n  y  Allow once'",
        "rm -r a\u202eb",
        "rm -r a\u200bb",
        "rm -r a\u3164b",
        "rm -r 'a  b'",
    ],
)
def test_what_cannot_be_shown_whole_is_not_offered_for_good(command: str):
    facts = CallFacts("Bash", "execute", command)
    assert proposed_rule(facts) is not None
    assert [option.kind for option in options_for(facts)] == ["allow_once", "reject"]


@pytest.mark.parametrize("command", ["git diff", "rm -r " + "x" * (SHOWN - 12), "rm -r 文件"])
def test_a_standing_answer_shows_its_whole_rule(command: str):
    standing = [option for option in options_for(CallFacts("Bash", "execute", command)) if option.rule]
    assert [option.kind for option in standing] == ["allow_chat", "allow_always"]
    for option in standing:
        assert option.title.endswith(f": {option.rule}")


def test_standing_options_carry_their_rule():
    options = {option.kind: option for option in options_for(CallFacts("Bash", "execute", "git diff"))}
    assert options["allow_chat"].rule == options["allow_always"].rule == "Bash(git diff:*)"
    assert options["allow_once"].rule is options["reject"].rule is None
