"""Ways for the file tools to leave the workspace or to write what guards it, each with a name (T-2, S-3, S-4)."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from codelaw.domain.errors import ToolFailure
from codelaw.permissions.policy import CallFacts, Rules, judge
from codelaw.permissions.rules import parse
from tests.fakes.desk import Desk, folder, make_desk

SECRET = "SECRET" + "MARK"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    place = tmp_path / "out"
    place.mkdir()
    (place / "a.txt").write_text(SECRET)
    (tmp_path / "work-too").mkdir()
    (tmp_path / "work-too/a.txt").write_text(SECRET)
    return place


@pytest.fixture
def desk(tmp_path: Path, outside: Path) -> Desk:
    desk = make_desk(folder(tmp_path / "work"))
    desk.put("in/a.txt", "inside\n")
    desk.put(".git/config", "[core]\n")
    desk.put("sub/.git", "gitdir: ../.git/modules/sub\n")
    desk.put(".codelaw/config.toml", "[permissions]\n")
    (desk.root / "file-link").symlink_to(outside / "a.txt")
    (desk.root / "folder-link").symlink_to(outside)
    (desk.root / "chain").symlink_to("folder-link")
    (desk.root / "up").symlink_to("..")
    (desk.root / "root").symlink_to("/")
    (desk.root / "loop").symlink_to("loop")
    (desk.root / "git-link").symlink_to(".git")
    (desk.root / "rules-link").symlink_to(".codelaw/config.toml")
    (desk.root / "zero").symlink_to("/dev/zero")
    (desk.root / "environ").symlink_to("/proc/self/environ")
    os.mkfifo(desk.root / "fifo")
    return desk


OUT = {
    "dots": "../out/a.txt",
    "dots in the middle": "in/../../out/a.txt",
    "dots through a file that is not there": "none/../../out/a.txt",
    "dots and a space": " ../out/a.txt",
    "a dot and a slash": "./../out/a.txt",
    "many slashes": "..//out///a.txt",
    "dots from the root": "{root}/../out/a.txt",
    "an absolute path": "{out}/a.txt",
    "a folder whose name begins alike": "{root}-too/a.txt",
    "a link to a file": "file-link",
    "a link to a folder": "folder-link/a.txt",
    "a chain of links": "chain/a.txt",
    "a link upwards": "up/out/a.txt",
    "a link to the root": "root{out}/a.txt",
    "links and dots": "folder-link/../out/a.txt",
    "a loop": "loop/a.txt",
    "the root of the own process": "/proc/self/root{out}/a.txt",
    "the folder of the own process": "/proc/self/cwd/../out/a.txt",
    "an endless device": "zero",
    "a device by its path": "/dev/zero",
    "the standard input": "/dev/stdin",
    "the own environment": "/proc/self/environ",
    "the own environment by a link": "environ",
    "a pipe": "fifo",
    "a socket": "socket",
    "a tilde": "~/.ssh/id_ed25519",
    "another user's tilde": "~root/.ssh/id_ed25519",
    "a variable": "$HOME/.netrc",
    "percents": "%2e%2e/out/a.txt",
    "percents for the slash": "..%2fout%2fa.txt",
    "percents twice": "%252e%252e%252fout/a.txt",
    "backslashes": "..\\out\\a.txt",
    "a drive": "C:\\Windows\\system32\\config",
    "a share": "\\\\server\\share\\a.txt",
    "one dot leaders": "\u2024\u2024/out/a.txt",
    "wide dots": "\uff0e\uff0e/out/a.txt",
    "a wide slash": "..\uff0fout\uff0fa.txt",
    "a division slash": "..\u2215out\u2215a.txt",
    "a NUL": "in/a.txt\0/../../out/a.txt",
    "a newline": "in\n/../../out/a.txt",
    "a newline at the end": "../out/a.txt\n",
    "half a pair": "\ud83d/../../out/a.txt",
    "a file uri": "file://{out}/a.txt",
    "a file uri with dots": "file:///{root}/../out/a.txt",
    "an unknown untitled document": "untitled:{out}/a.txt",
    "untitled and dots": "untitled:../../out/a.txt",
    "a long name": "a" * 300 + "/../../out/a.txt",
    "a long path": "a/" * 3000 + "../" * 3001 + "out/a.txt",
    "a result of another chat": "result:../../out/a.txt",
}


@pytest.mark.parametrize("name", OUT)
@pytest.mark.parametrize("tool", ["Read", "Write", "Edit", "MultiEdit", "LS", "Glob", "Grep"])
async def test_no_path_leads_out(desk: Desk, outside: Path, tmp_path: Path, name: str, tool: str):
    path = OUT[name].replace("{root}", str(desk.root)).replace("{out}", str(outside))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(desk.root / "socket"))
        arguments = {
            "Read": {"path": path},
            "Write": {"path": path, "content": "pwned"},
            "Edit": {"path": path, "old_string": SECRET, "new_string": "pwned"},
            "MultiEdit": {"path": path, "edits": [{"old_string": SECRET, "new_string": "pwned"}]},
            "LS": {"path": path.removesuffix("/a.txt")},
            "Glob": {"path": path.removesuffix("/a.txt"), "pattern": "*"},
            "Grep": {"path": path, "pattern": "MARK"},
        }[tool]
        async with asyncio.timeout(20):
            result = await desk(tool, **arguments)
    assert SECRET not in str(result.data)
    assert "a.txt" not in str(result.data.get("entries", result.data.get("files", "")))
    assert (outside / "a.txt").read_text() == SECRET
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "work", "work-too"]
    assert sorted(path.name for path in outside.iterdir()) == ["a.txt"]


GUARDED = {
    "git's settings": ".git/config",
    "git's settings in capitals": ".GIT/config",
    "git's settings in mixed case": ".gIt/CONFIG",
    "git's settings with a dot": ".git/./config",
    "git's settings with two slashes": ".git//config",
    "git's settings from below": "in/../.git/config",
    "git's settings by a link": "git-link/config",
    "git's settings by their whole path": "{root}/.git/config",
    "a hook": ".git/hooks/pre-commit",
    "a hook by a link": "git-link/hooks/pre-commit",
    "the file of a submodule": "sub/.git",
    "a new repository deeper down": "in/.git/config",
    "a git folder with a dot at the end": ".git./config",
    "a git folder with a space at the end": ".git /config",
    "codelaw's rules": ".codelaw/config.toml",
    "codelaw's rules in capitals": ".CODELAW/config.toml",
    "codelaw's rules from below": "in/../.codelaw/config.toml",
    "codelaw's rules by a link": "rules-link",
    "new rules of codelaw's": ".codelaw/more.toml",
    "codelaw's rules deeper down": "in/.codelaw/config.toml",
}


@pytest.mark.parametrize("name", GUARDED)
@pytest.mark.parametrize("tool", ["Write", "Edit"])
async def test_what_guards_the_workspace_is_not_written(desk: Desk, name: str, tool: str):
    path = GUARDED[name].replace("{root}", str(desk.root))
    read = await desk("Read", path=path)
    old = read.data["content"] if read.status == "success" else "x"
    more = {"content": "pwned"} if tool == "Write" else {"old_string": old[:4] or "x", "new_string": "pwned"}
    result = await desk(tool, path=path, **more)
    assert result.error is not None
    assert result.error.code in {"ACCESS_DENIED", "NOT_FOUND"}
    found = [place for place in desk.root.rglob("*") if place.is_file() and not place.is_symlink()]
    assert [place for place in found if "pwned" in place.read_text()] == []


async def test_the_law_may_be_written(desk: Desk):
    """It is the user's word to the agent and holds no permissions: a change of it is asked about like any other."""
    assert (await desk("Write", path="CODE_LAW.md", content="Tests first.\n")).status == "success"
    facts = CallFacts("Write", "write", "CODE_LAW.md")
    assert judge(facts, mode="agent", rules=Rules()).action == "ask"


