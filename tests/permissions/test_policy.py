from __future__ import annotations

from dataclasses import replace

import pytest

from codelaw.domain.permissions import PathUse
from codelaw.permissions.policy import CallFacts, judge
from tests.permissions.judging import command, rules

ALLOW = ["Bash(git diff:*)", "Bash(git log:*)", "Bash(npm test)", "Bash(ls:*)", "Bash(cat:*)", "Bash(find:*)"]

ALLOWED = [
    *("git diff", "git diff HEAD~1 -- src/a.py", "  git   diff  ", "git 'diff' \"src/$X\"", 'cat "$X"', "npm test"),
    *("git diff && git log", "git diff | cat", "git diff; ls -la", "git diff 2>&1 | cat", "git diff 2>/dev/null"),
    *("git diff && echo done", "cat < a.txt", "for f in a b; do cat $f; done", "if git diff; then ls; fi"),
    *("(git diff; git log)", "ls $(git diff)", "cat <<'EOF'\nrm -rf /\nEOF", "cat <(git diff)", "find . -name '*.py'"),
    "git log --oneline \\\n  -n 3",
]

ASKED = [
    *("git push", "git diffx", "gitdiff", "./git diff", "/tmp/git diff", "npm test -- --watch", "npm run test"),
    *("git diff; rm -rf x", "git diff && rm x", "git diff || rm x", "git diff | sh", "git diff & rm x"),
    *("git diff\nrm x", "git diff $(rm x)", 'git diff "$(rm x)"', "git diff `rm x`", "git diff <(rm x)"),
    *("git diff > out.txt", "git diff >> ~/.bashrc", "git diff &> x", "cat < /dev/tcp/evil/80"),
    *("cat <<EOF\n$(rm x)\nEOF", "cat <<EOF\n`rm x`\nEOF", "GIT_EXTERNAL_DIFF=evil git diff"),
    *("PATH=/tmp/evil; git diff", "export PATH=/tmp; git diff", "for PATH in /tmp; do git diff; done"),
    *("git() { rm x; }; git diff", "alias git=rm; git diff", "eval git diff", "sh -c 'git diff'", 'bash -c "git diff"'),
    *("env git diff", "env X=1 git diff", "sudo git diff", "xargs git diff", "echo x | xargs cat", "command git diff"),
    *("exec git diff", "find . -exec cat {} \\;", "find . -delete", "find . -fprint x", "git -c core.pager=evil diff"),
    *("git diff --output=x", "git diff --ext-diff", "$GIT diff", "git $CMD", "g?t diff", "{git,diff}"),
    *("git {diff,push}", "git ${X:-diff}", "git diff $((1))", "git diff 'unterminated", "coproc git diff"),
    *("case x in x) git diff;; esac", "[[ -v a[$(rm)] ]] && git diff", "trap 'rm x' EXIT; git diff"),
    *("source x; git diff", ". x", "cd /etc && git diff", "if rm x; then git diff; fi"),
    *("while git diff; do rm x; done", "! rm x", "time rm x", "{ rm x; }", "(rm x)", "echo hi", "echo hi > x", ""),
]


@pytest.mark.parametrize(
    "text",
    [
        r"git diff `echo \"; rm x; echo \"`",
        'cat <<EOF\n`echo \\"; rm x; echo \\"`\nEOF',
        "ls $(c\\\nase x in x) rm x;; esac)",
        "i\\\nf ls; then ls; fi",
    ],
)
def test_what_shells_read_in_two_ways_is_asked(text):
    assert command(text, allow=ALLOW, default="allow", sandboxed=True).action == "ask"


@pytest.mark.parametrize("text", ALLOWED)
def test_rules_cover_every_part(text):
    assert command(text, allow=ALLOW).action == "allow"


@pytest.mark.parametrize("text", ASKED)
def test_one_part_without_a_rule_is_asked(text):
    assert command(text, allow=ALLOW).action == "ask"


def test_deny_wins_over_allow_and_the_exact_command_over_a_near_miss():
    assert command("rm x", deny=["Bash(rm:*)"], allow=["Bash(rm x)"]).action == "deny"
    assert command("git -C a push", deny=["Bash(git push:*)"], grants=["Bash(git -C a push)"]).source == "grant"


def test_a_blanket_permission_counts_only_in_a_sandbox():
    assert command("make x", allow=["Bash"]).action == "ask"
    assert command("make x", allow=["Bash"], sandboxed=True).action == "allow"
    assert command("make x", default="allow").action == "ask"
    assert command("make x", default="allow", sandboxed=True).action == "allow"
    assert command("make x", grants=["Bash(make:*)"]).action == "allow"


def test_what_cannot_be_read_is_asked_whatever_is_allowed():
    assert command("echo $((1", allow=["Bash"], default="allow", sandboxed=True).action == "ask"
    assert command("echo $((1", default="deny").action == "deny"


def test_explicit_wrappers_and_assignments_are_covered():
    assert command("sudo apt list", allow=["Bash(sudo apt list:*)"]).action == "allow"
    assert command("CI=1 npm test", allow=["Bash(CI=1 npm test:*)"]).action == "allow"
    assert command("a > b", allow=["Bash(a > b)"]).action == "allow"
    assert command("find . -exec cat {} +", allow=["Bash(find . -exec cat:*)"]).action == "allow"


