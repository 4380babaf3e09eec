"""The extension as a package, with the server's wheel in it."""

from __future__ import annotations

import io
import json
import re
import shutil
import zipfile
from pathlib import Path

from scripts.dev.base import CLIENT, PYTHON, ROOT, Problem, nodes, npm, run, say
from scripts.dev.environment import DEV_LOCK, EDITOR_EXTRAS, EDITOR_LOCK, alone, install, install_client

VERSION_FILE = ROOT / "server" / "codelaw" / "__init__.py"
CARRIED = (
    r"extension/dist/extension\.cjs",
    r"extension/dist/panel\.js",
    r"extension/dist/panel\.css",
    r"extension/server/codelaw-.+\.whl",
    r"extension/server/requirements\.lock",
    r"extension/server/extras/mcp\.lock",
    r"extension/media/.+",
    r"extension/LICENSE(\.txt)?",
    r"extension/(?i:readme)\.md",
    r"extension/(?i:changelog)\.md",
    r"extension/package\.json",
    r"extension/package\.nls\.json",
    r"extension/package\.nls\.[a-z-]+\.json",
)
"""What the packed extension has to hold."""


def vsix() -> int:
    """Pack the extension, with the server's wheel, into `dist/`; without the network once all is installed."""
    install(DEV_LOCK)
    install_client()
    with alone():
        return _pack()


def _pack() -> int:
    found = re.search(r'^__version__ = "([^"]+)"$', VERSION_FILE.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise Problem(f"there is no __version__ in {VERSION_FILE.relative_to(ROOT)}")
    stage = ROOT / "build" / "vsix"
    shutil.rmtree(stage, ignore_errors=True)
    carried = stage / "server"
    carried.mkdir(parents=True)
    say("building the wheel")
    quiet = ["--disable-pip-version-check", "--quiet"]
    wheel = [PYTHON, "-m", "pip", *quiet, "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", carried, ROOT]
    if run(wheel) != 0:
        raise Problem("the wheel could not be built: see pip's message above")
    say("building the extension")
    if run(npm("run", "--silent", "build", "--", "--outdir", str(stage / "dist")), CLIENT) != 0:
        raise Problem("the extension could not be built: see esbuild's message above")
    shutil.copy(EDITOR_LOCK, carried / "requirements.lock")
    shutil.copytree(EDITOR_EXTRAS, carried / "extras")
    shutil.copytree(CLIENT / "media", stage / "media")
    for file in (
        *CLIENT.glob("package.nls*.json"),
        ROOT / "LICENSE",
        ROOT / "CHANGELOG.md",
        CLIENT / "README.md",
        CLIENT / ".vscodeignore",
    ):
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