# ------------------------------------------------------------------------------------- swapped between check and use


def swap(place: Path, target: Path) -> None:
    place.rename(place.with_name(f"{place.name}-before"))
    place.symlink_to(target)


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("what", ["read", "write", "new"])
async def test_a_link_that_comes_after_the_judgement(desk: Desk, outside: Path, what: str, deep: bool):
    desk.put("in/deep/a.txt", "inside\n")
    (outside / "deep").mkdir()
    (outside / "deep/a.txt").write_text(SECRET)
    name = "new.txt" if what == "new" else "a.txt"
    place = await asyncio.to_thread(desk.workspace.locate, f"in/deep/{name}" if deep else f"in/{name}")
    over = None if what == "new" else await desk.workspace.read(place)
    swap(desk.root / "in", outside)
    use = desk.workspace.read(place) if what == "read" else desk.workspace.write(place, "pwned", over=over)
    with pytest.raises(ToolFailure) as refused:
        await use
    assert refused.value.code == "ACCESS_DENIED"
    assert sorted(one.name for one in outside.rglob("*")) == ["a.txt", "a.txt", "deep"]
    assert (outside / "a.txt").read_text() == (outside / "deep/a.txt").read_text() == SECRET


async def test_a_file_that_becomes_a_link_after_the_judgement(desk: Desk, outside: Path):
    place = await asyncio.to_thread(desk.workspace.locate, "in/a.txt")
    over = await desk.workspace.read(place)
    swap(desk.root / "in/a.txt", outside / "a.txt")
    with pytest.raises(ToolFailure):
        await desk.workspace.read(place)
    with pytest.raises(ToolFailure):
        await desk.workspace.write(place, "pwned", over=over)
    assert (outside / "a.txt").read_text() == SECRET


