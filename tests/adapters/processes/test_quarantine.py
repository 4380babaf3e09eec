"""What commands make under names that other programs obey goes into quarantine, and no other name ever appears (S-8)."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from codelaw.adapters.processes.sandbox import Sandbox
from codelaw.domain.files import ProcessResult
from codelaw.domain.safety.sensitive_files import FILES, FOLDERS, at_once
from tests.adapters.processes.conftest import Fenced
from tests.adapters.processes.inside import line
from tests.attacks.world import World
from tests.fakes.seen import seen

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is a sandbox on Linux only")
KINDS = (pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap")), "landlock")
Run = Callable[..., Awaitable[ProcessResult]]
GIT = ["git", "-c", "user.name=A User", "-c", "user.email=a@user.example"]


@pytest.fixture(params=KINDS)
async def sandbox(fenced: Fenced, request: pytest.FixtureRequest):
    return (await fenced(request.param))[0]


@pytest.fixture
def run(around: World, sandbox: Sandbox) -> Run:
    async def one(command: str, **more: Any) -> ProcessResult:
        processes = around.processes(sandbox, await sandbox.means())
        return await processes.run(command, cwd=around.ws, timeout=150, **more)

    return one


def git(around: World, *words: str) -> None:
    subprocess.run([*GIT, *words], cwd=around.ws, check=True, capture_output=True)


def tracked(around: World, text: str = '{"a": 1}\n') -> None:
    """A branch `other` holds settings of an editor's, which are not checked out."""
    git(around, "checkout", "-qb", "other")
    for name in (".vscode/settings.json", ".vscode/deep/more.json", ".idea/x.xml"):
        (around.ws / name).parent.mkdir(exist_ok=True, parents=True)
        (around.ws / name).write_text(text, newline="")
    git(around, "add", "-f", ".vscode", ".idea")
    git(around, "commit", "-qm", "settings")
    git(around, "checkout", "-q", "main")
    assert not (around.ws / ".vscode").exists()


def aside(result: ProcessResult, around: World) -> list[str]:
    return [one.path.relative_to(around.ws).as_posix() for one in result.aside]


async def test_no_name_appears_that_the_command_did_not_make(around: World, run: Run):
    with seen(around.ws) as found:
        result = await run("echo b > b.txt; sleep 0.3; git status --short; ls -A")
        await run("true")
    assert [path.relative_to(around.ws).as_posix() for path in found if ".git" not in path.parts] == ["b.txt"]
    assert [path for path in found if path.parent.name in ("info", "hooks", ".git") and "index" not in path.name] == []
    assert result.stdout == "?? .codelaw/\n?? b.txt\n.codelaw\n.git\na.txt\nb.txt\n"


async def test_what_a_command_made_is_gone_when_it_has_ended_and_can_come_back(
    around: World, run: Run, sandbox: Sandbox
):
    content = {name: f"{name}/f" if name in FOLDERS else name for name in (*FOLDERS, *FILES)}
    made = [f"mkdir -p $(dirname {path}); echo mine > {path}" for path in content.values()]
    result = await run("; ".join([*made, "true"]))
    assert [name for name in content if os.path.lexists(around.ws / name)] == []
    assert {(one.path, one.asked) for one in result.aside} == {(around.ws / name, True) for name in content}
    keeping = sandbox.watch().keeping
    for one in result.aside:
        assert f"it was taken away and lies in {one.kept} now" in result.stderr
        assert one.kept.is_relative_to(around.own / "quarantine")
        one.path.write_text("the user's own\n")
        assert await asyncio.to_thread(keeping.bring_back, one.kept) == f"The name {one.path} is taken again."
        one.path.unlink()
        if one.path.name not in at_once(""):
            name = one.path.relative_to(around.ws).as_posix()
            shown = f"{one.path.name}{content[name].removeprefix(name)}"
            assert await asyncio.to_thread(keeping.files, one.kept) == {shown: "mine\n"}
        assert await asyncio.to_thread(keeping.bring_back, one.kept) == ""
        assert os.path.lexists(one.path)
        assert await asyncio.to_thread(keeping.bring_back, one.kept) == f"{one.kept} is not in the quarantine any more."


