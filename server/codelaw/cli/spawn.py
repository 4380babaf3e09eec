"""Starting the server that a terminal command is a client of."""

from __future__ import annotations

import argparse
import os
import select
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from codelaw.app.starting import server_environment

END_SECONDS = 3.0
"""How long a server may take to end after its input did."""

Server = subprocess.Popen[bytes]


def server_command() -> list[str]:
    """The server of this very installation; `-P` keeps a workspace's own modules out of it."""
    return [sys.executable, "-P", "-m", "codelaw", "serve", "--stdio", f"--clientProcessId={os.getpid()}"]


@contextmanager
def spawned(arguments: argparse.Namespace) -> Generator[Server]:
    """A running server, ended on leaving. A workspace that is not a folder is a usage error."""
    if not Path(arguments.workspace).is_dir():
        arguments.usage_error(f"--workspace: {arguments.workspace!r} is not a folder")
    with subprocess.Popen(  # noqa: S603 - our own interpreter and module
        server_command(),
        env=server_environment(os.environ, [Path(arguments.workspace), Path.cwd()]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None if arguments.verbose else subprocess.PIPE,
        bufsize=0,
        # In a group of its own: Ctrl-C is for this process, which cancels the turn.
        process_group=0,
    ) as server:
        try:
            yield server
        finally:
            _end(server)


def _end(server: Server) -> None:
    for pipe in (server.stdin, server.stdout, server.stderr):
        if pipe is not None and not pipe.closed:
            pipe.close()
    try:
        _await_end(server)
    except subprocess.TimeoutExpired:
        server.kill()


def _await_end(server: Server) -> None:
    """Return as soon as the server has ended: `Popen.wait` with a limit looks only every 50 ms.

    Raises:
        subprocess.TimeoutExpired: it has not.
    """
    try:
        descriptor = os.pidfd_open(server.pid)
    except (AttributeError, OSError):  # there is no such thing here
        server.wait(END_SECONDS)
        return
    try:
        select.select([descriptor], [], [], END_SECONDS)
    finally:
        os.close(descriptor)
    server.wait(0)
