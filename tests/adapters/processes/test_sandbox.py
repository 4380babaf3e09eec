"""What works in the sandbox, and how it begins and ends (S-4, R-8)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from codelaw.adapters.processes.local import LocalProcesses
from codelaw.adapters.processes.rules.git_settings import kept_settings
from codelaw.adapters.processes.rules.homes import kept_places
from codelaw.adapters.processes.rules.listings import Listings
from codelaw.adapters.processes.sandbox import Kind, Sandbox, SandboxMeans
from codelaw.adapters.processes.sandboxes.scratch import Scratch
from codelaw.domain.files import ProcessResult
from tests.adapters.processes.conftest import Fenced
from tests.attacks.world import USUAL, World
from tests.fakes.living import dies, once_begun

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is a sandbox on Linux only")
KINDS = (pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap")), "landlock")


class Locked:
    """Runs commands in the sandbox of one kind."""

    def __init__(self, around: World, kind: Kind, means: SandboxMeans, folder: Path | None = None) -> None:
        self.folder = folder or around.ws
        self.sandbox = Sandbox(lambda: [self.folder], [around.own], around.environment, kinds=(kind,))
        self.means = means
        self.environment = around.environment

    def processes(self, *, network: bool = False) -> LocalProcesses:
        return LocalProcesses(self.environment, sandbox=self.sandbox, means=self.means, network=network)

    async def __call__(self, command: str, *, timeout: float = 30, network: bool = False) -> ProcessResult:
        return await self.processes(network=network).run(command, cwd=self.folder, timeout=timeout)


@pytest.fixture(params=KINDS)
async def locked(request: pytest.FixtureRequest, around: World, fenced: Fenced):
    made = Locked(around, request.param, (await fenced(request.param))[1])
    yield made
    await made.sandbox.close()


def git(around: World, *arguments: str) -> str:
    """What git says outside."""
    env = {**os.environ, "HOME": str(around.home)}
    done = subprocess.run(["git", *arguments], cwd=around.ws, env=env, capture_output=True, text=True, check=True)
    return done.stdout


async def test_a_commit_works_in_a_worktree_and_in_a_folder_below(locked: Locked, around: World):
    tree = around.base / "tree"
    git(around, "worktree", "add", "-q", str(tree))
    (around.ws / "sub").mkdir()
    commit = "echo b > b.txt && git add b.txt && git commit -qm second && git log --format=%s -1"
    for folder in (tree, around.ws / "sub"):
        inside = Locked(around, "bubblewrap", locked.means, folder)
        try:
            result = await inside(commit)
        finally:
            await inside.sandbox.close()
        assert (result.exit_code, result.stdout) == (0, "second\n"), result.stderr
    assert sorted(path.name for path in (around.ws / "sub").iterdir()) == ["b.txt"]


async def test_the_users_tools_run_and_their_secrets_are_hidden(locked: Locked, around: World):
    locked.environment = {**around.environment, "PATH": f"{around.home}/.cargo/bin:{USUAL['PATH']}"}
    result = await locked("tool; git config user.email; cat ~/.cargo/credentials.toml; echo $?")
    assert result.stdout.splitlines()[:2] == ["the tool runs", "a@user.example"]
    assert "MARK" not in result.stdout


async def test_temporary_files_and_the_home_stay_for_the_next_command_and_go_with_the_session(
    locked: Locked, around: World
):
    await locked("echo one > $TMPDIR/f; echo two > ~/g; mktemp >/dev/null")
    result = await locked("cat $TMPDIR/f ~/g")
    assert result.stdout == "one\ntwo\n"
    root = await asyncio.to_thread(locked.sandbox._scratch.root)
    assert root.exists()
    await locked.sandbox.close()
    assert not root.exists()
    assert not (around.home / "g").exists()


async def test_exit_codes(locked: Locked):
    for command, code in (("exit 7", 7), ("kill -9 $$", 137), ("kill -TERM $$", 143), ("true", 0), ("none-such", 127)):
        assert (await locked(command)).exit_code == code, command


async def test_the_network_can_be_allowed(locked: Locked, around: World):
    command = f"echo x > /dev/tcp/127.0.0.1/{around.tcp.getsockname()[1]}"
    assert (await locked(command)).exit_code != 0
    assert (await locked(command, network=True)).exit_code == 0
    around.tcp.accept()[0].close()


async def test_long_output_and_timeouts_are_as_ever(locked: Locked, around: World):
    result = await locked("echo head; yes | head -c 3000000; echo tail")
    assert result.stdout.startswith("head\n")
    assert result.stdout.endswith("tail\n")
    assert result.stdout_omitted > 2_000_000
    token = around.token
    command = f"echo begun; trap '' TERM; (trap '' TERM; sleep {token}) & sleep {token}"
    result = await once_begun(lambda seconds: locked(command, timeout=seconds), lambda result: bool(result.stdout))
    assert (result.timed_out, result.exit_code, result.stdout) == (True, None, "begun\n")
    assert await dies(around.left_behind)


@pytest.mark.parametrize("ticks", [0, 1, 3, 8, 20, 60])
async def test_a_cancel_at_any_moment_leaves_nothing_behind(locked: Locked, around: World, ticks: int):
    running = asyncio.ensure_future(locked(f"(setsid sleep {around.token} &); sleep {around.token}"))
    for _ in range(ticks):
        await asyncio.sleep(0.002)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await dies(around.left_behind)
    assert not (around.ws / ".git/commondir").exists()


async def test_without_any_the_reason_is_told(tmp_path: Path):
    sandbox = Sandbox(list, [], {"PATH": str(tmp_path)}, kinds=("bubblewrap",))
    means = await sandbox.means()
    assert means.kind is None
    assert means.describe(network=False) == "Commands run without a sandbox: bubblewrap (bwrap) is not installed."
    processes = LocalProcesses(USUAL, sandbox=sandbox, means=means)
    assert not processes.sandboxed
    assert (await processes.run("echo runs", cwd=tmp_path, timeout=150)).stdout == "runs\n"
    await sandbox.close()


async def test_a_program_that_only_claims_to_lock_in_is_found_out(tmp_path: Path):
    (tmp_path / "bwrap").write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    (tmp_path / "bwrap").chmod(0o755)
    sandbox = Sandbox(list, [], {"PATH": f"{tmp_path}:{USUAL['PATH']}"}, kinds=("bubblewrap",))
    means = await sandbox.means()
    await sandbox.close()
    assert means.kind is None
    assert "does not work here" in means.detail


def test_git_settings_lose_what_tells_secrets():
    text = (
        '[user]\n\tname = A\n[url "https://me:pw@host/"]\n\tinsteadOf = x\n[credential]\n\thelper = store\n'
        "[core]\n\teditor = vi\n[http]\n\textraHeader = Authorization: x\n\tproxy = http://u:p@host\n"
    )
    assert kept_settings(text) == "[user]\n\tname = A\n"
    text = (
        "[core] autocrlf = input\n[pull]\n\trebase = true\n[alias]\n\tst = !sh\n[diff]\n\texternal = x\n\tcolorMoved = zebra\n"
        '[diff "x"]\n\talgorithm = sh\n[user]\n\temail = a@b.example ; \\\n\ttoken = t\n\tsigningKey = k\n\tuseConfigOnly\n[github]\n\tuser = u\n'
    )
    assert kept_settings(text) == (
        "[core]\n\tautocrlf = input\n[pull]\n\trebase = true\n[diff]\n\tcolorMoved = zebra\n[user]\n\tuseConfigOnly\n"
    )


def test_what_path_names_in_the_home_folder_is_kept_but_nothing_beside_it(tmp_path: Path):
    path = ":".join(
        f"{tmp_path}/{name}"
        for name in ("tools/x/bin", "scripts", "mixed", ".aws/bin", ".config/bin", "bin", "app/bin")
    )
    files = ("tools/x/bin/t", "tools/x/lib/l", "tools/x/token", "scripts/s", "mixed/run", "mixed/.env", "mixed/p/f")
    files += ("jdk/lib/modules", "jdk/secret", ".aws/bin/a", ".aws/credentials", ".config/bin/c", "bin/b", "app/.env")
    files += ("app/bin/a", "mod/cache/x", "mod/github.com/x", "mod/other/x", "notes")
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch(mode=0o755)
    environment = {
        "PATH": path,
        "JAVA_HOME": f"{tmp_path}/jdk",
        "GOPATH": str(tmp_path),
        "GOMODCACHE": f"{tmp_path}/mod",
    }
    kept = {place.relative_to(tmp_path).as_posix() for place in kept_places(tmp_path, environment, Listings())}
    laid = {
        *("tools/x/bin", "tools/x/lib", "scripts", "mixed/run", "jdk/lib", ".aws/bin", ".config/bin", "bin", "app/bin"),
    }
    assert kept == laid | {"mod/cache", "mod/github.com"}


async def test_a_folder_that_cannot_be_written_is_no_obstacle(locked: Locked, around: World):
    folder = around.base / "readonly"
    folder.mkdir(mode=0o500)
    inside = Locked(around, "bubblewrap", locked.means, folder)
    assert (await inside("pwd")).stdout == f"{folder}\n"
    await inside.sandbox.close()


def test_servers_that_start_at_once_leave_each_other_their_private_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def begin(_: int) -> bool:
        scratch = Scratch()
        try:
            return scratch.empty_file().exists()
        finally:
            scratch.close()

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(begin, range(400)))
    assert list(tmp_path.iterdir()) == []