@pytest.fixture
def flipping(desk: Desk, outside: Path) -> Iterator[None]:
    """A folder that is a link to outside every other moment."""
    desk.put("flip/a.txt", "inside\n")
    (desk.root / "link").symlink_to(outside)
    end = threading.Event()

    def flip() -> None:
        while not end.is_set():
            (desk.root / "flip").rename(desk.root / "real")
            (desk.root / "link").rename(desk.root / "flip")
            (desk.root / "flip").rename(desk.root / "link")
            (desk.root / "real").rename(desk.root / "flip")

    thread = threading.Thread(target=flip)
    thread.start()
    yield
    end.set()
    thread.join()


async def test_a_folder_that_is_a_link_every_other_moment(desk: Desk, outside: Path, flipping: None):
    """Hundreds of chances between every check and every use."""
    came = {"read": 0, "written": 0, "refused": 0}
    for number in range(400):
        try:
            place = await asyncio.to_thread(desk.workspace.locate, "flip/a.txt")
            over = await desk.workspace.read(place)
            assert SECRET not in over.text
            came["read"] += 1
            await desk.workspace.write(place, f"inside {number}\n", over=over)
            came["written"] += 1
        except ToolFailure:
            came["refused"] += 1
    assert (outside / "a.txt").read_text() == SECRET
    assert [one.name for one in outside.iterdir()] == ["a.txt"]
    assert came["read"] > 0, came


# ------------------------------------------------------------------------------------------ spellings of a command

SPELLINGS = {
    "a second command": "git status; touch x",
    "and": "git status && touch x",
    "or": "git status || touch x",
    "the background": "git status & touch x",
    "a pipe into a shell": "git status | sh",
    "a new line": "git status\ntouch x",
    "a carriage return and a new line": "git status\r\ntouch x",
    "a substitution": "git status $(touch x)",
    "back quotes": "git status `touch x`",
    "a process that reads": "git status <(touch x)",
    "a process that writes": "git status >(sh)",
    "a file that is written": "git status > ../x",
    "a variable before it": "GIT_EXTERNAL_DIFF=./x git status",
    "a setting": "git -c core.fsmonitor=./x status",
    "another folder": "git -C ../other status",
    "another git folder": "git --git-dir=evil status",
    "an alias of the shell": "alias git=./x; git status",
    "a function": "git() { ./x; }; git status",
    "eval": "eval git status",
    "quotes in the name": "g'i't status; ./x",
    "a shell": "sh -c 'git status; ./x'",
    "env": "env -i ./x git status",
    "a heredoc into a shell": "sh <<EOF\ngit status\n./x\nEOF",
    "base64 into a shell": "echo Li94 | base64 -d | sh",
    "xargs": "git status | xargs ./x",
    "exec": "exec ./x git status",
    "a path to another git": "./git status",
    "an unclosed quote": "git status '",
    "a comment that is none": "git status #\n./x",
    "braces": "{ git status; ./x; }",
    "a subshell": "(git status; ./x)",
    "a loop": "for f in 1; do ./x; done; git status",
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_prefix_rule_covers_no_other_spelling(name: str):
    rules = Rules(allow=(parse("Bash(git status:*)"),))
    assert judge(CallFacts("Bash", "execute", "git status --short"), mode="agent", rules=rules).action == "allow"
    assert judge(CallFacts("Bash", "execute", SPELLINGS[name]), mode="agent", rules=rules).action == "ask"


def test_there_are_enough_of_them():
    assert len(OUT) + len(GUARDED) + len(SPELLINGS) >= 100
