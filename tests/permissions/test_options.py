from __future__ import annotations

import pytest

from codelaw.permissions.options import SHOWN, options_for, proposed_rule
from codelaw.permissions.policy import CallFacts, Rules, judge
from codelaw.permissions.rules import parse

BY_FIRST_WORDS = [
    *(("git diff HEAD", "Bash(git diff:*)"), ("pytest -q tests", "Bash(pytest:*)"), ("ls *", "Bash(ls:*)")),
    *(("ruff check .", "Bash(ruff check:*)"), ("cargo test --lib", "Bash(cargo test:*)")),
    *(("go vet ./...", "Bash(go vet:*)"), ("gh pr view 1 --json title", "Bash(gh pr view:*)")),
    *(("git stash list", "Bash(git stash list:*)"), ("git log -n3 -Sfoo --oneline", "Bash(git log:*)")),
    ("git commit -m x", "Bash(git commit:*)"),
]
AS_THEY_STAND = [
    *("npm run build -- x", "npm test", "git -C x diff", "rm -rf build", "curl http://x", "sh -c 'ls'", "ls > x"),
    *("X=1 ls", "make && make test", "/tmp/ls x", "uv run python x.py", "npm exec bash x", "docker run ubuntu ls"),
    *("uv run pytest", "make test", "npm install", "npm publish", "pip install x", "docker ps", "podman rm x"),
    *("git push origin", "git stash drop", "git branch -D x", "git tag x", "cargo publish", "cargo install x"),
    *("go run .", "go generate ./...", "gh pr merge 1", "terraform plan", "gradle test", "rake test", "dotnet build"),
    *("bundle exec rspec", "cargo test --config x", "git commit --amend", "git $X", "pytest --unheard-of"),
]
NEVER = ["git config user.name x", "npm run :*", "rm -r x :*", "rm *", "echo $((1))", ""]
PROPOSED = [
    *BY_FIRST_WORDS,
    *((text, f"Bash({text})") for text in AS_THEY_STAND),
    *((text, None) for text in NEVER),
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
        *(("Edit", "src/a.py", "Edit(src/**)"), ("Write", "src/x/a.py", "Edit(src/x/**)")),
        *(("MultiEdit", "README.md", "Edit(/README.md)"), ("Edit", "app/[id]/a.tsx", "Edit(app/[[]id]/**)")),
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
        *("rm -r " + "x" * SHOWN, "rm -r 'a\n  y  Allow once'", "rm -r a\u202eb", "rm -r a\u200bb", "rm -r a\u3164b"),
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


@pytest.mark.parametrize(
    ("granted", "kept", "outgrown"),
    [
        ("pytest -q", "pytest -x -k 'a or b' tests/a.py --tb=short", "pytest --unheard-of"),
        ("mypy src", "mypy --strict --no-color-output --no-site-packages src", "mypy --plugin=x src"),
        ("jest", "jest -t 'a b' --ci", "jest --unheard-of=./x.js"),
        ("git log", "git log --oneline -n 3 --no-merges --ignore-blank-lines --no-ext-diff", "git log --unheard-of"),
        ("go test ./...", "go test -race -run X ./...", "go test -unheard-of ./..."),
        ("cargo check", "cargo check -p x --release --test-threads=1", "cargo check --unheard-of"),
        ("eslint .", "eslint --quiet src", "eslint --unheard-of src"),
        ("tsc --noEmit", "tsc --noEmit --pretty", "tsc --unheard-of x"),
        ("ruff check .", "ruff check --select F .", "ruff check --unheard-of ."),
        ("gh pr list", "gh pr list --state open -L 3", "gh pr list --web"),
        ("vitest", "vitest -t x --run", "vitest --unheard-of x"),
        ("npm ls", "npm ls --depth=0", "npm ls --unheard-of"),
    ],
)
def test_a_standing_answer_counts_only_with_flags_known_as_harmless(granted: str, kept: str, outgrown: str):
    rule = proposed_rule(CallFacts("Bash", "execute", granted))
    assert rule is not None
    assert rule.endswith(":*)")
    for command, action in ((granted, "allow"), (kept, "allow"), (outgrown, "ask")):
        facts = CallFacts("Bash", "execute", command)
        assert judge(facts, mode="agent", rules=Rules(grants=(parse(rule),))).action == action, command
    # What the user wrote into the settings is read more widely: only flags known as harmful are left out.
    facts = CallFacts("Bash", "execute", outgrown)
    harmful = outgrown.startswith("jest")
    assert judge(facts, mode="agent", rules=Rules(allow=(parse(rule),))).action == "allow" or harmful


def test_an_answer_for_once_is_all_there_is_where_no_rule_may_answer():
    for facts in (CallFacts("Bash", "execute", "git diff"), CallFacts("Edit", "write", "src/a", paths="writes")):
        assert [option.kind for option in options_for(facts, only_once=True)] == ["allow_once", "reject"]
