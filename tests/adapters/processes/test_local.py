"""Commands and what they leave behind (T-6, S-5, S-6, R-8)."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from codelaw.adapters.crash_journal.crash_journal import CrashJournal
from codelaw.adapters.processes.local import Ends, LocalProcesses, child_environment
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import ProcessResult
from tests.fakes.living import dies, once_begun


async def gone(pid: int) -> bool:
    """Whether a process ends; a zombie has ended."""

    def alive() -> bool:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return False
        return state != "Z"

    return await dies(alive)


def pids(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().split()] if path.exists() else []


async def test_it_runs_in_the_folder_without_a_terminal(tmp_path: Path):
    result = await LocalProcesses().run("pwd; cat; tty; echo $TERM", cwd=tmp_path, timeout=150)
    assert result.stdout.split("\n") == [str(tmp_path), "not a tty", "dumb", ""]
    assert (result.exit_code, result.timed_out) == (0, False)


STUBBORN = "trap '' TERM; (trap '' TERM; sleep 60 & echo $! >> pids; wait; sleep 60) & echo $! $$ >> pids; sleep 61"


async def test_the_whole_group_dies_on_timeout(tmp_path: Path):
    async def run(seconds: float) -> ProcessResult:
        command = f"rm -f pids; echo begun; {STUBBORN}"
        return await LocalProcesses().run(command, cwd=tmp_path, timeout=seconds)

    result = await once_begun(run, lambda _: len(pids(tmp_path / "pids")) == 3)
    assert (result.timed_out, result.exit_code, result.stdout) == (True, None, "begun\n")
    assert [await gone(pid) for pid in pids(tmp_path / "pids")] == [True] * 3


async def test_a_background_process_does_not_hold_us(tmp_path: Path):
    result = await LocalProcesses().run("sleep 600 & echo $! > pids; echo done", cwd=tmp_path, timeout=150)
    assert (result.stdout, result.exit_code, result.timed_out) == ("done\n", 0, False)
    assert await gone(pids(tmp_path / "pids")[0])


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="/proc tells which processes are of the call")
@pytest.mark.parametrize("rest", ["", "; sleep 60"])
async def test_a_process_that_left_the_group_dies_with_the_call(tmp_path: Path, rest: str):
    daemon = "(setsid sh -c 'echo $$ >> pids; sleep 61 & echo $! >> pids; wait' >/dev/null 2>&1 &)"
    command = f"rm -f pids; {daemon}; until [ $(cat pids | wc -l) = 2 ]; do sleep 0.02; done{rest}"

    async def run(seconds: float) -> ProcessResult:
        return await LocalProcesses().run(command, cwd=tmp_path, timeout=seconds)

    await once_begun(run, lambda _: len(pids(tmp_path / "pids")) == 2)
    assert [await gone(pid) for pid in pids(tmp_path / "pids")] == [True] * 2


async def test_memory_is_bounded(tmp_path: Path):
    result = await LocalProcesses().run("echo head; yes | head -c 30000000; echo tail", cwd=tmp_path, timeout=150)
    assert len(result.stdout) < 30_000
    assert result.stdout_omitted > 29_000_000
    assert result.stdout.startswith("head\n")
    assert result.stdout.endswith("tail\n")


@pytest.mark.parametrize("sizes", [[3], [1] * 20, [20], [5, 5, 5], [6, 6, 100]])
def test_head_and_tail_whatever_the_pieces(sizes: list[int]):
    ends, given = Ends(6, 4), bytearray()
    for size in sizes:
        piece = bytes(97 + (len(given) + at) % 26 for at in range(size))
        given += piece
        ends.feed(piece)
    if len(given) <= 10:
        assert (ends.text(), ends.omitted) == (given.decode(), 0)
    else:
        assert ends.text() == f"{given[:6].decode()}\n… {len(given) - 10} bytes left out …\n{given[-4:].decode()}"


async def test_secrets_do_not_reach_the_command(tmp_path: Path):
    secret = dict.fromkeys(("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "CODELAW_MODEL__API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "MY_PASSWORD", "DB_SECRET", "NPM_CONFIG__AUTH", "NODE_AUTH_TOKEN", "UV_PUBLISH_TOKEN", "CARGO_REGISTRY_TOKEN", "UNHEARD_OF", "SSH_AUTH_SOCK", "DATABASE_URL"), "s3cret")  # fmt: skip
    proxy = {
        "HTTPS_PROXY": "http://me:s3cret@proxy:1",
        "UV_INDEX_URL": "https://s3cret@host/x",
        "HTTP_PROXY": "http://proxy:1",
    }
    environment = {"PATH": os.environ["PATH"], "HOME": "/home/x", "LC_ALL": "C", **secret, **proxy}
    result = await LocalProcesses(environment).run("env", cwd=tmp_path, timeout=150)
    assert "s3cret" not in result.stdout
    for kept in ("HOME=/home/x", "LC_ALL=C", "TERM=dumb", "PATH=", "HTTP_PROXY=http://proxy:1"):
        assert kept in result.stdout
    assert child_environment({}).get("TERM") == "dumb"


async def test_a_folder_that_is_gone(tmp_path: Path):
    with pytest.raises(ToolFailure, match="cannot be started"):
        await LocalProcesses().run("true", cwd=tmp_path / "none", timeout=150)


@pytest.mark.parametrize("ticks", [0, 1, 2, 3, 4, 6, 8, 12])
async def test_a_cancel_while_the_command_is_being_started_ends_the_whole_group(tmp_path: Path, ticks: int):
    mark = tmp_path / "pid"
    running = asyncio.ensure_future(
        LocalProcesses().run(f"sleep 30 & echo $! > {mark}; sleep 31", cwd=tmp_path, timeout=150)
    )
    for _ in range(ticks):
        await asyncio.sleep(0.001)
    running.cancel()
    async with asyncio.timeout(150):
        with pytest.raises(asyncio.CancelledError):
            await running
    if mark.exists() and mark.read_text().strip():
        assert await gone(int(mark.read_text()))


async def test_a_command_whose_end_cannot_be_told_holds_nobody(tmp_path: Path, monkeypatch, caplog):
    wait = subprocess.Popen[bytes].wait

    def unknown(process: subprocess.Popen[bytes]) -> int:
        wait(process)
        raise OSError(f"no end of {process.pid}")

    monkeypatch.setattr(subprocess.Popen, "wait", unknown)
    async with asyncio.timeout(150):
        result = await LocalProcesses().run("echo $$", cwd=tmp_path, timeout=600)
    assert (result.exit_code, result.timed_out) == (None, False)
    pid = int(result.stdout)
    assert f"how process {pid} ended is not known" in caplog.text
    assert f"no end of {pid}" in caplog.text


async def test_a_second_cancel_leaves_nothing_behind_either(tmp_path: Path):
    leftovers = CrashJournal(tmp_path / "running")
    ended: list[int] = []
    unguard = leftovers.unguard
    leftovers.unguard = lambda group: [ended.append(group), unguard(group)][-1]
    stray = "setsid sh -c 'echo $$ > stray; exec sleep 60' &"
    command = f"trap '' TERM; {stray} while [ ! -s stray ]; do sleep 0.01; done; echo $$ > pid; sleep 60"
    running = asyncio.create_task(LocalProcesses(leftovers=leftovers).run(command, cwd=tmp_path, timeout=150))
    async with asyncio.timeout(150):
        while not pids(tmp_path / "pid"):
            await asyncio.sleep(0.01)
        for _ in range(2):
            running.cancel()
            await asyncio.sleep(0.02)
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await gone(pids(tmp_path / "pid")[0])
        assert await gone(pids(tmp_path / "stray")[0])
        while not ended:
            await asyncio.sleep(0.01)
    assert ended == pids(tmp_path / "pid")
    await leftovers.close()
