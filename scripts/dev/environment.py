"""`.venv`, the packages of the extension, and the editor of the end-to-end tests, each brought to its lock."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from scripts.dev.base import CLIENT, PYTHON, ROOT, VENV, Problem, Unavailable, npm, run, say

RUNTIME_LOCK = ROOT / "requirements.lock"
EDITOR_LOCK = ROOT / "requirements-editor.lock"
"""What the extension installs at once."""
EDITOR_EXTRAS = ROOT / "requirements-editor"
"""A lock for each extra that the extension adds when it is first needed: what it brings beside the lock above."""
LATER = "tiktoken"
"""A dependency that the extension adds like an extra: it counts other vendors' tokens, and is large."""
DEV_LOCK = ROOT / "requirements-dev.lock"
INJECTION_LOCK = ROOT / "requirements-injection.lock"
INJECTION = ROOT / ".injection"
SUITE = "agentdojo==0.1.35"
"""The public suite of injections; it asks for many vendors' packages, and its tasks need only these."""
SUITE_NEEDS = ["deepdiff>=8.6", "docstring-parser>=0.15", "pydantic[email]>=2.7", "pyyaml>=6", "rich>=13.7"]
EDITOR = ROOT / ".workbench"
LOCK_HEADER = "# Locked versions with their hashes. Written by `python3 dev.py lock`; do not edit.\n"


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Nobody else installs into this checkout meanwhile: who comes second waits, and finds the work done."""
    name = hashlib.sha256(str(ROOT).encode()).hexdigest()[:16]
    with (Path(tempfile.gettempdir()) / f"codelaw-dev-{name}.lock").open("a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another dev.py that installs into this checkout")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def digest(lock: Path) -> str:
    """What an installed environment depends on: the lock, the interpreter, and what pyproject.toml says of the package.

    The settings of lint, types and tests stand in pyproject.toml too, and install nothing.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    installed = (project["build-system"], project["project"], project["tool"]["hatch"])
    state = hashlib.sha256(repr((sys.version_info[:2], str(ROOT), installed)).encode())
    state.update(lock.read_bytes())
    return state.hexdigest()


def install(lock: Path) -> None:
    """Bring `.venv` to `lock`, with this checkout installed in place; quick when nothing changed.

    The development lock holds everything the runtime lock does, so an environment for tests also serves `chat`.
    """
    with alone():
        _install(lock)


def _install(lock: Path) -> None:
    stamp = VENV / ".codelaw-lock"
    wanted = {path.name: digest(path) for path in (RUNTIME_LOCK, DEV_LOCK)}
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


def install_client() -> None:
    """Bring the packages of the extension to their lock; their scripts are never run."""
    wanted = hashlib.sha256((CLIENT / "package-lock.json").read_bytes()).hexdigest()
    stamp = CLIENT / "node_modules" / ".codelaw-lock"
    with alone():
        if stamp.is_file() and stamp.read_text(encoding="utf-8").strip() == wanted:
            return
        say("installing editor-client/package-lock.json")
        if run(npm("ci", "--ignore-scripts", "--loglevel", "error"), CLIENT) != 0:
            raise Unavailable("the packages of editor-client could not be installed: see npm's message above")
        stamp.write_text(wanted + "\n", encoding="utf-8")


