"""The commits of a workspace, as its index knows them (X-5)."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from codelaw.adapters.code.commits import Commits
from codelaw.adapters.code.index import WorkspaceIndex
from tests.adapters.test_repository import commit, git, made
from tests.fakes.desk import Desk, folder, make_desk

FILES = {f"{name}.py": f"def {name}(job):\n    return job.state\n" for name in ("run", "walk", "draw")}
QUESTION = "job state after what timed out"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return made(tmp_path / "work")


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[WorkspaceIndex]:
    made = WorkspaceIndex(tmp_path / "kept", Commits(dict(os.environ)))
    yield made
    await made.close()


async def first(index: WorkspaceIndex, desk: Desk) -> str:
    return (await index.search(desk.workspace, QUESTION)).places[0].path


async def test_messages_of_commits_lead_to_what_they_changed(root: Path, index: WorkspaceIndex) -> None:
    commit(root, "All of it", **FILES)
    commit(root, "Retry what timed out", **{"walk.py": FILES["walk.py"] + "\n"})
    desk = make_desk(folder(root))
    assert await first(index, desk) == "walk.py"
    assert index.state().commits == 2


async def test_without_a_repository_or_trust_there_are_none(tmp_path: Path, root: Path, index: WorkspaceIndex) -> None:
    plain = make_desk(folder(tmp_path / "plain"))
    for name, text in FILES.items():
        plain.put(name, text)
    assert await first(index, plain) in FILES
    assert index.state().commits == 0
    commit(root, "Retry what timed out", **FILES)
    index.commits.trusted = False
    await first(index, make_desk(folder(root)))
    assert index.state().commits == 0


async def test_several_folders_have_their_own_commits(tmp_path: Path, index: WorkspaceIndex) -> None:
    folders: list[Path] = []
    for name in ("one", "two"):
        (tmp_path / name / "src").mkdir(parents=True)
        git(tmp_path / name, "init", "-q")
        commit(tmp_path / name, f"All of {name}", **{f"src/{path}": text for path, text in FILES.items()})
        folders.append(tmp_path / name / "src")
    commit(tmp_path / "two", "Retry what timed out", **{"src/draw.py": "\n" + FILES["draw.py"]})
    (folders[1].rename(two := tmp_path / "two" / "code"))
    commit(tmp_path / "two", "Moved, and retry what timed out", **{"code/draw.py": FILES["draw.py"]})
    desk = make_desk(folder(folders[0]), folder(two))
    assert await first(index, desk) == "code/draw.py"
