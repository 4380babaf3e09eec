"""Repositories that a command leaves inside the workspace: a clone stays, what runs something does not (S-8)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from codelaw.adapters.processes.rules.git_settings import harmless
from codelaw.adapters.processes.rules.new_repositories import NewRepositories, submodules


def git(folder: Path, *arguments: str) -> str:
    env = {**os.environ, "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    who = ["-c", "user.name=A User", "-c", "user.email=a@user.example", "-c", "protocol.file.allow=always"]
    return subprocess.run(
        ["git", *who, *arguments], cwd=folder, env=env, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def inner(ws: Path, name: str = "deep/er/inner") -> Path:
    folder = ws / name
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    git(ws, "add", name)
    return folder


def settled(nested: NewRepositories) -> list[Path]:
    """What was taken away."""
    taken: list[Path] = []

    def aside(folder: int, name: str, path: Path) -> None:
        os.rename(name, f"taken-{name}", src_dir_fd=folder, dst_dir_fd=folder)
        taken.append(path)

    assert nested.settle(aside) == []
    nested.close()
    return taken


@pytest.mark.parametrize("version", [2, 3, 4])
def test_the_submodules_of_an_index(ws: Path, version: int):
    for number in range(30):
        (ws / f"file{number}").write_text("x")
    inner(ws)
    inner(ws, "another")
    git(ws, "add", ".")
    git(ws, "update-index", f"--index-version={max(version, 2)}")
    if version == 3:
        git(ws, "rm", "-q", "--cached", "file1")
        git(ws, "add", "-N", "file1")  # a flag that needs the third version
    data = (ws / ".git/index").read_bytes()
    assert data[7] == version
    assert list(submodules(data, 20)) == ["another", "deep/er/inner"]
    with pytest.raises((ValueError, IndexError)):
        list(submodules(data, 32))


def test_a_clone_and_a_submodule_stay(ws: Path, tmp_path: Path):
    nested = NewRepositories([ws])
    git(ws, "clone", "-q", str(ws), "copy")
    git(ws, "submodule", "add", "-q", str(ws), "lib/sub")
    inner(ws)
    assert settled(nested) == []
    assert (ws / "copy/.git/HEAD").exists()
    assert git(ws / "lib/sub", "status", "-s") == ""


@pytest.mark.parametrize("line", ["core.fsmonitor", "core.hooksPath", "include.path", "filter.x.clean", "remote.o.vcs"])
@pytest.mark.parametrize("name", ["top", "deep/er/inner"])
def test_what_would_run_something_loses_its_name(ws: Path, name: str, line: str):
    nested = NewRepositories([ws])
    folder = inner(ws, name)
    git(folder, "config", line, "/bin/x")
    assert settled(nested) == [folder / ".git"]
    assert not (folder / ".git").exists()


def test_a_change_of_one_that_was_there_and_a_hook(ws: Path):
    folder, other = inner(ws), inner(ws, "other")
    nested = NewRepositories([ws])
    git(other, "commit", "-q", "--allow-empty", "-m", "second")
    (folder / ".git/hooks").mkdir(exist_ok=True)
    (folder / ".git/hooks/post-index-change").write_text("#!/bin/sh\n")
    assert settled(nested) == [folder / ".git"]
    assert (other / ".git").exists()


def test_a_submodule_inside_another_and_a_file_that_points(ws: Path):
    nested = NewRepositories([ws])
    outer = inner(ws, "outer")
    deepest = outer / "x/y"
    deepest.mkdir(parents=True)
    git(deepest, "init", "-q")
    git(deepest, "commit", "-q", "--allow-empty", "-m", "first")
    git(outer, "add", "x/y")
    (ws / "evil").mkdir()
    git(deepest, "config", "core.fsmonitor", "/bin/x")
    (deepest / ".git").rename(ws / "evil/git")
    (deepest / ".git").write_text(f"gitdir: {ws}/evil/git\n")
    assert settled(nested) == [deepest / ".git"]
    assert not (deepest / ".git").exists()
    assert (outer / ".git").exists()


def test_a_link_on_the_way_is_not_followed(ws: Path, tmp_path: Path):
    folder = inner(ws)
    elsewhere = tmp_path / "elsewhere"
    nested = NewRepositories([ws])
    (ws / "deep").rename(elsewhere)
    (ws / "deep").symlink_to(elsewhere)
    git(elsewhere / "er/inner", "config", "core.fsmonitor", "/bin/x")
    assert settled(nested) == []
    assert (elsewhere / "er/inner/.git").exists()
    assert folder.exists()


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("", True),
        ('[core]\n\tbare = false\n\tfilemode\n[remote "origin"]\n\turl = https://x.example/y\n# c\n', True),
        *(('[branch "a"]\n\tremote = origin\n[user]\n\tname = A\n', True), ("[core] fsmonitor = x\n", False)),
        *(("[core]\n\tfsmonitor = x\n", False), ("[core]\n\tbare = fal\\\nse\n", False)),
        *(("[CORE]\n\tPager = x\n", False), ("[alias]\n\tstatus = !x\n", False)),
        *(('[url "ext::x"]\n\tinsteadOf = https:\n', False), ('[includeIf "onbranch:**"]\n\tpath = x\n', False)),
        *(("bare = x\n", False), ("[user] [core] fsmonitor = x\n", False)),
        *((f"[core]\n# c{end}[user]\nfsmonitor = x\n", False) for end in "\x0b\x0c\x1c\x85\u2028\r"),
    ],
)  # fmt: skip
def test_which_settings_are_harmless(text: str, good: bool):
    assert harmless(text) is good
