"""What a command may take of the machine, and what it is told when it takes more (S-4)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from codelaw.adapters.processes import limits
from codelaw.adapters.processes.limits import CommandLimits
from codelaw.adapters.processes.local import LocalProcesses
from codelaw.adapters.processes.sandbox import Kind
from codelaw.tools.commands.bash import hint
from tests.adapters.processes.conftest import Fenced
from tests.adapters.processes.inside import as_ordinary_user
from tests.adapters.processes.ordinary import started
from tests.attacks.world import USUAL, World

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the numbers come from Linux")
GREEDY = "exec perl -e '$x = \"a\" x (300 << 20); sleep 60'"
MANY = "for i in $(seq 40); do sleep 60 & done; sleep 60"


@pytest.mark.parametrize("kind", [pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap")), "landlock", None])
@pytest.mark.parametrize(
    ("limit", "command", "names"),
    [
        (CommandLimits(memory=200), GREEDY, "tools.bash.memoryMb"),
        (CommandLimits(memory=200), "perl -e 'fork; $x = \"a\" x (150 << 20); sleep 60'", "tools.bash.memoryMb"),
        (CommandLimits(processes=20), MANY, "tools.bash.processes"),
    ],
)
async def test_a_command_that_takes_too_much_is_stopped(
    around: World, kind: Kind | None, limit: CommandLimits, command: str, names: str
):
    sandbox = None if kind is None else around.sandbox(kind)
    means = None if sandbox is None else await sandbox.means()
    processes = LocalProcesses(around.environment, sandbox=sandbox, means=means, limits=limit)
    result = await processes.run(f"echo begun; {command}", cwd=around.ws, timeout=150)
    if sandbox is not None:
        await sandbox.close()
    assert names in result.limit, result
    assert (result.stdout.strip(), result.timed_out) == ("begun", False)
    assert result.seconds < 120
    assert names in (hint(result, sandboxed=True) or "")


async def test_a_file_has_a_largest_size(around: World):
    processes = LocalProcesses(USUAL, limits=CommandLimits(file_size=1))
    result = await processes.run("head -c 1048577 /dev/zero > large", cwd=around.ws, timeout=150)
    assert "tools.bash.fileSizeMb" in result.limit
    assert (around.ws / "large").stat().st_size == 1 << 20
    result = await processes.run("head -c 1048576 /dev/zero > small", cwd=around.ws, timeout=150)
    assert (result.exit_code, result.limit) == (0, "")


@pytest.mark.needs("bwrap")
async def test_what_commands_leave_in_their_temporary_folder_is_bounded(
    around: World, fenced: Fenced, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "WATCH_SECONDS", 0.05)
    around.settings = {"limits": {"temporary": 3}}
    processes = around.processes(*await fenced())
    fill = (
        "n=0; while [ $n -lt 60 ]; do head -c 400000 /dev/urandom > $TMPDIR/f$n; n=$((n+1)); sleep 0.1; done; sleep 60"
    )
    result = await processes.run(fill, cwd=around.ws, timeout=150)
    assert "tools.bash.tmpMb" in result.limit
    # The next command may clear up.
    result = await processes.run("sleep 1; rm $TMPDIR/f*; echo done", cwd=around.ws, timeout=150)
    assert (result.stdout, result.limit) == ("done\n", "")


async def test_the_command_goes_first_when_memory_runs_out(around: World):
    result = await LocalProcesses(USUAL).run("cat /proc/self/oom_score_adj; echo $0 $#", cwd=around.ws, timeout=150)
    assert result.stdout == "500\n/bin/bash 0\n"


@pytest.mark.needs("bwrap")
def test_an_ordinary_users_processes_are_counted_by_the_kernel_and_only_those_of_the_command():
    with tempfile.TemporaryDirectory(prefix="codelaw-ordinary-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        home.chmod(0o755)
        others = [subprocess.Popen(["sleep", "60"], **started(home)) for _ in range(40)]
        many, few = (
            f"for i in $(seq {count}); do sleep {seconds} & done; wait; echo fine"
            for count, seconds in ((40, 3), (10, 0.01))
        )
        try:
            means, *ended = as_ordinary_user(home, "bubblewrap", many, few, LIMITS='{"processes": 30}')
        finally:
            for one in others:
                one.kill()
                one.wait()
    if not means["users"]:
        pytest.skip(means["detail"])
    assert "Resource temporarily unavailable" in ended[0]["err"]
    assert "tools.bash.processes" in ended[0]["limit"]
    assert ended[1]["out"] == "fine\n"
