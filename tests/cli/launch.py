"""The real command line, with a stand-in for its server: `launch.py SCENE LOG ARGUMENTS…`."""

from __future__ import annotations

import sys
from pathlib import Path

from codelaw.cli import approvals, spawn
from codelaw.cli.main import main

scene, log, *arguments = sys.argv[1:]
stub = str(Path(__file__).with_name("stub_server.py"))
if scene == "overtaken":
    approvals.ANNOUNCED_SECONDS = 150.0  # however long the stand-in takes between its messages
spawn.server_command = lambda: [sys.executable, stub, scene, log]
sys.exit(main(arguments))
