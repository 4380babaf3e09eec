"""Programs as an ordinary user, also where the tests run as root: root is allowed too much to prove anything (S-4)."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
USER = 1000


def for_all(path: str) -> bool:
    """Whether everybody may get to a program, and run it."""
    real = Path(os.path.realpath(path))
    return real.is_file() and all(one.stat().st_mode & stat.S_IXOTH for one in (real, *real.parents))


def python() -> str:
    """An interpreter of this version that an ordinary user can run; else the test is skipped."""
    if os.geteuid() != 0:
        return sys.executable
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (sys.executable, shutil.which(name, path="/usr/local/bin:/usr/bin:/bin")):
        if candidate and for_all(candidate) and all(one.stat().st_mode & stat.S_IXOTH for one in (ROOT, *ROOT.parents)):
            return candidate
    pytest.skip("no interpreter, or not this checkout, can be used by an ordinary user")


def started(folder: Path, **more: str) -> dict[str, Any]:
    """Arguments for `subprocess`: as that user, at home in `folder`, which is handed over."""
    environment = {
        "HOME": str(folder),
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": os.pathsep.join(
            [str(ROOT / "server"), str(ROOT), *(one for one in sys.path if "-packages" in one)]
        ),
        "PYTHONDONTWRITEBYTECODE": "1",
        **more,
    }
    if os.geteuid() != 0:
        return {"env": environment, "cwd": folder}
    for one in (folder, *folder.rglob("*")):
        os.chown(one, USER, USER, follow_symlinks=False)
    return {"env": environment, "cwd": folder, "user": USER, "group": USER, "extra_groups": []}
