from __future__ import annotations

import pytest

from codelaw.adapters.workspace.projects import key, origin, project_keys
from codelaw.domain.files import Folder

SETTINGS = """[core]
\tbare = false
[remote "upstream"]
\turl = https://example.org/other/app
[remote "origin"]
\tfetch = +refs/heads/*:refs/remotes/origin/*
\turl = git@example.org:Team/App.git  ; ours
[branch "main"]
\turl = nonsense
"""


@pytest.mark.parametrize(
    "url",
    [
        "git@example.org:Team/App.git",
        "example.org:team/app",
        "https://example.org/team/app.git",
        "https://example.org/team/app/",
        "https://ann:s3cret@example.org/team/app.git",
        "https://oauth2:glpat-xyz@EXAMPLE.org:443/team//app.git?x=1#y",
        "ssh://git@example.org:22/team/app.git",
        "git://example.org/team/app",
    ],
)
def test_a_project_is_the_same_however_it_was_cloned(url):
    assert key(url) == "example.org/team/app"


@pytest.mark.parametrize(
    "url", ["", "/srv/git/app.git", "../app", "file:///srv/app", "C:/git/app", "https://", "https://[x/"]
)
def test_a_path_on_a_disk_is_no_project_elsewhere(url):
    assert key(url) is None


def test_the_origin_is_read_from_the_settings_of_a_repository():
    assert origin(SETTINGS) == "git@example.org:Team/App.git"
    assert origin('[remote "origin"] url = "ssh://x.example/a b#c"') == "ssh://x.example/a b#c"
    assert origin('[remote "upstream"]\nurl = x') is None
    assert origin('[remote "origin"]\n# url = x\npushurl = y') is None
    assert origin("") is None


def repository(folder, settings):
    git = folder / ".git"
    (git / "objects").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(settings)
    return git


def named(path):
    return Folder(path.name, path, path.as_uri())


def test_folders_of_one_repository_are_one_project(tmp_path):
    main, inner, plain = tmp_path / "main", tmp_path / "main" / "packages" / "a", tmp_path / "plain"
    for folder in (inner, plain):
        folder.mkdir(parents=True)
    repository(main, SETTINGS)
    keys = project_keys([named(main), named(inner), named(plain)], "ann")
    assert keys == ("example.org/team/app", f"ann:{plain.as_uri()}")


def test_a_worktree_belongs_to_its_repository(tmp_path):
    main, tree = tmp_path / "main", tmp_path / "tree"
    git = repository(main, SETTINGS)
    tree.mkdir()
    own = git / "worktrees" / "tree"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/side\n")
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{tree / '.git'}\n")
    (tree / ".git").write_text(f"gitdir: {own}\n")
    assert project_keys([named(tree)], "ann") == ("example.org/team/app",)


@pytest.mark.parametrize("pointer", ["gitdir: ../main/.git\n", "gitdir: /nowhere\n", "nonsense", ""])
def test_a_pointer_that_points_elsewhere_is_not_believed(tmp_path, pointer):
    repository(tmp_path / "main", SETTINGS)
    other = tmp_path / "other"
    other.mkdir()
    (other / ".git").write_text(pointer)
    assert project_keys([named(other)], "ann") == (f"ann:{other.as_uri()}",)
