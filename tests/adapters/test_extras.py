"""The command that adds an extra is the right one where codelaw is installed, and names no package called codelaw."""

from __future__ import annotations

import shlex
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from codelaw.adapters.extras import EXTRAS
from codelaw.app.health import machine

ROOT = Path(__file__).parents[2]


def installed(folder: Path, mark: str) -> Path:
    """An environment with codelaw and nothing else in it, also no pip, as the extension makes it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "codelaw.pth").write_text(str(ROOT / "server"), encoding="utf-8")
    known = metadata.distribution("codelaw").read_text("METADATA") or ""
    (site / "codelaw-0.1.0.dist-info").mkdir()
    (site / "codelaw-0.1.0.dist-info" / "METADATA").write_text(known, encoding="utf-8")
    (folder / mark).write_text("{}", encoding="utf-8")
    return folder / "bin" / "python"


def reported(python: Path, name: str) -> str:
    code = f"from codelaw.adapters.extras import adding; print(adding({name!r}))"
    done = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_in_a_checkout_its_own_pip_installs_the_packages() -> None:
    python = str(Path(sys.executable))
    assert reported(Path(python), "mcp") == f"{shlex.quote(python)} -m pip install 'mcp<3,>=2.3'"
    assert reported(Path(python), "postgresql").endswith("-m pip install 'psycopg[binary]>=3.2'")


def test_where_the_extension_has_taken_pip_away_it_comes_back_first(tmp_path: Path) -> None:
    python = installed(tmp_path / "server 0.1.0", "codelaw-complete.json")
    run = shlex.quote(str(python))
    assert (
        reported(python, "local") == f"{run} -m ensurepip && {run} -m pip install 'safetensors>=0.5' 'tokenizers>=0.21'"
    )


def test_pipx_adds_to_its_own_environment(tmp_path: Path) -> None:
    python = installed(tmp_path / "codelaw-next", "pipx_metadata.json")
    assert reported(python, "mcp") == "pipx inject codelaw-next 'mcp<3,>=2.3'"


def test_every_extra_of_the_package_is_known_and_bounded() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {name for name in project["optional-dependencies"] if name != "dev"}
    assert declared <= set(EXTRAS)
    wanted = [line for lines in project["optional-dependencies"].values() for line in lines] + project["dependencies"]
    for name, extra in EXTRAS.items():
        for module in extra.modules:
            assert any(line.startswith(module.replace("_", "-")) for line in wanted), (name, module)


def test_what_is_missing_is_told_with_what_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine.extras() == []
    monkeypatch.setitem(sys.modules, "tree_sitter_go", None)
    monkeypatch.setitem(sys.modules, "mcp", None)
    grammars, mcp = machine.extras()
    assert (grammars.name, grammars.state) == ("grammars", "lacking")
    assert grammars.detail.startswith("tree_sitter_go cannot be imported, so ")
    assert grammars.detail.endswith("-m pip install 'tree-sitter-go>=0.25'`")
    assert mcp.detail == machine.lacking("mcp")
