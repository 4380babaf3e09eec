"""`codelaw` for tests, in a process that is forked (see `tests.fakes.warm`); so is the server that a command starts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from codelaw.cli import main, spawn

KEEPER = sys.argv[2] if sys.argv[1:2] == ["keep"] else ""
"""The address of the process that forks."""
SCENE = "--scene"
"""Before a scene and a log, which `launch.py` takes too: the server is the stand-in."""


def entry() -> None:
    """As the installed command begins."""
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - they last as long as the process
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    if sys.argv[1:2] == [SCENE]:
        scene, log = sys.argv[2:4]
        del sys.argv[1:4]
        stub = str(Path(__file__).with_name("stub_server.py"))
        spawn.server_command = lambda: [sys.executable, stub, scene, log]
        main.entry()
    forked = [sys.executable, "-I", "-S", os.path.abspath(sys.argv[0]), "start", KEEPER]  # noqa: PTH100 - no link is followed
    spawn.server_command = lambda: [*forked, "serve", "--stdio", f"--clientProcessId={os.getpid()}"]
    main.entry()
