"""A server of its own process that runs commands in a sandbox: `inside KIND FOLDER OWN COMMAND…`, with limits as JSON.

Says a line of JSON for the sandbox, and one for each command. Memory is kept from others, as the server does.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from codelaw.adapters.processes.limits import CommandLimits
from codelaw.adapters.processes.local import LocalProcesses
from codelaw.adapters.processes.rules import build_profile
from codelaw.adapters.processes.sandbox import Sandbox
from codelaw.cli.privileges import keep_memory
from tests.adapters.processes.ordinary import python, started


async def main(kind: Any, folder: str, own: str, *commands: str) -> None:
    assert keep_memory()
    if os.environ.get("SEEN_TEMPORARY"):
        build_profile.TEMPORARY = ()  # the folder is seen where it lies
    sandbox = Sandbox(lambda: [Path(folder)], [Path(own)], dict(os.environ), kinds=(kind,))
    means = await sandbox.means()
    print(json.dumps({"kind": means.kind, "users": means.users, "detail": means.detail}), flush=True)
    limits = CommandLimits(**json.loads(os.environ.get("LIMITS", "{}")))
    processes = LocalProcesses(dict(os.environ), sandbox=sandbox, means=means, limits=limits)
    for command in commands if means.kind else ():
        ended = await processes.run(command, cwd=Path(folder), timeout=150)
        said = {"code": ended.exit_code, "out": ended.stdout, "err": ended.stderr, "limit": ended.limit}
        print(json.dumps(said), flush=True)
    await sandbox.close()


def line(kind: str, folder: Path, own: Path, *commands: str) -> list[str]:
    return [python(), "-m", "tests.adapters.processes.inside", kind, str(folder), str(own), *commands]


def as_ordinary_user(home: Path, kind: str, *commands: str, **environment: str) -> list[dict[str, Any]]:
    """What it says of the sandbox and of each command, run to its end at home in a folder."""
    command = line(kind, home, home / "own", *commands)
    ended = subprocess.run(command, capture_output=True, text=True, check=True, **started(home, **environment))
    return [json.loads(text) for text in ended.stdout.splitlines()]


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