async def test_what_the_connected_editor_obeys_goes_at_once_and_what_others_obey_in_the_end(around: World, run: Run):
    result = await run("mkdir .idea && touch .idea/x && ls .idea; mkdir .vscode; sleep 0.5; touch .vscode/x")
    assert result.stdout == "x\n"
    assert (result.exit_code, result.blocked) == (1, (around.ws / ".vscode",))
    assert aside(result, around) == [".vscode", ".idea"]
    again = await run("mkdir .vscode; sleep 0.5; touch .vscode/x", opened=frozenset(result.blocked))
    assert (again.exit_code, again.aside) == (0, ())
    assert (around.ws / ".vscode/x").exists()


async def test_a_link_that_leads_somewhere_only_for_others_goes_at_once(around: World, run: Run):
    result = await run("ln -s /proc/self/cwd/evil .vscode; sleep 0.5; test -h .vscode")
    assert (result.exit_code, aside(result, around)) == (1, [".vscode"])


def test_which_names_an_editor_obeys():
    assert ".vscode" in at_once("Visual Studio Code")
    assert ".vscode" in at_once("")
    assert ".vscode" in at_once("some editor")
    assert at_once("Zed") == (".zed",)
    assert {".cursor", ".vscode"} <= {*at_once("Cursor")}
    assert at_once("Neovim") == (".exrc", ".nvim.lua", ".nvimrc")


async def test_what_git_obeys_goes_at_once(around: World, run: Run):
    names = (".git/commondir", ".git/config.worktree", ".git/objects/info/alternates")
    made = "; ".join(f"echo x > {name}" for name in names)
    left = "; ".join(f"test -e {name} && echo {name}" for name in names)
    result = await run(f"{made}; sleep 0.5; {left}; true")
    assert result.stdout == ""
    assert sorted(aside(result, around)) == sorted(names)
    assert {one.path.name for one in result.aside if one.asked} == {"config.worktree"}


async def test_a_repository_where_there_was_none(around: World, run: Run):
    shutil.rmtree(around.ws / ".git")
    result = await run("mkdir .git; sleep 0.5; git init -q; true")
    assert not (around.ws / ".git").exists()
    assert aside(result, around) == [".git"]
    bare = await run("mkdir objects refs; echo 'ref: refs/heads/main' > HEAD; sleep 0.5; ls")
    assert bare.stdout.split() == ["a.txt", "objects", "refs"]
    assert aside(bare, around) == ["HEAD"]


# -------------------------------------------------------------------------------------------- what a ref held before


@pytest.mark.parametrize(
    "how",
    [
        "git checkout -q other",
        "git checkout other -- .vscode .idea",
        "git show other:.idea/x.xml > x; mkdir .idea; mv x .idea/x.xml; git checkout -q other -- .vscode",
    ],
)
async def test_what_a_checkout_brings_stays(around: World, run: Run, how: str):
    tracked(around)
    if "-q other" in how:
        git(around, "pack-refs", "--all")
        git(around, "gc", "-q")
    result = await run(f"{how}; sleep 1.5")
    assert (result.exit_code, result.aside) == (0, ()), result.stderr
    assert (around.ws / ".vscode/settings.json").read_text() == '{"a": 1}\n'
    assert (around.ws / ".idea/x.xml").exists()


async def test_what_lies_beside_it_goes_and_so_does_other_content(around: World, run: Run):
    tracked(around)
    result = await run("git checkout -q other; echo x > .vscode/tasks.json; echo y >> .idea/x.xml; mkdir .vscode/new")
    assert sorted(aside(result, around)) == [".idea", ".vscode/new", ".vscode/tasks.json"]
    assert sorted(path.name for path in (around.ws / ".vscode").iterdir()) == ["deep", "settings.json"]