def install_injection() -> None:
    """Bring `.injection` to the suite of `tests/injection` and the little that its tasks need."""
    with alone():
        stamp, wanted = INJECTION / ".codelaw-lock", digest(INJECTION_LOCK)
        if stamp.is_file() and stamp.read_text(encoding="utf-8").strip() == wanted:
            return
        say("installing requirements-injection.lock into .injection")
        subprocess.run([sys.executable, "-m", "venv", "--clear", INJECTION], check=True)
        pip = [INJECTION / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        if run([*pip, "--no-deps", "--require-hashes", "--requirement", INJECTION_LOCK]) != 0:
            shutil.rmtree(INJECTION)
            raise Unavailable("the suite could not be installed: see pip's message above")
        stamp.write_text(wanted + "\n", encoding="utf-8")


def install_editor() -> None:
    """Bring `.workbench` to the editor that editor-client/workbench pins."""
    lock = CLIENT / "workbench" / "package-lock.json"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    stamp = EDITOR / ".codelaw-lock"
    with alone():
        if stamp.is_file() and stamp.read_text(encoding="utf-8").strip() == wanted:
            return
        say("installing the editor into .workbench")
        EDITOR.mkdir(exist_ok=True)
        stamp.unlink(missing_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(CLIENT / "workbench" / name, EDITOR / name)
        quiet = ("--ignore-scripts", "--omit=dev", "--loglevel", "error")
        inner = EDITOR / "node_modules" / "code-server" / "lib" / "vscode"
        # The editor inside has its own packages, pinned by the shrinkwrap that it comes with; `ci` finds it incomplete.
        if run(npm("ci", *quiet), EDITOR) != 0 or run(npm("install", *quiet), inner) != 0:
            raise Unavailable("the editor could not be installed: see npm's message above")
        modules = inner / "node_modules.asar"
        modules.unlink(missing_ok=True)
        modules.symlink_to("node_modules")
        stamp.write_text(wanted + "\n", encoding="utf-8")


def lock() -> int:
    """Write all locks anew, keeping what is pinned while it still fits."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras: dict[str, list[str]] = {**project["optional-dependencies"]}
    del extras["dev"]
    extras["tokenizer"] = [line for line in project["dependencies"] if line.startswith(LATER)]
    at_once = [line for line in project["dependencies"] if not line.startswith(LATER)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tools = folder / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([tools, "-m", "pip", "--quiet", "install", "pip-tools"], check=True)
        build = ["--all-build-deps"]  # not for the extension, which carries a wheel
        _write(RUNTIME_LOCK, _compiled(folder, RUNTIME_LOCK, [*build, "pyproject.toml"]))
        _write(DEV_LOCK, _compiled(folder, DEV_LOCK, [*build, "--all-extras", "pyproject.toml"]))
        editor = _compiled(folder, DEV_LOCK, [_wanted(folder, "codelaw", at_once)])
        _write(EDITOR_LOCK, editor)
        for extra, wanted in extras.items():
            whole = _compiled(folder, DEV_LOCK, [_wanted(folder, extra, [*at_once, *wanted])])
            _write(EDITOR_EXTRAS / f"{extra}.lock", {key: pin for key, pin in whole.items() if key not in editor})
        _write(INJECTION_LOCK, _suite(folder, tools))
    return 0


def _suite(folder: Path, tools: Path) -> dict[str, str]:
    """The suite itself without what it asks for, and what its tasks need."""
    subprocess.run([tools, "-m", "pip", "--quiet", "download", "--no-deps", "--dest", folder, SUITE], check=True)
    [wheel] = folder.glob("*.whl")
    pinned = f"{SUITE} \\\n    --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"
    return {"agentdojo": pinned, **_compiled(folder, DEV_LOCK, [_wanted(folder, "injection", SUITE_NEEDS)])}


def _wanted(folder: Path, name: str, requirements: list[str]) -> str:
    (folder / name).write_text("\n".join(requirements) + "\n", encoding="utf-8")
    return str(folder / name)


def _compiled(folder: Path, known: Path, wanted: Sequence[str]) -> dict[str, str]:
    """Each package to its lines; versions are those of the lock `known` where they fit."""
    draft = folder / "draft.lock"
    shutil.copy(known if known.is_file() else RUNTIME_LOCK, draft)
    options = ["--generate-hashes", "--strip-extras", "--allow-unsafe", "--no-header", "--no-config", "--quiet"]
    quiet = ["--no-emit-index-url", "--no-emit-trusted-host", "--no-emit-find-links", "--no-emit-options"]
    shape = ["--annotation-style", "line", "--output-file", str(draft)]
    command = [str(folder / "bin" / "python"), "-m", "piptools", "compile", *options, *quiet, *shape, *wanted]
    subprocess.run(command, cwd=ROOT, check=True)
    text = draft.read_text(encoding="utf-8").replace(f"-r {folder}/", "-r ")
    return {block.split("==")[0]: block for block in re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]}


def _write(lock: Path, packages: dict[str, str]) -> None:
    lock.parent.mkdir(exist_ok=True)
    lock.write_text(LOCK_HEADER + "".join(packages.values()), encoding="utf-8")
