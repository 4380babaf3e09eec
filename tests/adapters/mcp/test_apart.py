"""What the room costs who does not use it, and what is left of it when its process is killed (V-3)."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from codelaw.adapters.mcp.servers import McpServers
from tests.adapters.mcp.conftest import HERE, Told, processes, program

KILLED = """
import asyncio, os, sys
from dataclasses import replace
from pathlib import Path
from codelaw.adapters.crash_journal.crash_journal import CrashJournal
from codelaw.adapters.mcp.means import Fence, ServerMeans
from codelaw.adapters.mcp.servers import McpServers
from codelaw.domain.served import Program, ServerSpec

async def main(script, folder):
    means = ServerMeans(cwd=folder, fence=Fence(environment=dict(os.environ)), leftovers=CrashJournal(folder))
    servers = McpServers(means, lambda state: print(state.state, flush=True))
    way = Program(sys.executable, (script, "does not end"), {"TEST_MARK": str(folder)})
    servers.begin([ServerSpec("stubborn", way, "test")])
    await asyncio.Event().wait()

asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
"""


def test_the_package_is_not_loaded_with_the_room() -> None:
    names = "{'mcp', 'mcp_types', 'codelaw.adapters.mcp.connection'}"
    code = f"import sys, codelaw.adapters.mcp.servers; sys.exit(bool({names} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_without_the_package_it_is_said_how_to_get_it(
    servers: McpServers, reported: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "codelaw.adapters.mcp.connection", raising=False)
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    servers.begin([program("good", "well_behaved.py", "stdio", "new")])
    assert "-m pip install 'mcp<3,>=2.3'" in (await reported.until("good", "failed")).message


async def test_no_server_outlives_a_process_that_is_killed(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, str(HERE / "hostile.py"), str(tmp_path), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    while await process.stdout.readline() != b"ready\n":
        assert process.returncode is None
    assert len(processes(tmp_path)) >= 1
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    async with asyncio.timeout(150):
        while processes(tmp_path):
            await asyncio.sleep(0.05)
