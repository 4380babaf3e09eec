"""Files that other programs obey are asked about every time (S-8)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from codelaw.agent.turn.approval import Gate
from codelaw.app.ruling import policy
from codelaw.domain.files import Folder
from codelaw.domain.permissions import ApprovalAnswer, ApprovalQuestion
from codelaw.permissions.policy import CallFacts, Rules, judge
from codelaw.permissions.rules import parse
from codelaw.permissions.sensitive_files import MOST_NAMED, bare_piece, named_paths
from codelaw.settings.model import Settings

EVERYTHING = Rules(
    allow=tuple(parse(text) for text in ("Edit", "Edit(**)", "Bash", "Bash(touch:*)", "Bash(cp:*)", "Bash(git:*)")),
    grants=(parse("Edit(.vscode/**)"),),
)


def write(path: str, tool: str = "Write", rules: Rules = EVERYTHING, **more):
    return judge(CallFacts(tool, "write", path, paths="writes"), mode="agent", rules=rules, default="allow", **more)


def run(command: str, rules: Rules = EVERYTHING, **more):
    return judge(CallFacts("Bash", "execute", command), mode="agent", rules=rules, sandboxed=True, **more)


OBEYED = [
    *(".vscode/tasks.json", "a/b/.vscode/x/y", ".idea/workspace.xml", ".husky/pre-commit", ".envrc", "sub/.envrc"),
    *(".gitmodules", ".mcp.json", ".pre-commit-config.yaml", ".pre-commit-config.yml", ".bashrc", ".zshenv"),
    *(".profile", ".exrc", ".dir-locals.el", ".dir-locals-2.el", ".helix/languages.toml", "sub/.zed/settings.json"),
    *(".devcontainer/devcontainer.json", ".devcontainer.json", ".claude/settings.json", ".cursor/mcp.json"),
    *("all.code-workspace", "sub/All.Code-Workspace", ".VSCode/tasks.json", ".vscode./x", ".vscode /x", ".vscode. ./x"),
    *(".qwen/settings.json", ".kilocode/mcp.json", "crush.json", ".amazonq/mcp.json", ".junie/mcp/mcp.json"),
    *(".EnvRC", ".env\u200brc", ".en\ufeffvrc", ".vſcode/x", ".hus\u212ay/x", ".vscode::$INDEX_ALLOCATION/x"),
]


@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit", "Rename", "QuickFix", "mcp__x__y"])
@pytest.mark.parametrize("path", OBEYED)
def test_a_file_that_others_obey_is_asked_about_whatever_is_allowed(tool: str, path: str):
    decision = write(path, tool)
    assert (decision.action, decision.always_asked) == ("ask", True)
    assert "obey" in decision.rule


@pytest.mark.parametrize("path", ["src/vscode/x", "vscode", ".vscodes/x", ".env", ".github/x.yml", "profile"])
def test_other_files_are_judged_by_the_rules(path: str):
    assert write(path).action == "allow"


def test_what_is_stricter_stays_stricter():
    assert write(".envrc", rules=Rules(deny=(parse("Edit(.envrc)"),))).action == "deny"
    facts = CallFacts("Write", "write", ".envrc", paths="writes")
    assert judge(facts, mode="agent", rules=Rules(), default="deny").action == "deny"
    assert judge(facts, mode="plan", rules=EVERYTHING).action == "deny"
    assert judge(facts, mode="agent", rules=EVERYTHING, restricted=True).action == "deny"
    allowed = judge(facts, mode="agent", rules=EVERYTHING, default="deny")
    assert (allowed.action, allowed.always_asked) == ("ask", True)


def test_a_bare_repository_counts_as_git():
    assert bare_piece(("HEAD",), begun=False)
    assert bare_piece(("head",), begun=False)
    assert not bare_piece(("a", "HEAD"), begun=False)
    assert not bare_piece(("hooks", "useThing.ts"), begun=False)
    assert not bare_piece((), begun=True)
    for path in ("config", "hooks/post-checkout", "objects/a", "refs/heads/x", "Hooks/x"):
        assert bare_piece(tuple(path.split("/")), begun=True)
    assert not bare_piece(("src", "config"), begun=True)
    facts = CallFacts("Write", "write", "HEAD", paths="writes", every_time="Git would obey the folder as a repository.")
    decision = judge(facts, mode="agent", rules=EVERYTHING)
    assert (decision.action, decision.always_asked) == ("ask", True)


NAMED = [
    *("touch .vscode/tasks.json", "cp x a/.vscode/tasks.json", "echo x >> sub/.bashrc"),
    *("cat a > '.vscode/settings.json'", "cat .envrc > .envrc", "tee .husky/pre-commit"),
    *("sed -i s/a/b/ .husky/pre-commit", "rm -rf .idea", "mv x .mcp.json", "ln -s .vscode x", "touch .VSCODE/x"),
    *("touch .vs''code/x", "touch .vs\\code/x", "touch .vsc*/x", "touch .vs?ode/x", "touch .{vscode,idea}/x"),
    *("touch $PWD/.vscode/x", "D=.vscode; touch $D/x", "X=1 D=.vscode touch $D/x"),
    *("for f in .envrc; do echo x > $f; done", "cd .vscode && touch tasks.json", "cd .vscode; cat x > tasks.json"),
    *("sh -c 'echo x > .envrc'", 'bash -c "touch .vscode/x"', "python -c \"open('.envrc', 'w')\""),
    *("tar -xf x.tar -C .vscode", "git checkout x -- .vscode/tasks.json", "git rm .gitmodules", "git mv x .envrc"),
    *("git -c core.hooksPath=x commit", "git config core.hooksPath x", "git config user.name x"),
    *("git config --global alias.x y", "git config --unset x", "git config -e", "git -C sub config a b"),
    *("git config set a b", "sudo git config a b", "git init", "git init --bare .", "git submodule add x"),
    *("git submodule update --init", "git remote add x y", "git remote set-url x y", "git lfs install"),
    *("pre-commit install", "direnv allow", "npx husky", "touch .git/config", "cp x .git/hooks/pre-commit"),
    *("rm -rf .git", "mv a .git", "echo x > .git/hooks/post-checkout", "touch .codelaw/config.toml"),
    *("echo ref > HEAD", "cp x HEAD", "echo $((1)) > .envrc", "echo $((1)) > .vs''code/x", "awk 1 x > .envrc"),
    *("dd of=.envrc", "curl -o.envrc http://x"),
    *(
        "cd .github && cd workflows && cp ../../a ci.yml",
        "(cd .github; mkdir workflows)",
        "cd .github; cp -r ../x workflows/",
    ),
    *(
        "cp -r x/workflows .github",
        "mv x .github/",
        "cp -t .github -r x",
        "cp x .github/work*/ci.yml",
        "cp x .github/*/y",
    ),
    *("ls .envrc | xargs sed -i s/a/b/", "echo AGENTS.md | xargs -I{} cp x {}", "cat AGENTS.md | xargs"),
]


@pytest.mark.parametrize("command", NAMED)
def test_a_command_that_is_seen_to_name_one_is_asked(command: str):
    decision = run(command)
    assert (decision.action, decision.always_asked) == ("ask", True), decision
    exact = Rules(allow=(parse("Bash"), parse(f"Bash({command})")))
    assert run(command, exact).action == "ask"
    assert run(command, Rules(deny=(parse("Bash"),))).action == "deny"
    assert run(command, Rules(), default="deny").action == "deny"


UNNAMED = [
    *("git add .", "git add .vscode/settings.json", "git commit -am 'change .vscode/settings.json'"),
    *("git diff .gitmodules", "git log -- .husky", "git show HEAD:.envrc", "git status", "git push origin HEAD"),
    *("git reset HEAD~1", "git checkout HEAD", "git config --get user.name", "git config --list"),
    *("git config user.name", "git config --global --get user.name", "git config get user.name"),
    *("git config --get core.hooksPath", "git remote -v", "git submodule status", "git submodule update", "git stash"),
    *("cat .vscode/settings.json", "cat .vscode/settings.json > out.json", "ls -la .husky", "ls -la .git/hooks"),
    *("cat .git/config", "head -3 .envrc | wc -l", "grep -r x --exclude-dir=.git .", "find . -name .envrc"),
    *("find . -path ./.git -prune -o -name '*.py' -print", "rg --hidden x .vscode", "tar --exclude=.git -cf x.tar ."),
    *("rsync -a --exclude .git a b", "cd .vscode && ls", "jq . .vscode/settings.json", "test -f .envrc && cat .envrc"),
    *("[ -f .envrc ]", "echo .envrc", "rm -f .git/index.lock", "gh api user --jq .login"),
    *("git clone https://host/x/y.git", "cp a b/c.profile", "npm test", "make x", "rm -rf *", "diff a .bashrc"),
    *("sed -n 1,5p .envrc", "cd .github && cp x dependabot.yml", "ls .github | xargs cat", "git add .github"),
    *("ls .envrc | xargs cat", "grep -rl x .github/workflows | xargs -n 1 wc -l", "mkdir -p .github/ISSUE_TEMPLATE"),
]


@pytest.mark.parametrize("command", UNNAMED)
def test_what_only_reads_one_or_names_none_needs_no_question(command: str):
    assert run(command, Rules(allow=(parse("Bash"),))).action == "allow"


def test_commands_are_always_asked_where_the_shell_cannot_be_read():
    facts = CallFacts("Bash", "execute", "git diff")
    rules = Rules(allow=(parse("Bash"), parse("Bash(git diff)")), grants=(parse("Bash(git diff:*)"),))
    assert judge(facts, mode="agent", rules=rules, sandboxed=True).action == "allow"
    decision = judge(facts, mode="agent", rules=rules, sandboxed=True, commands_always_asked=True)
    assert (decision.action, decision.always_asked) == ("ask", False)
    denied = Rules(deny=(parse("Bash(git diff)"),))
    assert judge(facts, mode="agent", rules=denied, commands_always_asked=True).action == "deny"


UNSEEN = [
    *("git diff a\u202eb", "git diff a\u200bb", "git diff 'a\x1b[2Kb'", "git diff a\rb", "git diff\u00a0a"),
    *("git diff a\u3000b", "git diff a\u2028b", "git diff a\u3164b", "git diff a\x0bb", "git diff a\U000e0041b"),
]


@pytest.mark.parametrize("command", UNSEEN)
def test_characters_that_are_not_seen_are_covered_by_the_very_command_only(command: str):
    for rule in ("Bash", "Bash(git diff:*)"):
        assert run(command, Rules(allow=(parse(rule),))).action == "ask"
    assert run(command, Rules(allow=(parse(f"Bash({command})"),))).action == "allow"
    assert (
        run("git diff a\n\tb; git diff 文件 é", Rules(allow=(parse("Bash(git diff:*)"), parse("Bash(b)")))).action
        == "allow"
    )


class _Shell:
    """The facts of processes, as another platform would tell them."""

    sandboxed = True
    trusted = True
    describe = ""

    def __init__(self, *, posix: bool) -> None:
        self.posix = posix


class _User:
    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def ask(self, question: ApprovalQuestion) -> ApprovalAnswer:
        self.asked.append(question)
        return ApprovalAnswer("once")


@pytest.mark.parametrize("posix", [True, False])
async def test_on_windows_every_command_is_asked_once(posix: bool, tmp_path: Path):
    settings = Settings.model_validate({"permissions": {"allow": ["Bash"], "default": "allow"}})
    rules, _ = policy(settings, "agent", cast("Any", _Shell(posix=posix)), [Folder("w", tmp_path, tmp_path.as_uri())])
    user = _User()
    gate = Gate(rules, user, store=cast("Any", None), always=[])
    facts = CallFacts("Bash", "execute", "git diff")
    assert (await gate.judge(facts)).action == ("allow" if posix else "ask")
    await gate.ask(facts, ApprovalQuestion("c", "t", "k", "Bash", "git diff", "execute", command="git diff"))
    (question,) = user.asked
    assert question.always_asked is False
    assert [option.kind for option in question.options] == (
        ["allow_once", "allow_chat", "reject"] if posix else ["allow_once", "reject"]
    )


# ---------------------------------------------------------------------------------- what an approval of a command opens


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        *(("echo x > .envrc", {".envrc"}), ("make && echo x > ./sub/../.envrc", {".envrc"})),
        ("node gen.js --out=.vscode/tasks.json", {".vscode/tasks.json"}),
        *(("cp a /ws/.idea/x.xml", {"/ws/.idea/x.xml"}), ("cd sub && touch .envrc", {".envrc", "sub/.envrc"})),
        *(("sed -i s/a/b/ '.mcp.json'", {".mcp.json"}), ("git config user.name x", {".git/config"})),
        *(("git init", {".git"}), ("pre-commit install", {".git/hooks"})),
        ("for f in .envrc .exrc; do touch $f; done", {".envrc", ".exrc"}),
        ("cat .vscode/tasks.json && touch .envrc", {".envrc"}),
        *(("git config --get user.name && touch .envrc", {".envrc"}), ("echo git config; touch .envrc", {".envrc"})),
        *(("cat .envrc", set()), ("touch a.txt", set()), ("rm -rf .vs*", {".vs*"})),
    ],
)
def test_the_paths(command: str, paths: set[str]):
    assert set(named_paths(command)) == paths


def test_what_cannot_be_read_is_looked_through_as_it_is():
    assert ".envrc" in named_paths("if true; then echo x > .envrc; fi; case $x in")


def test_there_are_not_too_many():
    assert len(named_paths("touch " + " ".join(f"{number}/.envrc" for number in range(1000)))) == MOST_NAMED
