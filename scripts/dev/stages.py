"""What is checked: all of it, or what a path needs. Values only; `running` runs them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.dev.base import ROOT, Problem

WORKERS = min((os.cpu_count() or 1) + 1, 5)
"""Processes that share the tests, one more than there are processors: tests often wait for processes and the disk."""
TESTS = "tests"
"""The lane of pytest, whose output is shown as it comes."""
CHECKS = "checks"
"""The lane of what stands still: format, lint, types, the extension. It runs beside the tests."""


LONG_ROOMS = frozenset({"tests/attacks", "tests/breakers", "tests/editors", "tests/injection"})
"""Folders in which every test is long."""


@dataclass(frozen=True)
class Stage:
    """One program to run; stages of one lane run one after the other, lanes side by side."""

    name: str
    command: tuple[str, ...]
    """A program of `.venv/bin`, or `npm`, and its arguments."""
    lane: str = CHECKS

    @property
    def client(self) -> bool:
        """Whether it runs in `editor-client` and needs its packages."""
        return self.command[0] == "npm"


def whole(*, everything: bool, pytest: Sequence[str] = ()) -> list[Stage]:
    """All stages; without `everything` no long tests, no types of tests, and no times are printed."""
    chosen = ("--durations=30",) if everything else ("-m", "not long")
    typed = () if everything else ("server",)
    return [
        Stage("format", ("ruff", "format", "--check", ".")),
        Stage("lint", ("ruff", "check", ".")),
        Stage("imports", ("lint-imports", "--no-logo")),
        Stage("types", ("pyright", "--pythonpath", ".venv/bin/python", *typed)),
        *(Stage(f"client {name}", ("npm", "run", "--silent", name)) for name in ("check", "lint", "test", "build")),
        _tests((*chosen, *pytest), WORKERS),
    ]


def of_paths(paths: Iterable[str], pytest: Sequence[str] = (), root: Path = ROOT) -> list[Stage]:
    """The stages that these files and folders need; a path is relative to the checkout and may name one test.

    Raises Problem for a path that is not there.
    """
    python: list[str] = []
    sources: list[str] = []
    tests: list[str] = []
    client: list[str] = []
    for given in paths:
        path = given.partition("::")[0].strip("/")
        if not path or not (root / path).exists():
            raise Problem(f"there is no {given!r} in this checkout")
        room = path.partition("/")[0]
        if room == "editor-client":
            client.append(path.partition("/")[2])
            continue
        if path.endswith(".py") or (root / path).is_dir():
            python.append(path)
        if room == "tests":
            tests.append(given)
        elif path.startswith("server/codelaw"):
            sources.append(path)
            tests += _testing(path, root)
        else:
            tests.append("tests/contracts")
    stages: list[Stage] = []
    if python:
        stages += [Stage("format", ("ruff", "format", "--check", *python)), Stage("lint", ("ruff", "check", *python))]
    if sources:
        stages.append(Stage("types", ("pyright", "--pythonpath", ".venv/bin/python", *sources)))
        stages.append(Stage("imports", ("lint-imports", "--no-logo")))
    if tests:
        named = list(dict.fromkeys(tests))
        files = all(name.partition("::")[0].endswith(".py") for name in named)
        # What is named runs whole; of a folder with others the long tests are left out.
        rooms = all(name.strip("/") in LONG_ROOMS for name in named)
        chosen = () if files or rooms else ("-m", "not long")
        stages.append(_tests((*chosen, *pytest, *named), 0 if files and len(named) == 1 else WORKERS))
    return stages + _client(client, root)


def _tests(arguments: Sequence[str], workers: int) -> Stage:
    shared = ("--dist", "worksteal") if workers else ()
    return Stage("tests", ("python", "-u", "-m", "pytest", "-n", str(workers), *shared, *arguments), TESTS)


def _client(paths: Sequence[str], root: Path) -> list[Stage]:
    """For files of the extension: its types where a source changed, lint, and the tests that use the file."""
    if not paths:
        return []
    if "" in paths:
        return [stage for stage in whole(everything=False) if stage.client]
    folder = root / "editor-client"
    tests = [path for path in paths if path.partition("/")[0] == "test"]
    sources = [path for path in paths if path not in tests]
    stages: list[Stage] = []
    linted = [path for path in paths if (folder / path).is_dir() or path.endswith((".ts", ".tsx", ".mjs"))]
    if linted:
        stages.append(Stage("client lint", ("npm", "exec", "--", "eslint", "--max-warnings", "0", *linted)))
    stages.append(Stage("client style", ("npm", "exec", "--", "prettier", "--check", "--log-level", "warn", *paths)))
    if sources:
        stages.append(Stage("client check", ("npm", "run", "--silent", "check")))
        files = [
            file.relative_to(folder).as_posix()
            for path in sources
            for file in ((folder / path).rglob("*.ts*") if (folder / path).is_dir() else [folder / path])
        ]
        stages.append(Stage("client test", ("npm", "exec", "--", "vitest", "related", "--run", *files), "client tests"))
    if tests:
        stages.append(Stage("client test", ("npm", "exec", "--", "vitest", "run", *tests), "client tests"))
    return stages


def _testing(path: str, root: Path) -> list[str]:
    """The test files that name a module, or the tests of its room when none does."""
    parts = Path(path).relative_to("server/codelaw").with_suffix("").parts
    room = f"tests/{parts[0]}" if parts and (root / "tests" / parts[0]).is_dir() else "tests/contracts"
    if not path.endswith(".py"):
        return [room] if parts else ["tests"]
    package, name = ".".join(("codelaw", *parts[:-1])), parts[-1]
    named = re.compile(
        rf"\b{re.escape(package)}\.{name}\b|from {re.escape(package)} import (?:\([^)]*|[^\n]*)\b{name}\b"
    )
    files = sorted((root / "tests").rglob("test_*.py"))
    found = [file.relative_to(root).as_posix() for file in files if named.search(file.read_text(encoding="utf-8"))]
    return found or [room]
