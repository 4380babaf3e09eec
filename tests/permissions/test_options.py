from __future__ import annotations

import pytest

from codelaw.permissions.offers import _OFFERS
from codelaw.permissions.options import SHOWN, options_for, proposed_rule
from codelaw.permissions.policy import CallFacts, Rules, judge
from codelaw.permissions.risky_flags import PROGRAMS
from codelaw.permissions.rules import parse

PROPOSED = [
    ("git diff HEAD", "Bash(git diff:*)"),
    ("npm run build -- x", "Bash(npm run build -- x)"),
    ("npm test", "Bash(npm test)"),
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
    ("git config user.name x", None),
    ("git submodule foreach ls", "Bash(git submodule foreach ls)"),
    ("uv run pytest", "Bash(uv run pytest)"),
    ("ruff check .", "Bash(ruff check:*)"),
    ("make test", "Bash(make test)"),
    ("pnpm dlx x", "Bash(pnpm dlx x)"),
    ("npm x y", "Bash(npm x y)"),
    ("npx y", "Bash(npx y)"),
    ("npm install", "Bash(npm install)"),
    ("npm publish", "Bash(npm publish)"),
    ("uv tool run x", "Bash(uv tool run x)"),
    ("uv run x", "Bash(uv run x)"),
    ("pip install x", "Bash(pip install x)"),
    ("docker ps", "Bash(docker ps)"),
    ("podman rm x", "Bash(podman rm x)"),
    ("kubectl delete pod x", "Bash(kubectl delete pod x)"),
    ("git push origin", "Bash(git push origin)"),
    ("git stash drop", "Bash(git stash drop)"),
    ("git branch -D x", "Bash(git branch -D x)"),
    ("git tag x", "Bash(git tag x)"),
    ("cargo publish", "Bash(cargo publish)"),
    ("cargo install x", "Bash(cargo install x)"),
    ("cargo run", "Bash(cargo run)"),
    ("go run .", "Bash(go run .)"),
    ("go generate ./...", "Bash(go generate ./...)"),
    ("gh pr merge 1", "Bash(gh pr merge 1)"),
    ("gh api x", "Bash(gh api x)"),
    ("terraform plan", "Bash(terraform plan)"),
    ("gradle test", "Bash(gradle test)"),
    ("rake test", "Bash(rake test)"),
    ("dotnet build", "Bash(dotnet build)"),
    ("bundle exec rspec", "Bash(bundle exec rspec)"),
    ("cargo test --lib", "Bash(cargo test:*)"),
    ("cargo test --config x", "Bash(cargo test --config x)"),
    ("go vet ./...", "Bash(go vet:*)"),
    ("gh pr view 1 --json title", "Bash(gh pr view:*)"),
    ("git stash list", "Bash(git stash list:*)"),
    ("git log -n3 -Sfoo --oneline", "Bash(git log:*)"),
    ("git commit -m x", "Bash(git commit:*)"),
    ("git commit --amend", "Bash(git commit --amend)"),
    ("git $X", "Bash(git $X)"),
    ("pytest --unheard-of", "Bash(pytest --unheard-of)"),
    ("npm run :*", None),
    ("rm -r x :*", None),
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


def test_no_flag_of_the_tables_is_half_a_word():
    offers = [flag for offer in _OFFERS.values() for flag in offer.flags or ()]
    outgrowing = [flag for known in PROGRAMS.values() for flag in known.long]
    assert len(offers) > 300
    assert len(outgrowing) > 300
    assert [flag for flag in offers if not flag.startswith("-") or flag.endswith("-")] == []
    assert [flag for flag in outgrowing if flag.startswith("-") or flag.endswith("-")] == []
