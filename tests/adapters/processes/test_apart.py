"""A program that may live long, as servers do, in the sandbox: it only reads the workspace (X-3, S-4)."""

from __future__ import annotations

import asyncio
import socket
import sys
from dataclasses import replace
from typing import Any

import pytest

from codelaw.adapters.mcp.means import Fence, ServerMeans
from codelaw.adapters.mcp.program import RunningProgram
from codelaw.adapters.processes.local import LocalProcesses
from codelaw.adapters.processes.rules.withheld import WithheldPaths
from codelaw.domain.served import Program
from codelaw.permissions.policy import denied_to
from codelaw.permissions.rules import parse
from tests.adapters.processes.conftest import Fenced
from tests.attacks.world import SECRET, World
from tests.fakes.living import dies

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is a sandbox on Linux only")
KINDS = (pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap")), "landlock")


@pytest.fixture(params=KINDS)
async def processes(request: pytest.FixtureRequest, around: World, fenced: Fenced) -> LocalProcesses:
    return around.processes(*await fenced(request.param))


async def running(around: World, processes: LocalProcesses, line: str, **more: Any) -> RunningProgram:
    made = RunningProgram("it", ServerMeans(around.ws, fence=Fence(processes, around.environment)))
    await made.start(Program("sh", ("-c", line), more.pop("env", {}), around.ws, **{"network": False, **more}))
    return made


async def said(around: World, processes: LocalProcesses, line: str, **more: Any) -> str:
    """What a program says until it ends."""
    made = await running(around, processes, line, **more)
    try:
        lines: list[bytes] = []
        async with asyncio.timeout(150):
            while (one := await made.line()) is not None:
                lines.append(one)
        return b"".join(lines).decode() + made.why()
    finally:
        await made.end()


async def test_it_reads_the_workspace_and_writes_nowhere_but_in_private_folders(
    around: World, processes: LocalProcesses
) -> None:
    line = (
        f"cat a.txt; echo x > a.txt; echo x > new; echo x >> .git/config; echo x > {around.out}/victim;"
        f" cat {around.home}/.netrc {around.own}/config.toml; echo x > ~/kept && cat ~/kept; echo y > $TMPDIR/t && echo t"
    )
    heard = await said(around, processes, f"{{ {line}; }} 2>&1")
    assert heard.startswith("a\n")
    assert heard.count("Read-only file system") + heard.count("Permission denied") >= 3
    assert "x\nt\n" in heard
    assert SECRET not in heard
    assert "`sandbox = false`" in heard, "how it would run outside is told"
    assert not (around.ws / "new").exists()
    assert around.breaches() == []


async def test_what_it_keeps_is_seen_by_no_command_and_goes_with_it(around: World, processes: LocalProcesses) -> None:
    told = await processes.run("echo planted > ~/.profile; echo planted > $TMPDIR/p", cwd=around.ws, timeout=150)
    assert told.exit_code == 0
    heard = await said(around, processes, "cat ~/.profile $TMPDIR/p; ls -A ~ $TMPDIR; echo mine > ~/mine; echo end")
    assert "planted" not in heard
    assert "end" in heard
    assert "mine" not in (await processes.run("ls -A ~", cwd=around.ws, timeout=150)).stdout
    assert "mine" not in await said(around, processes, "ls -A ~; echo end")


async def test_what_a_rule_denies_to_readers_is_hidden_from_it(around: World, processes: LocalProcesses) -> None:
    (around.ws / "secrets").mkdir()
    (around.ws / "secrets/a").write_text(SECRET + "\n")
    around.reported.add(around.ws / "secrets/a")
    assert SECRET in await said(around, processes, "cat secrets/a")
    rules = [parse("Read(secrets/**)")]
    processes.withheld = WithheldPaths(
        denied_to("Read", "reads", rules), names={around.ws: around.ws.name}, key=("Read(secrets/**)",)
    )
    assert SECRET not in await said(around, processes, "cat secrets/a; echo end")


async def test_it_reaches_the_network_as_it_was_agreed(around: World, processes: LocalProcesses) -> None:
    port = around.tcp.getsockname()[1]
    connect = (
        f"{sys.base_prefix}/bin/python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port})); print(1)'"
    )
    assert not (await said(around, processes, connect, network=False)).startswith("1")
    with pytest.raises(BlockingIOError):
        around.tcp.accept()
    assert (await said(around, processes, connect, network=True)).startswith("1")
    around.tcp.accept()[0].close()


@pytest.mark.needs("bwrap")
async def test_npm_may_download_what_it_is_to_run(around: World, fenced: Fenced) -> None:
    (around.home / ".npm/_cacache").mkdir(parents=True)
    processes = around.processes(*await fenced())
    line = "mkdir ~/.npm/_cacache/tmp || mkdir $npm_config_cache && echo a place of its own"
    assert "a place of its own\n" in await said(around, processes, line)


@pytest.mark.needs("bwrap")
async def test_it_reaches_listed_hosts_and_no_others(around: World, fenced: Fenced) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        processes = around.processes(*await fenced("bubblewrap"))
        line = "echo $HTTP_PROXY"
        heard = await said(around, processes, line, network=(f"127.0.0.1:{port}",))
    assert heard.startswith("http://127.0.0.1:")


async def test_its_variables_are_its_own(around: World, processes: LocalProcesses) -> None:
    heard = await said(around, processes, "echo $A-$PWD", env={"A": "ä 1", "LD_PRELOAD": "./none.so"})
    assert f"ä 1-{around.ws}" in heard


async def test_its_children_end_with_it(around: World, processes: LocalProcesses) -> None:
    line = f"setsid sh -c 'sleep {around.token}' & setsid sleep {around.token} & echo begun; cat"
    made = await running(around, processes, line)
    assert await made.line() == b"begun\n"
    await made.send(b"hello")
    assert await made.line() == b"hello\n"
    await made.end()
    assert await dies(around.left_behind)
    assert around.breaches() == []


async def test_without_a_sandbox_it_runs_all_the_same(around: World) -> None:
    heard = await said(around, around.processes(None, None), "cat a.txt")
    assert heard.startswith("a\n")
    assert "sandbox" not in heard, "nothing locked it in"


async def test_what_cannot_be_drawn_starts_nothing(around: World, fenced: Fenced) -> None:
    processes = around.processes(*await fenced("landlock"))
    rules = [parse("Read(**)")]
    processes.withheld = replace(processes.withheld, unreadable=denied_to("Read", "reads", rules), key=("all",))
    with pytest.raises(OSError, match="denies reading every file"):
        await running(around, processes, "cat a.txt")
