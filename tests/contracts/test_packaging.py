"""What `dev.py vsix` lets out of the house."""

from __future__ import annotations

import importlib.util
import io
import re
import zipfile
from pathlib import Path

import pytest

from scripts.dev import packing
from scripts.dev.base import ROOT

WHOLE = {
    "extension/dist/extension.cjs": b"run()",
    "extension/dist/panel.js": b"show()",
    "extension/dist/panel.css": b"a {}",
    "extension/server/requirements.lock": b"numpy==2",
    "extension/server/extras/mcp.lock": b"mcp==2",
    "extension/media/icon.png": b"",
    "extension/LICENSE.txt": b"MIT",
    "extension/readme.md": b"",
    "extension/changelog.md": b"",
    "extension/package.json": b"{}",
    "extension/package.nls.json": b"{}",
    "extension/package.nls.de.json": b"{}",
}
WHEEL = "extension/server/codelaw-0.1.0-py3-none-any.whl"


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return tmp_path / "codelaw.vsix"


def test_a_whole_package_is_let_out(package: Path) -> None:
    package.write_bytes(zipped(WHOLE | {WHEEL: zipped({"codelaw/__init__.py": b""})}))
    assert packing.faults(package) == []


@pytest.mark.parametrize("missing", ["extension/dist/panel.js", WHEEL])
def test_what_is_missing_is_named(package: Path, missing: str) -> None:
    whole = WHOLE | {WHEEL: zipped({})}
    del whole[missing]
    package.write_bytes(zipped(whole))
    (wrong,) = packing.faults(package)
    assert wrong.startswith("it lacks ")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("extension/dist/extension.cjs.map", b""),
        ("extension/node_modules/a/index.js", b""),
        ("extension/dist/extra.js", b"//# sourceMappingURL=data:application/json;base64,AA"),
        ("extension/dist/extra.js", b'"' + str(ROOT).encode() + b'/src"'),
        (WHEEL, zipped({"codelaw/paths.py": b'"' + str(ROOT).encode() + b'"'})),
    ],
)
def test_what_does_not_belong_in_it_is_named(package: Path, name: str, content: bytes) -> None:
    package.write_bytes(zipped(WHOLE | {WHEEL: zipped({})} | {name: content}))
    (wrong,) = packing.faults(package)
    assert wrong.startswith(name)


def test_a_wheel_is_carried_as_it_is_and_not_compressed() -> None:
    files = {"codelaw/__init__.py": b"x = 1\n" * 100, "codelaw/data/a.xz": bytes(range(256))}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    with zipfile.ZipFile(io.BytesIO(packing.stored(buffer.getvalue()))) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == files
        assert all(member.compress_size == member.file_size for member in archive.infolist())


def test_the_modules_that_the_extension_compiles_first_are_there() -> None:
    source = (ROOT / "editor-client" / "src" / "server" / "install.ts").read_text("utf-8")
    named = re.findall(r"codelaw(?:\.\w+)+", next(line for line in source.splitlines() if "FIRST_TURN =" in line))
    assert named
    assert [name for name in named if importlib.util.find_spec(name) is None] == []
