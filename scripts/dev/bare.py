"""A bare machine inside this one: Debian's essential programs, Python and git, and a user who is not root."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scripts.dev.base import ROOT, VENV, Machine, Unavailable, identity

ACCOUNT = "codelaw-attacks"
NUMBER = 61_250
"""Used where there is no account."""
BESIDE = ("awk", "git", "python3")
"""Programs beside the essential ones."""


def ordinary_user(*accounts: str) -> int | None:
    """The user to become where this one is root: the first of the accounts that is there."""
    if os.geteuid() != 0:
        return None
    for account in accounts:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(account).pw_uid
    return NUMBER


@contextlib.contextmanager
def bare() -> Iterator[Machine]:
    """A copy of the checkout with an environment that has the installed packages, both gone afterwards.

    Raises Unavailable where that cannot be.
    """
    user = ordinary_user(ACCOUNT, "nobody")  # PostgreSQL runs as nobody who has no name
    with tempfile.TemporaryDirectory(prefix="b-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        root, programs = folder / "codelaw", folder / "programs"
        for made in (root, programs, folder / "home", folder / "t"):
            made.mkdir()
        _copy(root)
        python = _python(user)
        _link(programs, python)
        environment = {
            "PATH": str(programs),
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder / "t"),  # short: the path of a socket has 107 characters
            "LANG": "C.UTF-8",
            "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
            "CODELAW_TEST_REQUIRE": "postgresql",  # it comes with the packages
        }
        subprocess.run([python, "-m", "venv", "--without-pip", root / VENV.name], env=environment, check=True)
        _packages(root)
        subprocess.run([programs / "git", "init", "--quiet", root], env=environment, check=True)
        if user is not None:
            folder.chmod(0o755)
            for path in (folder, *folder.rglob("*")):
                if path.stat(follow_symlinks=False).st_nlink == 1 or path.is_dir():
                    os.chown(path, user, user, follow_symlinks=False)
        yield Machine(root, environment, user)


def _copy(root: Path) -> None:
    """What git knows of the checkout, or would be told of."""
    listed = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    found = subprocess.run(listed, cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if found.returncode != 0:
        raise Unavailable("this is no checkout that git can list")
    for name in filter(None, os.fsdecode(found.stdout).split("\0")):
        if os.path.lexists(ROOT / name):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name, follow_symlinks=False)


def _python(user: int | None) -> str:
    """An interpreter of this version that the user can run."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for found in (os.path.realpath(sys.executable), f"/usr/bin/{name}", f"/usr/local/bin/{name}"):
        with contextlib.suppress(OSError):
            if subprocess.run([found, "-c", "import venv"], cwd="/", check=False, **identity(user)).returncode == 0:
                return found
    raise Unavailable(f"there is no {name} that an ordinary user can run")


def _link(programs: Path, python: str) -> None:
    """Links to all programs that there are."""
    shown = ("dpkg-query", "--show", "--showformat", "${Essential} ${binary:Package}\n")
    try:
        packages = subprocess.run(shown, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        essential = [line.removeprefix("yes ") for line in packages if line.startswith("yes ")]
        listed = ("dpkg-query", "--listfiles", *essential)
        files = subprocess.run(listed, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable(f"Debian's package manager does not say which programs are essential: {error}") from error
    places = [Path(file) for file in files if Path(file).parent.name in {"bin", "sbin"}]
    beside = {name: python if name == "python3" else shutil.which(name) for name in BESIDE}
    if missing := [name for name, place in beside.items() if place is None]:
        raise Unavailable(f"these programs are not on PATH: {', '.join(missing)}")
    for name, place in {**{place.name: place for place in places}, **beside}.items():
        (programs / name).symlink_to(str(place))


def _packages(root: Path) -> None:
    """The installed packages, in the environment of the copy, with the copy's own modules."""
    folder = Path("lib", f"python{sys.version_info.major}.{sys.version_info.minor}", "site-packages")
    target = root / VENV.name / folder
    shutil.copytree(VENV / folder, target, symlinks=True, dirs_exist_ok=True, copy_function=_link_or_copy)
    for file in target.glob("*.pth"):
        text = file.read_text(encoding="utf-8")
        file.unlink()  # it may be the installed one under another name
        file.write_text(text.replace(str(ROOT), str(root)), encoding="utf-8")


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # another file system, or somebody else's file
        shutil.copy2(source, target, follow_symlinks=False)