def test_the_decision_names_rule_and_source():
    assert command("git diff", allow=ALLOW) == command("git diff HEAD", allow=ALLOW)
    decision = command("ls && git diff", allow=["Bash(ls:*)"], grants=["Bash(git diff:*)"])
    assert (decision.source, decision.rule) == ("grant", "Bash(ls:*), Bash(git diff:*)")
    assert command("x").source == "default"


@pytest.mark.parametrize("mode", ["ask", "plan"])
def test_the_mode_comes_first(mode):
    assert command("git diff", allow=ALLOW, mode=mode).source == "mode"
    for effect in ("write", "state"):
        facts = CallFacts("Edit", effect, "a")
        assert judge(facts, mode=mode, rules=rules(allow=["Edit"])).action == "deny"
    assert judge(CallFacts("Read", "read", "a"), mode=mode, rules=rules()).action == "allow"


USES: dict[str, PathUse] = {"read": "reads", "write": "writes"}

FILES = [
    ("Edit", "write", "src/a.py", {"allow": ["Edit(src/**)"]}, "allow"),
    ("Write", "write", "src/a.py", {"grants": ["Edit(src/**)"]}, "allow"),
    ("Write", "write", "src/../etc/a", {"allow": ["Edit(src/**)"]}, "ask"),
    ("Write", "write", "../src/a", {"allow": ["Edit(**)", "Write(src/**)"]}, "allow"),
    ("Write", "write", "../src/a", {"allow": ["Edit(**/a)"]}, "ask"),
    ("Edit", "write", "a/src/a.py", {"allow": ["Edit(src/**)"]}, "ask"),
    ("Edit", "write", "src/a.py", {"allow": ["Write(src/**)"]}, "ask"),
    ("Edit", "write", "docs/a.md", {"allow": ["Edit(*.md)"]}, "allow"),
    ("Edit", "write", "docs/a.md", {"allow": ["Edit(/*.md)"]}, "ask"),
    ("Edit", "write", "src/a.py", {"allow": ["Edit"], "deny": ["Edit(src/)"]}, "deny"),
    ("Read", "read", ".env", {"deny": ["Read(**/.env)"]}, "deny"),
    ("Read", "read", "a/../.env", {"deny": ["Read(.env)"]}, "deny"),
    ("Grep", "read", "a/.env", {"deny": ["Read(.env)"]}, "deny"),
    ("Read", "read", ".environment", {"deny": ["Read(.env)"]}, "allow"),
    ("Write", "write", "x", {"deny": ["Edit"], "allow": ["Write"]}, "deny"),
    *(("mcp__x__y", "execute", None, {"grants": ["mcp__x__y"]}, "allow"), ("mcp__x__y", "execute", None, {}, "ask")),
    *(("TodoWrite", "state", None, {}, "allow"), ("LS", "read", ".", {}, "allow")),
]


@pytest.mark.parametrize(("tool", "effect", "subject", "kinds", "action"), FILES)
def test_paths(tool, effect, subject, kinds, action):
    assert (
        judge(CallFacts(tool, effect, subject, paths=USES.get(effect)), mode="agent", rules=rules(**kinds)).action
        == action
    )


def test_the_default_setting_is_for_changes():
    facts = CallFacts("Edit", "write", "a")
    assert judge(facts, mode="agent", rules=rules(), default="allow").action == "allow"
    assert judge(facts, mode="agent", rules=rules(), default="deny").action == "deny"
    assert judge(CallFacts("Read", "read", "a"), mode="agent", rules=rules(), default="deny").action == "allow"


def test_what_a_server_does_is_asked_about_even_where_commands_are_kept_in():
    facts = CallFacts("mcp__x__y", "execute", None)
    assert judge(facts, mode="agent", rules=rules(), default="allow", sandboxed=True).action == "ask"
    assert judge(facts, mode="ask", rules=rules(allow=["mcp__x"])).action == "deny"
    assert judge(facts, mode="agent", rules=rules(allow=["mcp__x"], deny=["mcp__X__*"])).action == "deny"


@pytest.mark.parametrize("kinds", [{"allow": ["memory_save"]}, {"grants": ["memory_save"]}, {}])
def test_what_is_asked_every_time_no_rule_answers(kinds):
    facts = CallFacts("memory_save", "state", None, every_time="It counts everywhere.")
    decision = judge(facts, mode="agent", rules=rules(**kinds), default="allow")
    assert (decision.action, decision.rule, decision.always_asked) == ("ask", "It counts everywhere.", True)
    denied = judge(facts, mode="agent", rules=rules(**kinds, deny=["memory_save"]))
    assert denied.action == "deny"
    assert judge(facts, mode="ask", rules=rules(**kinds)).action == "deny"


def test_an_answer_about_a_servers_tool_is_one_for_what_the_server_said_of_it():
    now, later = "0123456789abcdef", "fedcba9876543210"
    given = rules(grants=[f"mcp__desk__put@{now}"])
    facts = CallFacts("mcp__desk__put", "execute", None, digest=now)
    assert judge(facts, mode="agent", rules=given).action == "allow"
    assert judge(replace(facts, digest=later), mode="agent", rules=given).action == "ask"
    assert judge(replace(facts, digest=""), mode="agent", rules=given).action == "ask"
    deny = rules(deny=[f"mcp__desk__put@{now}"])
    assert judge(replace(facts, digest=later), mode="agent", rules=deny).action == "deny", "to deny, it is read widely"
