"""No module of the folder that a command is started in gets into codelaw (S-8)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import codelaw
from codelaw.app.starting import server_environment

OWN = str(Path(codelaw.__file__).parents[1])
PLANTED = "import os, sys; os.write(1, b'PLANTED')"


def test_the_server_is_started_without_search_paths_into_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "work/src").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "work")
    paths = ["", "src", str(tmp_path / "work/src"), str(tmp_path / "link/src"), f"{tmp_path}/other"]
    given = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONSTARTUP": "x.py", "ANTHROPIC_API_KEY": "k", "HOME": "/h"}
    kept = server_environment(given, [tmp_path / "work"])
    assert kept == {"PYTHONPATH": f"{tmp_path}/other", "ANTHROPIC_API_KEY": "k", "HOME": "/h"}
    assert "PYTHONPATH" not in server_environment({"PYTHONPATH": ":"}, [])
    # Whoever works on codelaw itself starts what they work on.
    assert server_environment({"PYTHONPATH": OWN}, [Path(OWN)]) == {"PYTHONPATH": OWN}


def test_what_is_imported_later_is_not_looked_for_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(PLANTED)
    later = "import sys; sys.path[:0] = ['', 'x', {here!r}]; from codelaw.cli.main import main; main(['--version'])"
    script = later.format(here=str(tmp_path)) + "\nimport planted"
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False, env={"PATH": ""}
    )
    assert ended.stdout.startswith("codelaw ")
    assert "No module named 'planted'" in ended.stderr


def test_a_terminal_command_runs_no_module_of_its_folder(tmp_path: Path) -> None:
    for name in ("codelaw", "pygls", "tiktoken", "anthropic", "jinja2", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(PLANTED)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "CODELAW_HOME": str(tmp_path / "own")}
    # `-P` as the console script has it: its own folder comes first, and not the one it is called in.
    command = [sys.executable, "-P", "-m", "codelaw", "chats"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", ended.stderr)
    assert "PLANTED" not in ended.stderr