FORGED = "mkdir -p e/.vscode; echo forged > e/.vscode/settings.json; cd e; t=$(GIT_INDEX_FILE=../i git --work-tree=. --git-dir=../.git add -f . && GIT_INDEX_FILE=../i git --git-dir=../.git write-tree); cd ..; c=$(git -c user.name=a -c user.email=a@b commit-tree -m x $t); rm -rf e i"
WAYS = {
    "a branch": "git update-ref refs/heads/new $c; git checkout -q new -- .vscode",
    "the branch itself": "git update-ref refs/heads/other $c; git checkout -q other -- .vscode",
    "packed refs": "echo $c refs/heads/new > p; cat .git/packed-refs >> p; cp p .git/packed-refs; git checkout -q $c -- .vscode",
    "a file of a ref": "echo $c > .git/refs/heads/other; echo $c > .git/refs/heads/main; echo $c > .git/HEAD; git checkout -q $c -- .vscode",
    "an object": "o=$(git rev-parse other^{tree}); f=.git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-); n=$(git rev-parse $c^{tree}); rm -f $f; cp .git/objects/$(echo $n | cut -c1-2)/$(echo $n | cut -c3-) $f; git checkout -q $c -- .vscode",
    "a replaced object": "git replace other $c; git checkout -q $c -- .vscode",
    "a graft": "mkdir -p .git/info; echo $(git rev-parse other) $c > .git/info/grafts; git checkout -q $c -- .vscode",
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_forged_ref_makes_nothing_known(around: World, run: Run, way: str):
    tracked(around)
    result = await run(f"{FORGED}; {WAYS[way]}; sleep 1.5; true")
    assert not (around.ws / ".vscode").exists(), result.stderr
    assert ".vscode" in aside(result, around)


async def test_what_an_earlier_command_has_committed_is_no_more_known(around: World, run: Run):
    tracked(around)
    await run(f"{FORGED}; git update-ref refs/heads/new $c; git update-ref refs/heads/other $c")
    result = await run("git checkout -q new -- .vscode; sleep 1; true")
    assert aside(result, around) == [".vscode"]


async def test_where_git_cannot_be_asked_nothing_is_known_and_the_watch_goes_on(around: World, run: Run):
    tracked(around)
    (around.own / "quarantine").mkdir()
    (around.own / "quarantine/sha1.git").touch()
    result = await run("git checkout -q other -- .vscode; sleep 1; test -e .vscode || mkdir .vscode; sleep 1; ls -A")
    assert ".vscode" not in result.stdout.split()
    assert aside(result, around) == [".vscode"]


async def test_an_object_that_is_a_pipe_holds_nobody_up(around: World, run: Run):
    tracked(around)
    result = await run(
        "o=$(git rev-parse other); f=.git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-); rm -f $f; mkfifo $f;"
        " mkdir .vscode; echo x > .vscode/tasks.json; sleep 0.5"
    )
    assert not (around.ws / ".vscode").exists()
    assert aside(result, around) == [".vscode"]


# ------------------------------------------------------------------------------------------------------- many ways there


MADE = {
    "renamed": "mkdir v; echo x > v/tasks.json; mv v .vscode",
    "linked": "echo x > n; ln n .envrc",
    "a symlink": "mkdir v; echo x > v/tasks.json; ln -s v .vscode",
    "a symlink that leads nowhere": "ln -s none .vscode",
    "a pipe": "mkfifo .envrc",
    "unreadable": "mkdir -p .idea/d; echo x > .idea/d/x; chmod 000 .idea/d .idea",
    "with a hard link inside": "mkdir .idea; ln a.txt .idea/x",
}


@pytest.mark.parametrize("how", MADE)
async def test_however_it_was_made(around: World, run: Run, how: str):
    result = await run(f"{MADE[how]}; sleep 0.3; true")
    assert [one.path.name for one in result.aside] in ([".vscode"], [".envrc"], [".idea"])
    assert not [name for name in (".vscode", ".envrc", ".idea") if os.path.lexists(around.ws / name)]
    assert (around.ws / "a.txt").read_text() == "a\n"


async def test_a_folder_made_later_is_followed(around: World, run: Run):
    git(around, "config", "core.hooksPath", "tools/deep/hooks")
    gone = "for _ in $(seq 100); do [ -e tools/deep/hooks ] || break; sleep 0.1; done; ls tools/deep"
    result = await run(
        f"mkdir -p tools/deep; sleep 0.3; mkdir tools/deep/hooks; {gone}; rm -rf tools;"
        f" mkdir -p tools/deep/hooks; {gone}; echo kept > tools/mine"
    )
    assert result.stdout == ""
    assert aside(result, around) == ["tools/deep/hooks"]
    assert (around.ws / "tools/mine").exists()
    await asyncio.to_thread(shutil.rmtree, around.ws / "tools")
    await run("mkdir -p t/deep/hooks; ln -s t tools")
    assert not os.path.lexists(around.ws / "tools")


async def test_who_makes_a_name_again_and_again_is_stopped(around: World, run: Run):
    result = await run("while true; do mkdir .git/commondir 2>/dev/null; mkdir .vscode 2>/dev/null; done")
    assert "again and again" in result.limit
    assert not (around.ws / ".vscode").exists()
    assert not (around.ws / ".git/commondir").exists()


async def test_from_a_folder_that_was_taken_away_nothing_else_is_seen(around: World, run: Run):
    result = await run(
        "mkdir .vscode; cd .vscode; exec 9< .; sleep 0.5; cat ../../../config.toml ../../config.toml ../../../../config.toml;"
        " cat /proc/self/cwd/../../../../config.toml /proc/self/fd/9/../../../../config.toml; ls .. ../.."
    )
    assert "apiKey" not in result.stdout


# --------------------------------------------------------------------------------------------- several, and the killed


async def test_two_commands_at_once(around: World, run: Run):
    """Nobody can say who has made a name: it is told once, and whoever failed on it is asked about it."""
    first, second = await asyncio.gather(
        run("mkdir .vscode; sleep 1; touch .vscode/x"), run("sleep 1; touch .vscode/y; exit 3")
    )
    assert [first.exit_code, second.exit_code] == [1, 3]
    assert around.ws / ".vscode" in first.blocked
    assert sorted([*aside(first, around), *aside(second, around)]) == [".vscode"]
    one = asyncio.ensure_future(run("sleep 1.5; ls .vscode"))
    await asyncio.sleep(0.3)
    allowed = await run("mkdir .vscode; sleep 0.5; echo x > .vscode/x", opened=frozenset({around.ws / ".vscode"}))
    assert (allowed.exit_code, allowed.aside) == (0, ())
    assert (await one).aside == ()
    assert (around.ws / ".vscode/x").exists()


async def test_two_servers_at_once(around: World, run: Run, sandbox: Sandbox):
    """Each takes away what it sees; nothing is lost, and a living server's commands are no leftovers."""
    other = Sandbox(
        lambda: [around.ws], [around.own], around.environment, kinds=((await sandbox.means()).kind or "landlock",)
    )
    processes = around.processes(other, await other.means())
    first, second, swept = await asyncio.gather(
        run("sleep 0.5; mkdir .idea; echo mine > .idea/x; sleep 1"),
        processes.run("sleep 1; true", cwd=around.ws, timeout=150),
        asyncio.sleep(0.8, other.sweep()),
    )
    assert await swept == []
    await other.close()
    found = [*first.aside, *second.aside]
    assert [one.path.name for one in found] == [".idea"]
    assert (found[0].kept / "x").read_text() == "mine\n"


async def killed(around: World, sandbox: Sandbox, command: str) -> None:
    """A server that is killed while its command waits, once `ready` is there."""
    kind = (await sandbox.means()).kind or ""
    environment = {**os.environ, "HOME": str(around.home), "PYTHONPATH": os.pathsep.join(sys.path)}
    command += "; echo > ready; exec sleep 600"
    server = await asyncio.create_subprocess_exec(
        sys.executable, *line(kind, around.ws, around.own, command)[1:], start_new_session=True, env=environment
    )
    while not (around.ws / "ready").exists():
        assert server.returncode is None
        await asyncio.sleep(0.05)
    assert await sandbox.sweep() == [], "its server lives"
    os.killpg(server.pid, signal.SIGKILL)
    await server.wait()


async def test_after_a_server_that_was_killed_nothing_stays(around: World, sandbox: Sandbox):
    tracked(around)
    with seen(around.ws) as found:
        await killed(around, sandbox, "git checkout -q other; mkdir .zed .idea/y; echo x > .zed/x; echo x > .envrc")
    names = {path.relative_to(around.ws).parts[0] for path in found} - {".git"}
    assert names == {".vscode", ".idea", ".zed", ".envrc", "ready"}
    reported = await sandbox.sweep()
    assert sorted(notice.code for notice in reported) == ["set_aside"] * 3
    left = sorted(path.name for path in around.ws.iterdir())
    assert left == [".codelaw", ".git", ".idea", ".vscode", "a.txt", "ready"]
    assert await sandbox.sweep() == []
    assert sorted(path.name for path in (around.own / "quarantine/kept").glob("*/[!a]*")) == [".envrc", ".zed", "y"]


async def test_a_repository_of_a_killed_server_s_command_is_taken_away_if_it_runs_something(
    around: World, sandbox: Sandbox
):
    for name in ("there", "plain"):
        git(around, "init", "-q", name)
    git(around, "-C", "there", "config", "core.fsmonitor", "x")
    await killed(
        around,
        sandbox,
        "cp -r plain new; git -C new config core.fsmonitor x; cp -r plain clone",
    )
    assert [notice.code for notice in await sandbox.sweep()] == ["set_aside"]
    left = sorted(path.parent.name for path in around.ws.glob("*/.git"))
    assert left == ["clone", "plain", "there"]


async def test_where_nothing_can_be_kept_it_gets_another_name(around: World, run: Run, sandbox: Sandbox):
    (around.own / "quarantine").mkdir()
    (around.own / "quarantine/kept").touch()
    result = await run("mkdir .vscode; echo x > .vscode/tasks.json; sleep 0.3; ls -A")
    [one] = result.aside
    assert not (around.ws / ".vscode").exists()
    assert one.kept.parent == around.ws
    assert one.kept.name.startswith("codelaw-taken-")
    assert not one.asked
    assert f"it was taken away and lies in {one.kept} now" in result.stderr


async def test_what_was_changed_after_the_kill_is_somebody_elses(around: World, sandbox: Sandbox):
    await killed(around, sandbox, "mkdir .zed")
    for note in (around.own / "quarantine/running").iterdir():
        os.utime(note, (time.time() - 60, time.time() - 60))
    assert await sandbox.sweep() == []
    assert (around.ws / ".zed").is_dir()


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="there is no second file system")
async def test_another_file_system(around: World, sandbox: Sandbox):
    own = Path("/dev/shm") / f"codelaw-test-{os.getpid()}"
    if own.parent.stat().st_dev == around.ws.stat().st_dev:
        pytest.skip("there is no second file system")
    own.mkdir()
    kind = (await sandbox.means()).kind
    other = Sandbox(lambda: [around.ws], [own], around.environment, kinds=(kind,) if kind else ())
    try:
        processes = around.processes(other, await other.means())
        line = "mkdir -p .idea/d; echo x > .idea/d/x; ln -s /etc .idea/l; mkfifo .idea/p; chmod 700 .idea/d/x"
        result = await processes.run(line, cwd=around.ws, timeout=150)
        [one] = result.aside
        assert not (around.ws / ".idea").exists()
        assert one.kept.is_relative_to(own)
        assert (one.kept / "d/x").read_text() == "x\n"
        assert (one.kept / "l").is_symlink()
        assert await asyncio.to_thread(other.watch().keeping.bring_back, one.kept) == ""
        assert (around.ws / ".idea/d/x").stat().st_mode & 0o777 == 0o700
    finally:
        await other.close()
        shutil.rmtree(own)
