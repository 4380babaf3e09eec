"""Files that decide what codelaw does later: asked about every time, and free to be read and run (S-8)."""

from __future__ import annotations

import pytest

from codelaw.domain.safety.obeyed_paths import ObeyedPaths
from codelaw.permissions.policy import CallFacts, Rules, judge
from codelaw.permissions.rules import parse

NAMED = ObeyedPaths(
    {"conventions.md": "It is law where it lies"},
    {"scripts/check.py": "A hook runs or reads it", "docs/skills": "It holds skills"},
)
RULES = Rules(allow=tuple(map(parse, ("Edit", "Bash"))), grants=(parse("Edit(**)"),), roots={"/ws": ""}, obeyed=NAMED)


def write(path: str, tool: str = "Write"):
    return judge(CallFacts(tool, "write", path, paths="writes"), mode="agent", rules=RULES, default="allow")


def run(command: str):
    return judge(CallFacts("Bash", "execute", command), mode="agent", rules=RULES, sandboxed=True)


@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit", "Rename", "QuickFix"])
@pytest.mark.parametrize(
    "path",
    [
        *("CONVENTIONS.md", "a/b/Conventions.MD", "scripts/check.py", "Scripts/CHECK.py", "scripts/che\u200bck.py"),
        *("docs/skills/x/SKILL.md", "docs/skills", "AGENTS.md", "sub/CLAUDE.md", "code_law.md", ".agents/x"),
        *(
            ".github/workflows/x.yml",
            "sub/.GITHUB/Workflows/x.yml",
            "Jenkinsfile",
            "opencode.json",
            "a.sublime-project",
        ),
    ],
)
def test_writing_one_is_asked_about_whatever_is_allowed(tool: str, path: str):
    decision = write(path, tool)
    assert (decision.action, decision.always_asked) == ("ask", True)


@pytest.mark.parametrize(
    "path", ["scripts/other.py", "sub/scripts/check.py", "docs/x.md", ".github/x.yml", "workflows/x.yml", "agents.py"]
)
def test_other_files_are_judged_by_the_rules(path: str):
    assert write(path).action == "allow"


@pytest.mark.parametrize(
    "command",
    [
        *("echo x > CONVENTIONS.md", "sed -i s/a/b/ sub/conventions.md", "cp x scripts/check.py && ./scripts/check.py", "rm /ws/scripts/check.py"),
        *("cd -P scripts && echo x > check.py", "cd -- scripts; rm check.py", "pushd scripts; rm check.py"),
        *("cd scripts && echo x > check.py", "cd scripts; tee check.py < x", "sh -c 'echo x > scripts/check.py'"),
        *("python3 -c 'open(\"scripts/check.py\", \"w\")'", "./gen --out=scripts/check.py", "./run cat scripts/check.py", "chmod 777 scripts/check.py"),
        *("git checkout x -- scripts/check.py", "black --write scripts/check.py", "mv x docs/skills", "touch scripts/{check,x}.py"),
        *("case x in; scripts/check.py", "touch docs/skills/x/SKILL.md", "dd of=scripts/check.py", "cat x >> ./scripts/check.py"),
    ],
)  # fmt: skip
def test_a_command_that_is_seen_to_name_one_is_asked_about(command: str):
    decision = run(command)
    assert (decision.action, decision.always_asked) == ("ask", True), decision


@pytest.mark.parametrize(
    "command",
    [
        *(
            "cat CONVENTIONS.md",
            "grep -n x scripts/check.py",
            "git diff AGENTS.md",
            "git add AGENTS.md scripts/check.py",
        ),
        *("git commit -m 'Mend scripts/check.py and AGENTS.md'", "python3 scripts/check.py", "./scripts/check.py < x"),
        *("ruff check scripts/check.py", "pytest scripts/check.py", "cd scripts && ls", "cat AGENTS.md > copy.md"),
        *("wc -l *.md", "rm -rf build/*", "touch scripts/other.py", "git checkout main", "npm test", "cp x docs/"),
        *("rg agents.md", "head -3 .github/workflows/x.yml", "git log -- CLAUDE.md", "find . -name AGENTS.md"),
    ],
)
def test_reading_one_and_running_one_are_free(command: str):
    assert run(command).action == "allow"


def test_a_command_with_too_many_names_is_asked_about():
    assert run("touch " + " ".join(f"a{number}" for number in range(2_000))).always_asked
