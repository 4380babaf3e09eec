"""What looking for memories needs is loaded before the first turn, and only where something is remembered (B-6)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import asyncio, sys
from pathlib import Path
from tests.fakes.flat_session import Session
from codelaw.settings.effective import load_settings
from tests.fakes.editor import Buffers, User

async def main():
    session = await Session.open(
        settings=load_settings(environ={}, client={"memory": {"enabled": True}, "model": {"provider": "offline"}}),
        folders=[], documents=Buffers(), approver=User(), emit=lambda _: None, home=Path(sys.argv[1]),
    )
    if sys.argv[2] == "save":
        await session.memories.save("The user likes tea", scope="user")
    else:
        await session.warm()
        print("codelaw.memory.background" in sys.modules)
    await session.close()

asyncio.run(main())
"""


def test_it_is_loaded_where_there_are_memories(tmp_path: Path):
    def run(what: str) -> str:
        command = [sys.executable, "-c", PROGRAM, str(tmp_path), what]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert run("warm") == "False"
    run("save")
    assert run("warm") == "True"
