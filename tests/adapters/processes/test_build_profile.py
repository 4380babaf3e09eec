"""What a command may touch, drawn from what lies on the disk; hidden wins, and nothing is opened by a link (S-4, S-8)."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import pickle
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from codelaw.adapters.processes.rules.build_profile import build_profile
from codelaw.adapters.processes.rules.profile import Access, Profile, ProfilePlace
from codelaw.adapters.processes.rules.withheld import NOTHING, UndrawableError, WithheldPaths
from codelaw.adapters.processes.sandbox import Kind, Sandbox
from codelaw.adapters.processes.sandboxes import landlock
from codelaw.adapters.processes.sandboxes.scratch import Scratch
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import ProcessResult
from codelaw.permissions.policy import denied_to
from codelaw.permissions.rules import parse
from tests.adapters.processes.conftest import Fenced
from tests.attacks.world import World

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is a sandbox on Linux only")
ORDINARY = 1000


@pytest.fixture
async def run(around: World, fenced: Fenced):
    """Runs a command in the workspace under bubblewrap."""
    sandbox, means = await fenced()

    async def one(command: str, *, withheld: WithheldPaths = NOTHING, **more: Any) -> ProcessResult:
        processes = around.processes(sandbox, means)
        processes.withheld = withheld
        return await processes.run(command, cwd=around.ws, timeout=150, **more)

    return one


Run = Callable[..., Any]


def drawn(around: World, **more: Any) -> Profile:
    return build_profile([around.ws], [around.own], around.environment, cwd=around.ws, network=False, **more)


def access(profile: Profile, path: Path) -> Access | None:
    """What holds at a path: the deepest place that it is or lies in."""
    holding = [place for place in profile.places if place.path == path or place.path in path.parents]
    return holding[-1].access if holding else None


def git(*words: str | Path) -> None:
    subprocess.run(["git", *map(str, words)], check=True)


def outside(around: World, line: str) -> None:
    subprocess.run(["sh", "-c", line], cwd=around.ws, check=True)


def ordinary(task: Callable[[], Any], *folders: Path) -> Any:
    """What `task` gives as an ordinary user, to whom `folders` are given."""
    if os.geteuid() != 0:
        return task()
    for folder in folders:
        subprocess.run(["chown", "-R", f"{ORDINARY}:{ORDINARY}", str(folder)], check=True)
        for parent in folder.parents:
            if not parent.stat().st_mode & 1:
                parent.chmod(parent.stat().st_mode | 0o011)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(ORDINARY)
            os.setuid(ORDINARY)
            reported = pickle.dumps(task())
        except Exception as error:  # noqa: BLE001 - it is to reach the test
            reported = pickle.dumps(repr(error))
        os.write(writing, reported)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pickle.loads(pipe.read())
    os.waitpid(child, 0)
    return answer


def denying(around: World, *texts: str) -> WithheldPaths:
    rules = [parse(text) for text in texts]
    return WithheldPaths(
        denied_to("Read", "reads", rules), denied_to("Edit", "writes", rules), names={around.ws: "ws"}, key=tuple(texts)
    )


# --------------------------------------------------------------------------------------------------------- hidden wins


def test_hidden_wins_over_a_tool_that_lies_in_it_or_around_it(around: World):
    (around.home / ".cargo/registry").mkdir()
    secret = around.home / ".cargo/registry/token"
    secret.touch()
    (around.home / ".aws/bin").mkdir()
    around.environment["PATH"] = f"{around.home}/.aws/bin:{around.environment['PATH']}"
    profile = drawn(around, withheld=WithheldPaths(hidden=(str(secret), "~/.aws")))
    assert access(profile, around.home / ".cargo/registry") == "read"
    assert access(profile, secret) == "hidden"
    assert not [place for place in profile.places if around.home / ".aws" in place.path.parents]


def test_a_workspace_around_a_secret_sees_none_and_one_inside_of_it_is_refused(around: World):
    around.ws = around.home
    profile = drawn(around)
    assert access(profile, around.home / ".ssh/id_ed25519") == "hidden"
    assert access(profile, around.home / "private.txt") == "write"
    around.ws = around.own / "inside"
    around.ws.mkdir()
    with pytest.raises(UndrawableError, match="commands may not see"):
        drawn(around)


SKILL_FILES = (
    *(".claude/skills/pdf/run.sh", ".claude/.credentials.json", ".claude/history/a", ".config/codelaw/config.toml"),
    *(".config/codelaw/skills/doc/run.sh", ".config/codelaw/trusted.json", ".config/other/key"),
)


def with_skills(around: World) -> None:
    for name in SKILL_FILES:
        (around.home / name).parent.mkdir(parents=True, exist_ok=True)
        (around.home / name).write_text(f"echo MARK {name}\n")
    around.own = around.home / ".config/codelaw"


async def test_commands_run_the_users_skills_and_see_nothing_beside_them(around: World, fenced: Fenced):
    with_skills(around)
    processes = around.processes(*await fenced())
    home = around.home
    scripts = f"sh {home}/.claude/skills/pdf/run.sh; sh {home}/.config/codelaw/skills/doc/run.sh"
    result = await processes.run(f"{scripts}; echo x > {home}/.claude/skills/pdf/new", cwd=around.ws, timeout=150)
    assert result.stdout.splitlines() == ["MARK .claude/skills/pdf/run.sh", "MARK .config/codelaw/skills/doc/run.sh"]
    assert not (home / ".claude/skills/pdf/new").exists(), "they are there to be read"
    listed = await processes.run(f"find {home}/.claude {home}/.config -type f | xargs cat", cwd=around.ws, timeout=150)
    assert sorted(listed.stdout.splitlines()) == [
        f"echo MARK {name}" for name in sorted(SKILL_FILES) if "skills" in name
    ]


def test_skills_are_hidden_with_the_rest_where_what_lies_beside_them_could_be_seen(around: World, tmp_path: Path):
    with_skills(around)
    skills, secret = around.home / ".claude/skills", around.home / ".claude/.credentials.json"
    assert (access(drawn(around), skills), access(drawn(around), secret)) == ("read", "private")
    for where in (around.home, around.home / ".claude"):
        world = dataclasses.replace(around, ws=where)
        try:
            found = drawn(world)
        except UndrawableError:
            continue  # no command runs there at all
        assert (access(found, skills), access(found, secret)) == ("hidden", "hidden"), where
    (around.home / ".claude/skills").rename(tmp_path / "elsewhere")
    (around.home / ".claude/skills").symlink_to(tmp_path / "elsewhere")
    assert access(drawn(around), tmp_path / "elsewhere/pdf") != "read", "a link is not followed"


async def test_the_lists_of_the_user_are_kept_to(around: World, run: Run):
    (around.ws / "deep/er").mkdir(parents=True)
    (around.ws / "deep/er/f").write_text("fffff\n")
    (around.ws / "a.txt").write_text("open\n")
    result = await run(
        "cat deep/er/f; mv deep d2; cat d2/er/f; cat a.txt; echo x > a.txt; mv a.txt b; mkdir -p not/yet; echo x > not",
        withheld=WithheldPaths(hidden=("deep/er",), read_only=("a.txt", "not/yet")),
    )
    assert result.stdout == "open\n"
    assert (around.ws / "deep/er/f").read_text() == "fffff\n"
    assert (around.ws / "a.txt").read_text() == "open\n"
    assert not (around.ws / "not/yet").exists()


# -------------------------------------------------------------------------------------------------------- git's folders


ELSEWHERE = {
    "commondir": "echo {out} > .git/commondir",
    "core.worktree": "printf '[core]\\n\\tworktree = {out}\\n' > .git/config",
    "core.hooksPath": "printf '[core]\\n\\thooksPath = {out}\\n' > .git/config",
    "include": "printf '[include]\\n\\tpath = {out}/victim\\n' > .git/config",
    **{
        name: f"rm -rf .git/{name}; mkdir -p $(dirname .git/{name}); ln -s {{out}} .git/{name}"
        for name in ("hooks", "config", "objects", "objects/info", "modules", "modules/x", "worktrees/x")
    },
}
"""Ways to say that a git folder, or a part of it, lies elsewhere."""


@pytest.mark.parametrize("name", ELSEWHERE)
async def test_nothing_in_a_git_folder_opens_another(around: World, run: Run, name: str):
    outside(around, ELSEWHERE[name].format(out=around.out))
    profile = await asyncio.to_thread(drawn, around)
    assert access(profile, around.out / "victim") != "write"
    result = await run(f"echo x > {around.out}/victim; git status >/dev/null 2>&1; echo ran")
    assert result.stdout == "ran\n", result.stderr
    assert (around.out / "victim").read_text() == "intact\n"


async def test_a_repository_one_folder_down_and_a_submodule_keep_hooks_and_settings(around: World, run: Run):
    deep = around.ws / "third/party/lib"
    for folder in (around.ws / "inner", deep):
        git("init", "-q", folder)
    (around.ws / ".gitmodules").write_text('[submodule "lib"]\n\tpath = third/party/lib\n\turl = x\n')
    before = [(folder / ".git/config").read_text() for folder in (around.ws / "inner", deep)]
    await run(
        "for d in inner third/party/lib; do echo x > $d/.git/config; echo x > $d/.git/hooks/pre-commit; rm -rf $d/.git;"
        " mv $d $d.away; mkdir -p $d/.git; echo x > $d/.git/config; done; mv third t; mkdir -p third/party/lib"
    )
    assert [(folder / ".git/config").read_text() for folder in (around.ws / "inner", deep)] == before
    assert not (deep / ".git/hooks/pre-commit").exists()


@pytest.mark.parametrize(
    "settings",
    ["[core] hooksPath = tools/hooks", "[user][core]hookspath=tools/hooks", "[core]\n\thooksPath = tools/hooks"],
)
def test_what_the_settings_name_is_kept_however_they_are_laid_out(around: World, settings: str):
    (around.ws / "tools/hooks").mkdir(parents=True)
    (around.ws / ".git/config").write_text(f"# a comment \\\n{settings}\n")
    assert access(drawn(around), around.ws / "tools/hooks") == "read"


async def test_a_bare_repository_cannot_be_completed_at_the_top(around: World, run: Run):
    result = await run("rm .git/HEAD; mkdir objects refs; echo 'ref: refs/heads/main' > HEAD; echo x > config; ls")
    assert not (around.ws / "HEAD").exists()
    assert [one.kept.read_text() for one in result.aside] == ["ref: refs/heads/main\n"]
    for name in ("objects", "refs", "hooks"):
        (around.ws / name).mkdir(exist_ok=True)
    (around.ws / "HEAD").write_text("ref: refs/heads/main\n")
    (around.ws / "config").write_text("[core]\n\tbare = true\n")
    await run("echo x > config; echo x > hooks/post-index-change; mv hooks h; mkdir hooks; echo x > hooks/y")
    assert (around.ws / "config").read_text() == "[core]\n\tbare = true\n"
    assert list((around.ws / "hooks").iterdir()) == []


# ---------------------------------------------------------------------------------------------- what other programs obey


async def test_git_goes_on_as_ever_among_names_that_are_watched(around: World, run: Run):
    (around.ws / ".codelaw").rename(around.base / "elsewhere")
    result = await run(
        "set -e; echo b > b; git status --short; git add -A; git status --short; git stash -qu; git stash pop -q;"
        " git clean -fdq; git commit -qm b; git checkout -qb z; git diff HEAD; git gc -q; git status --short; ls"
    )
    assert (result.exit_code, result.stdout) == (0, "?? b\nA  b\na.txt\nb\n"), result.stderr
    assert sorted(path.name for path in around.ws.iterdir()) == [".git", "a.txt", "b"]


def test_start_up_files_are_watched_where_the_workspace_holds_a_home(around: World):
    assert not {one.path.name for one in drawn(around).watched} & {".bash_login", ".zlogin"}
    around.ws = around.base
    assert around.home / ".zlogin" in {one.path for one in drawn(around).watched}


async def test_an_approval_opens_one_of_them_and_no_other(around: World, run: Run):
    config = around.ws / ".git/config"
    result = await run("git config a.b c && mkdir .vscode", opened=frozenset({config, around.ws / ".vscode"}))
    assert result.exit_code == 0, result.stderr
    assert "[a]" in config.read_text()
    assert (around.ws / ".vscode").is_dir()
    never = frozenset({around.ws / ".codelaw", around.out, around.ws / ".git/hooks"})
    await run(f"echo x > .codelaw/config.toml; echo x > {around.out}/victim; echo x > .git/config", opened=never)
    assert "[a]" in config.read_text()
    assert "deny" in (around.ws / ".codelaw/config.toml").read_text()


# ------------------------------------------------------------------------------------------------- what rules keep back


async def test_what_is_denied_is_denied_to_commands(around: World, run: Run):
    for name in (".env", "sub/.env", "secrets/deep/key", "conf/prod/pw", "lock.file", "Sub2/.ENV"):
        (around.ws / name).parent.mkdir(parents=True, exist_ok=True)
        (around.ws / name).write_text(f"content of {name}\n")
    withheld = denying(around, "Read(.env)", "Read(secrets/**)", "Read(conf/prod/**)", "Edit(*.file)")
    command = (
        "cat .env sub/.env Sub2/.ENV secrets/deep/key conf/prod/pw; mv .env e; mv sub s; cat e s/.env; mv conf c;"
        " cat c/prod/pw; ln .env h; cat h; echo x > lock.file; rm lock.file; cat lock.file; ls secrets"
    )
    result = await run(command, withheld=withheld)
    command = "cat s/.env sub/.env conf/prod/pw c/prod/pw; echo new > .env.local; echo x > t; cat t"
    again = await run(command, withheld=withheld)
    assert result.stdout == "content of lock.file\n"
    assert again.stdout == "x\n"
    assert (around.ws / "lock.file").read_text() == "content of lock.file\n"


def test_a_rule_that_cannot_be_followed_lets_nothing_run(around: World, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(UndrawableError, match="denies reading every file"):
        drawn(around, withheld=denying(around, "Read"))
    for number in range(4):
        (around.ws / f"d{number}").mkdir()
    monkeypatch.setattr("codelaw.adapters.processes.rules.withheld.MOST_FOLDERS", 2)
    with pytest.raises(UndrawableError, match="too many folders"):
        drawn(around, withheld=denying(around, "Read(.env)"))


# ------------------------------------------------------------------------------------------------------- an ordinary user


def test_what_cannot_be_looked_at_is_no_obstacle(around: World):
    """Sockets in folders that we may not enter, and folders without any permission."""
    shut = around.base / "shut"
    shut.mkdir()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(shut / "s"))
    module = around.ws / ".git/modules/x"
    (module / "deep").mkdir(parents=True)
    (around.ws / "mine").mkdir()
    (around.ws / "mine/.env").touch()
    shut.chmod(0)
    module.chmod(0)
    (around.ws / "mine").chmod(0)

    def look() -> list[tuple[str, str]]:
        profile = drawn(around, withheld=denying(around, "Read(.env)"))
        return [(str(place.path), place.access) for place in profile.places]

    try:
        places = ordinary(look, around.ws, around.home)
    finally:
        for folder in (shut, module, around.ws / "mine"):
            folder.chmod(0o755)
        listening.close()
    assert (str(module), "read") in places
    assert (str(around.ws / "mine"), "hidden") in places


def test_a_repository_around_the_workspace_that_is_another_users_is_none(around: World):
    inner = around.ws / "a/b"
    inner.mkdir(parents=True)

    def look() -> list[str]:
        profile = build_profile([inner], [], around.environment, cwd=inner, network=False)
        return [str(place.path) for place in profile.places if place.access == "write"]

    if os.geteuid() == 0:
        assert ordinary(look, inner) == [str(inner)]
    assert str(around.ws / ".git") in look()


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_the_sandbox_says_why_it_does_not_run_a_command(around: World, kind: Kind):
    sandbox = Sandbox(lambda: [around.own], [around.own], around.environment, kinds=(kind,))
    means = await sandbox.means()
    if means.kind is None:
        pytest.skip(means.detail)
    with pytest.raises(ToolFailure, match="commands may not see"):
        await around.processes(sandbox, means).run("true", cwd=around.own, timeout=150)
    await sandbox.close()


def test_commands_that_begin_at_once_find_the_same_home(tmp_path: Path) -> None:
    home, scratch = tmp_path / "home", Scratch()
    (home / ".cargo" / "bin").mkdir(parents=True)
    profile = Profile((ProfilePlace(home, "private"),), tmp_path, network=False)
    inside = Path(landlock.private_environment({"HOME": str(home)}, profile, scratch)["HOME"])
    with ThreadPoolExecutor(6) as threads:
        for _ in range(300):
            (inside / ".cargo" / "bin").unlink()
            barrier = threading.Barrier(6)

            def begin(barrier: threading.Barrier = barrier) -> str:
                barrier.wait()
                return landlock.private_environment({"HOME": str(home)}, profile, scratch)["HOME"]

            assert {one.result() for one in [threads.submit(begin) for _ in range(6)]} == {str(inside)}
            assert (inside / ".cargo" / "bin").samefile(home / ".cargo" / "bin")
    scratch.close()
