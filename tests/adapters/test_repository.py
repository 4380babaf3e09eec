"""What git says of a repository, however hostile its own settings are (M-8, S-8)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from codelaw.adapters import repository as module
from codelaw.adapters.repository import Repository

QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
WHO = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgSign=false")


def git(root: Path, *arguments: str) -> str:
    environment = {"PATH": os.environ["PATH"], **QUIET}
    done = subprocess.run(
        ["git", *WHO, *arguments],
        cwd=root,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def made(root: Path) -> Path:
    """A repository in which nothing is."""
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return made(tmp_path / "work")


def repository(root: Path) -> Repository:
    return Repository(root, [root], dict(os.environ))


def commit(root: Path, message: str, **files: str) -> str:
    for name, text in files.items():
        (root / name).write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)
    return git(root, "rev-parse", "HEAD")


async def test_what_is_changed_staged_or_not_is_told(root: Path):
    commit(root, "first", a="one\n", b="two\n", c="three\n")
    (root / "a").write_text("uno\n")
    (root / "b").write_text("due\n")
    git(root, "add", "b")
    (root / "c").unlink()
    asked = repository(root)
    assert await asked.open()
    assert await asked.changed() == ["a", "b", "c"]
    reported = await asked.diff(["a", "c"])
    assert "-one\n+uno\n" in reported
    assert "deleted file" in reported
    assert "due" not in reported, "only the files that are asked for"
    assert await asked.diff([]) == ""


async def test_before_the_first_commit_everything_staged_is_new(root: Path):
    (root / "a").write_text("one\n")
    git(root, "add", "a")
    asked = repository(root)
    assert await asked.open()
    assert await asked.changed() == ["a"]
    assert "+one" in await asked.diff(["a"])
    assert await asked.commit("HEAD") is None


async def test_a_commit_is_told_by_any_of_its_names(root: Path):
    first = commit(root, "The first\n\nwith a body", a="one\n")
    second = commit(root, "The second", a="two\n", b="new\n")
    git(root, "tag", "v1.0", first)
    asked = repository(root)
    assert await asked.open()
    for name in (second, second[:8], "HEAD", "main", "v1.0~0^{commit}", "HEAD~0"):
        assert await asked.commit(name) is not None, name
    shown = await asked.commit("v1.0")
    assert shown is not None
    assert shown.id == first
    assert shown.message.startswith(f"commit {first}\nAuthor: Ann\nDate: ")
    assert shown.message.endswith("The first\n\nwith a body")
    newest = await asked.commit("HEAD")
    assert newest is not None
    assert await asked.changed(newest) == ["a", "b"]
    assert "-one\n+two" in await asked.diff(["a"], newest)


async def test_of_a_merge_the_difference_from_its_first_parent_is_told(root: Path):
    commit(root, "base", a="one\n")
    git(root, "checkout", "-q", "-b", "side")
    commit(root, "side", b="side\n")
    git(root, "checkout", "-q", "main")
    commit(root, "main", c="main\n")
    git(root, "merge", "-q", "--no-ff", "-m", "both", "side")
    asked = repository(root)
    assert await asked.open()
    merge = await asked.commit("HEAD")
    assert merge is not None
    assert await asked.changed(merge) == ["b"]


@pytest.mark.parametrize(
    "name",
    ["", "-p", "--output=x", "HEAD..main", "HEAD:a", ":/first", "no-such", "a b", "HEAD\n", "^HEAD", "@{-1};x", "ä"],
)
async def test_what_names_no_commit_is_none(root: Path, name: str):
    commit(root, "first", a="one\n")
    asked = repository(root)
    assert await asked.open()
    assert await asked.commit(name) is None
    assert not (root / "x").exists()


async def test_odd_file_names_are_paths_and_nothing_else(root: Path):
    names = ["-p", ":(top)a", "*", 'q"uote', "two words", "ünï", "new\nline"]
    commit(root, "first", **dict.fromkeys(names, "one\n"))
    for name in names:
        (root / name).write_text("two\n")
    asked = repository(root)
    assert await asked.open()
    assert sorted(await asked.changed()) == sorted(names)
    assert (await asked.diff(["*"])).count("diff --git") == 1
    assert (await asked.diff(names)).count("diff --git") == len(names)


def recorder(tmp_path: Path) -> tuple[Path, Path]:
    """A program, and the file that is there once it was started."""
    mark, tool = tmp_path / "mark", tmp_path / "tool"
    tool.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{mark}'\ncat\n")
    tool.chmod(0o755)
    return tool, mark


async def test_no_setting_of_the_repository_starts_a_program(root: Path, tmp_path: Path):
    tool, mark = recorder(tmp_path)
    first = commit(root, "first", a="one\n")
    commit(root, "second", a="two\n")
    (root / ".gitattributes").write_text("* filter=evil diff=evil\n")
    (root / "a").write_text("three\n")
    hooks = root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-index-change", "fsmonitor-watchman", "pre-commit"):
        (hooks / hook).write_text(tool.read_text())
        (hooks / hook).chmod(0o755)
    settings = (
        *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.command", "diff.evil.textconv"),
        *("diff.external", "core.fsmonitor", "core.pager", "pager.diff", "pager.show", "core.editor", "gpg.program"),
        *("core.sshCommand", "core.gitProxy", "core.askPass", "core.alternateRefsCommand", "remote.o.uploadpack"),
    )
    for name in settings:
        git(root, "config", name, str(tool))
    for name, value in (
        ("filter.evil.required", "true"),
        ("log.showSignature", "true"),
        ("core.hooksPath", str(hooks)),
        ("extensions.partialClone", "o"),
        ("remote.o.url", f"ext::{tool}"),
        ("remote.o.promisor", "true"),
        ("alias.diff", f"!{tool}"),
        ("alias.show", f"!{tool}"),
        ("color.ui", "always"),
    ):
        git(root, "config", name, value)
    asked = repository(root)
    assert await asked.open()
    assert await asked.changed() == ["a"]
    assert "-two\n+three" in await asked.diff(["a"])
    shown = await asked.commit(first)
    assert shown is not None
    assert "+one" in await asked.diff(["a"], shown)
    assert not mark.exists(), mark.read_text()


@pytest.mark.parametrize(
    ("before", "driver", "opens"),
    [(b"", b"ev\xffil", True), (b"[x]\n" + b"".join(b"\tn%d = 1\n" % n for n in range(120_000)), b"evil", False)],
    ids=["bytes", "long"],
)
async def test_no_name_of_a_setting_escapes_notice(
    root: Path, tmp_path: Path, before: bytes, driver: bytes, opens: bool
):
    tool, mark = recorder(tmp_path)
    commit(root, "first", a="one\n")
    (root / ".gitattributes").write_bytes(b"* filter=%s\n" % driver)
    (root / "a").write_text("two\n")
    with (root / ".git" / "config").open("ab") as config:
        config.write(before + b'[filter "%s"]\n\tclean = %s\n' % (driver, os.fsencode(tool)))
    asked = repository(root)
    assert await asked.open() is opens
    if opens:
        assert "-one\n+two" in await asked.diff(["a"])
    assert not mark.exists(), mark.read_text()


async def test_no_git_is_started_in_a_submodule(root: Path, tmp_path: Path):
    tool, mark = recorder(tmp_path)
    inner = made(root / "inner")
    commit(inner, "first", s="one\n")
    commit(root, "first", a="one\n")
    (inner / ".gitattributes").write_text("* diff=evil\n")
    commit(inner, "second", s="two\n")
    git(inner, "config", "diff.evil.command", str(tool))
    git(root, "config", "diff.submodule", "diff")
    git(root, "add", "inner")
    asked = repository(root)
    assert await asked.open()
    assert "+Subproject commit" in await asked.diff(["inner"], "staged")
    assert "+Subproject commit" in await asked.diff(["inner"])
    commit(root, "second")
    shown = await asked.commit("HEAD")
    assert shown is not None
    assert "+Subproject commit" in await asked.diff(["inner"], shown)
    assert not mark.exists(), mark.read_text()


async def test_a_path_that_was_a_folder_or_became_one_tells_nothing_of_what_lies_there(root: Path):
    (root / "was").mkdir()
    commit(root, "first", **{"is": "one\n", "was/key": "hunter2\n", "b": "one\n"})
    (root / "is").unlink()
    (root / "was" / "key").unlink()
    (root / "was").rmdir()
    (root / "is").mkdir()
    commit(root, "second", **{"is/key": "hunter2\n", "was": "two\n", "b": "two\n"})
    asked = repository(root)
    assert await asked.open()
    shown = await asked.commit("HEAD")
    assert shown is not None
    git(root, "reset", "-q", "--soft", "HEAD~")
    for reported in (
        await asked.diff(["is", "was", "b"], shown),
        await asked.diff(["is", "was", "b"], "staged"),
        await asked.diff(["is", "was", "b"]),
    ):
        assert "+two" in reported
        assert "hunter2" not in reported


async def test_a_work_tree_elsewhere_is_not_looked_into(root: Path, tmp_path: Path):
    commit(root, "first", secret="dummy\n")
    private = tmp_path / "private"
    private.mkdir()
    (private / "secret").write_text("hunter2\n")
    git(root, "config", "core.worktree", str(private))
    assert not await repository(root).open()


async def test_without_a_repository_or_git_there_is_nothing(tmp_path: Path):
    assert not await repository(tmp_path).open()
    assert not await Repository(tmp_path, [tmp_path], {"PATH": str(tmp_path)}).open()


async def test_the_log_tells_messages_and_files_newest_first(root: Path):
    (root / "sub").mkdir()
    commit(root, "first\n\nwith a body", **{"a": "one\n", "sub/é b": "two\n"})
    git(root, "config", "log.follow", "true")
    last = commit(root, "second", **{"sub/c": "three\n"})
    commit(root, "nothing")
    asked = Repository(root / "sub", [root / "sub"], dict(os.environ))
    assert await asked.open()
    head = await asked.head()
    assert await asked.logged(head, 10) == [("second", ["c"]), ("first\n\nwith a body", ["é b"])]
    assert await asked.logged(last, 1) == [("second", ["c"])]


async def test_a_log_that_git_does_not_tell_in_time_is_what_there_is(root: Path, monkeypatch: pytest.MonkeyPatch):
    head = commit(root, "first", a="one\n")
    asked = repository(root)
    assert await asked.open()
    assert await asked.logged(head, 10) == [("first", ["a"])]
    monkeypatch.setattr(module, "SECONDS", 0.0)
    assert await asked.logged(head, 10) == []
