#!/usr/bin/env python3
"""Everything a checkout needs, with nothing installed but Python 3.11.

    python3 dev.py chat "Where is the history compressed? @README.md"
    python3 dev.py test [-- PYTEST ARGUMENTS]

Both make `.venv` beside this file when it is missing, install the locked packages into it when a lock changed, and then
run. `python3 dev.py lock` writes the locks anew.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / "bin"
WORKERS = min(os.cpu_count() or 1, 4)
"""Processes that share the tests; more would only wait for the disk."""
PYTHON = BIN / "python"
RUNTIME_LOCK = ROOT / "requirements.lock"
DEV_LOCK = ROOT / "requirements-dev.lock"
LOCK_HEADER = "# Locked versions with their hashes. Written by `python3 dev.py lock`; do not edit.\n"


class Problem(Exception):
    """Something the person at the terminal has to do."""


def run(command: Sequence[str | Path], **environment: str) -> int:
    """Run in the checkout with the venv first on PATH; gives the exit status."""
    path = os.pathsep.join([str(BIN), os.environ.get("PATH", os.defpath)])
    return subprocess.run(
        [str(part) for part in command], cwd=ROOT, env=os.environ | {"PATH": path} | environment, check=False
    ).returncode


def digest(*paths: Path) -> str:
    """What an installed environment depends on: these files and the interpreter."""
    state = hashlib.sha256(repr((sys.version_info[:2], str(ROOT))).encode())
    for path in paths:
        state.update(path.read_bytes())
    return state.hexdigest()


def install(lock: Path) -> None:
    """Bring `.venv` to `lock`, with this checkout installed in place; quick when nothing changed.

    The development lock holds everything the runtime lock does, so an environment for tests also serves `chat`.
    """
    pyproject = ROOT / "pyproject.toml"
    stamp = VENV / ".codelaw-lock"
    wanted = {path.name: digest(path, pyproject) for path in (RUNTIME_LOCK, DEV_LOCK)}
    accepted = {wanted[DEV_LOCK.name], wanted[lock.name]}
    if stamp.is_file() and PYTHON.exists() and stamp.read_text(encoding="utf-8").strip() in accepted:
        return
    if not PYTHON.exists():
        say("making .venv")
        if subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=False).returncode != 0:
            shutil.rmtree(VENV, ignore_errors=True)
            raise Problem("Python cannot make a virtual environment here (on Debian: apt-get install python3-venv)")
    stamp.unlink(missing_ok=True)
    pip = [PYTHON, "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    say(f"installing {lock.name}")
    if run([*pip, "--require-hashes", "--requirement", lock]) != 0:
        raise Problem(f"the packages of {lock.name} could not be installed: see pip's message above")
    # The build backend came with the lock, so that nothing unlocked is ever fetched.
    if run([*pip, "--no-build-isolation", "--no-deps", "--editable", ROOT]) != 0:
        raise Problem("codelaw itself could not be installed: see pip's message above")
    stamp.write_text(wanted[lock.name] + "\n", encoding="utf-8")


def chat(arguments: Sequence[str]) -> int:
    """One question (or, without a text, a conversation) about this checkout, or about `--workspace DIR`."""
    install(RUNTIME_LOCK)
    named = any(part == "--workspace" or part.startswith("--workspace=") for part in arguments)
    return run([BIN / "codelaw", "chat", *arguments, *([] if named else ["--workspace", ROOT])])


def test(arguments: Sequence[str]) -> int:
    """Format, lint, types, import contracts, tests; runs them all and fails if one failed."""
    install(DEV_LOCK)
    checks: dict[str, list[str | Path]] = {
        "format": [BIN / "ruff", "format", "--check", "."],
        "lint": [BIN / "ruff", "check", "."],
        "types": [BIN / "pyright", "--pythonpath", PYTHON],
        "imports": [BIN / "lint-imports", "--no-logo"],
        "tests": [PYTHON, "-m", "pytest", "-n", str(WORKERS), "--dist", "worksteal", *arguments],
    }
    failed: list[str] = []
    for name, command in checks.items():
        say(name)
        if run(command) != 0:
            failed.append(name)
    say(f"failed: {', '.join(failed)}" if failed else "all is well")
    return 1 if failed else 0


def lock(_: Sequence[str]) -> int:
    """Write both locks anew, keeping what is pinned while it still fits."""
    with tempfile.TemporaryDirectory() as folder:
        tools = Path(folder) / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([str(tools), "-m", "pip", "--quiet", "install", "pip-tools"], check=True)
        for target, extras in ((RUNTIME_LOCK, []), (DEV_LOCK, ["--all-extras"])):
            draft = Path(folder) / target.name
            known = target if target.is_file() else RUNTIME_LOCK
            if known.is_file():
                shutil.copy(known, draft)
            options = ["--generate-hashes", "--all-build-deps", "--strip-extras", "--allow-unsafe", "--no-header"]
            quiet = ["--no-emit-index-url", "--no-emit-trusted-host", "--no-emit-find-links", "--no-emit-options"]
            shape = ["--annotation-style", "line", "--no-config", "--quiet", "--output-file", str(draft)]
            command = [str(tools), "-m", "piptools", "compile", *options, *quiet, *shape, *extras, "pyproject.toml"]
            subprocess.run(command, cwd=ROOT, check=True)
            target.write_text(LOCK_HEADER + draft.read_text(encoding="utf-8"), encoding="utf-8")
    return 0


def say(text: str) -> None:
    """Speak on stderr: stdout belongs to the command that is run."""
    print(f"dev: {text}", file=sys.stderr, flush=True)


def main() -> int:
    if sys.version_info < (3, 11):
        raise Problem(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]}")
    commands = {"chat": chat, "test": test, "lock": lock}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=commands)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="passed on")
    options = parser.parse_args()
    arguments: list[str] = options.arguments
    return commands[options.command](arguments[1:] if arguments[:1] == ["--"] else arguments)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Problem as problem:
        say(str(problem))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
