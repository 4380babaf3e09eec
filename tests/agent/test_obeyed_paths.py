"""What settings, servers and links name in a workspace is asked about every time (S-8)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codelaw.app.obeyed_paths import obeyed_paths
from codelaw.domain.files import Folder
from codelaw.domain.served import Pin, Program, ServerSpec
from codelaw.settings.model import Settings
from tests.agent.conftest import Bench
from tests.agent.test_hooks import calls
from tests.fakes.editor import User


def found(root: Path, *more: Path, programs: tuple[Program, ...] = (), **settings: Any) -> set[str]:
    folders = [Folder(one.name, one, one.as_uri()) for one in (root, *more)]
    servers = [ServerSpec("x", program, "settings") for program in programs]
    return {*obeyed_paths(Settings.model_validate(settings), folders, servers, str(root.parent)).paths}


def hook(command: str) -> dict[str, Any]:
    return {"hooks": {"Stop": [{"command": command}]}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    for name in ("scripts/check.py", "guard/__main__.py", "tools/server.js", "src/a.py", "docs/law.md", "rules.json"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    return root


def test_what_a_hook_names(root: Path):
    assert found(root, **hook("./scripts/check.py --rules rules.json missing.json")) == {
        "scripts/check.py",
        "rules.json",
    }
    assert {"guard/__main__.py", "guard.py"} <= found(root, **hook("python3 -m guard"))
    assert "new.sh" in found(root, **hook("sh new.sh")), "whoever makes it is run"
    assert "scripts/check.py" in found(root, **hook(f"cd scripts && {root}/scripts/check.py"))
    assert found(root, **hook("guard --src src")) == set(), "a folder is data"
    (root / "index.js").write_text("x")
    assert found(root, **hook("make check")) == found(root, **hook("npm run -s check")) == set()
    assert not any("a.py" in one for one in found(root, **hook("PYTHONPATH=src make check")))
    assert found(root, **hook("/srv/guard")) == set()


def test_what_is_shown_of_several_folders(root: Path):
    other = root.parent / "other"
    other.mkdir()
    assert found(root, other, **hook(f"./scripts/check.py; {other}/x.sh")) == {"ws/scripts/check.py", "other/x.sh"}


def test_what_a_server_is_started_from(root: Path):
    server = Program(
        "node", ("tools/server",), {"RULES": "rules.json"}, root, (Pin(root / "src/a.py", "src/a.py", ""),)
    )
    assert {"tools/server.js", "rules.json", "src/a.py"} <= found(root, programs=(server,))
    assert found(root, programs=(Program("serve", (str(root), "src"), cwd=root),)) == set()


def test_skills_and_links(root: Path):
    assert found(root, skills={"paths": ["docs/skills", "~/ws/more", "/srv/skills"]}) == {"docs/skills", "more"}
    assert found(root, skills={"paths": ["a\0b", " "]}) == set(), "no paths"
    (root / ".claude").mkdir()
    (root / ".claude/skills").symlink_to("../shared")
    assert found(root) == {"shared", ".claude/skills"}
    (root / ".claude/skills").unlink()
    (root / "AGENTS.md").symlink_to("docs/law.md")
    (root / "CONVENTIONS.md").symlink_to("rules.json")
    (root / "README.md").symlink_to("src/a.py")
    (root / ".codelaw").mkdir()
    (root / ".codelaw/config.toml").symlink_to("../scripts/check.py")
    (root / ".vscode").symlink_to("tools")
    links = {"agents.md", ".codelaw/config.toml", ".vscode"}
    assert found(root) == {*links, "docs/law.md", "scripts/check.py", "tools"}
    assert found(root, law={"files": ["Conventions.md"]}) >= {"rules.json"}


async def test_a_rule_for_all_files_does_not_cover_them(bench: Bench):
    bench.user = User("reject")
    settings = {"permissions": {"allow": ["Edit(**)"]}, "law": {"files": ["LAW.md"]}}
    await bench.reopen(**hook("./scripts/check.sh"), **settings)
    (bench.root / "docs").mkdir()
    (bench.root / ".codelaw").symlink_to("docs")
    paths = ["scripts/check.sh", "sub/law.md", "docs/config.toml", "a.py"]
    acts = [bench.act("Write", {"path": path, "content": "x"}) for path in paths]
    bench.vendor.reset([*acts, bench.finish("ok", times=0)])
    await bench.turn("go")
    assert [question.title for question in bench.user.asked] == [f"Write {path}" for path in paths[:3]]
    assert all(question.always_asked for question in bench.user.asked)
    assert calls(bench) == [("rejected", "user")] * 3 + [("completed", "allow")]
