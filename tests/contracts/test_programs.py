"""Every program that the server starts is started by a module that knows how (S-5, S-8)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SERVER = Path(__file__).parents[2] / "server" / "codelaw"
STARTS = {
    "run", "call", "check_call", "check_output", "Popen", "create_subprocess_exec", "create_subprocess_shell",
    "subprocess_exec", "subprocess_shell", "getoutput", "getstatusoutput",
}  # fmt: skip
BARE = {"system", "popen", "execl", "execle", "execlp", "execlpe", "execv", "execvp", "execvpe"}
BARE |= {"spawnl", "spawnle", "spawnlp", "spawnlpe", "spawnv", "spawnve", "spawnvp", "spawnvpe", "startfile"}
FINDERS = {"which", "find_executable"}
STARTERS = {
    "adapters/crash_journal/crash_journal.py",  # who ends what a killed server has left
    "adapters/processes/child.py",  # commands, in the sandbox
    "adapters/processes/quarantine/refs.py",  # git, in a repository of ours
    "adapters/processes/sandboxes/finding.py",  # trials of the sandbox
    "adapters/asking.py",  # git and searches, which only read
    "cli/spawn.py",  # the server
}
"""Modules that start programs: those take them from `adapters/programs`, or from our own interpreter."""
REPLACED = {"adapters/processes/sandboxes/landlock_child.py"}
"""Modules that become the program: they run in the sandbox already."""


def calls(path: Path) -> Iterator[tuple[str, str, ast.Call]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            yield owner.id if isinstance(owner, ast.Name) else "", node.func.attr, node


def offences(path: Path, name: str) -> list[str]:
    found: list[str] = []
    for owner, called, node in calls(path):
        where = f"{name}:{node.lineno} {owner}.{called}"
        if called in FINDERS:
            found.append(f"{where} finds a program without asking whether a workspace holds it")
        elif (owner == "os" and called in BARE) or called.startswith("posix_spawn"):
            found += [] if name in REPLACED else [f"{where} hands its environment on"]
        elif called in STARTS and (owner in {"subprocess", "asyncio", "loop"}) and owner + called != "asynciorun":
            if "env" not in {keyword.arg for keyword in node.keywords}:
                found.append(f"{where} hands its environment on: say env=")
            if name not in STARTERS:
                found.append(f"{where} is no module that starts programs")
    return found


def test_every_program_is_started_with_an_environment_of_its_own() -> None:
    modules = {path.relative_to(SERVER).as_posix(): path for path in sorted(SERVER.rglob("*.py"))}
    assert [offence for name, path in modules.items() for offence in offences(path, name)] == []
    starting = {name for name, path in modules.items() if any(called in STARTS for _, called, _ in calls(path))}
    assert starting >= STARTERS


def test_an_offence_is_seen(tmp_path: Path) -> None:
    lines = [
        "subprocess.run(['x'])",
        "asyncio.create_subprocess_exec('x', env={})",
        "os.system('x')",
        "shutil.which('x')",
        "os.posix_spawnp('x', [], {})",
    ]
    (tmp_path / "a.py").write_text("\n".join(lines))
    seen = offences(tmp_path / "a.py", "agent/a.py")
    assert {line.split()[0].partition(":")[2] for line in seen} == {"1", "2", "3", "4", "5"}
