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
LARGEST = 3_000_000
"""How many bytes the packed extension may have."""


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
    for built in carried.glob("*.whl"):
        built.write_bytes(stored(built.read_bytes()))
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
    say(f"{target.relative_to(ROOT)}: {target.stat().st_size / 1e6:.2f} MB")
    return 0


def stored(archive: bytes) -> bytes:
    """The same zip file with nothing compressed, so that a zip around it compresses all its files as one.

    Many short files that resemble each other become an eighth smaller in this way.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(buffer, "w") as new:
        for member in old.infolist():
            content = old.read(member)
            member.compress_type = zipfile.ZIP_STORED
            new.writestr(member, content)
    return buffer.getvalue()


def faults(package: Path) -> list[str]:
    """What a packed extension lacks, or has and must not have."""
    size = package.stat().st_size
    large = [f"it has {size:,} bytes, and may have {LARGEST:,}"] if size > LARGEST else []
    private = [str(place).encode() for place in (ROOT, Path.home()) if len(place.parts) > 2]
    with zipfile.ZipFile(package) as archive:
        names = archive.namelist()
        lacking = [part for part in CARRIED if not any(re.fullmatch(part, name) for name in names)]
        wrong = large + [f"it lacks {part}" for part in lacking]
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
