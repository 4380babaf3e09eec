"""Servers that start at once: a process that has everything imported and rehearsed forks for each one.

    python warm.py keep SOCKET MODULE:FUNCTION [MODULE...] [MODULE:FUNCTION...]    forks; ends with its standard input
    python warm.py start SOCKET [ARGUMENT...]                 is a server, to whoever starts, signals or kills it

Importing costs a server most of its start, and hundreds of tests start one. What they test begins after that; that a
server starts as it is installed is tested where one is started by `codelaw serve`.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
LENGTH = struct.Struct("!I")
STATUS = struct.Struct("!i")


@contextmanager
def warm(command: list[str], entry: str, *first: str) -> Iterator[list[str]]:
    """What to start instead of `command`, which calls the function `entry`; `command` itself where that cannot be.

    `first`: modules that are imported, and functions that are called, before anything is forked.
    """
    if sys.platform != "linux":
        yield command
        return
    with tempfile.TemporaryDirectory(prefix="codelaw-warm-") as folder:
        address = f"{folder}/socket"
        keeper = subprocess.Popen(
            [sys.executable, __file__, "keep", address, entry, *first],
            env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'server'}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert keeper.stdin is not None
        assert keeper.stdout is not None
        try:
            assert keeper.stdout.readline() == b"ready\n"
            yield [sys.executable, "-I", "-S", __file__, "start", address]
        finally:
            keeper.stdin.close()
            keeper.stdout.close()
            keeper.wait(150)


def keep(address: str, entry: str, first: list[str]) -> int:
    """Fork for everyone who asks."""
    main = _named(entry)
    for name in first:
        if ":" in name:
            _named(name)()
        else:
            importlib.import_module(name)
    os.fsync = lambda _: None  # as in `tests/conftest.py`
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection = listening.accept()[0]
            if os.fork() == 0:
                listening.close()
                return _guard(connection, main)
            connection.close()
    return 0


def _named(place: str) -> Callable[[], int]:
    module, function = place.split(":")
    return getattr(importlib.import_module(module), function)


def _guard(connection: socket.socket, main: Callable[[], int]) -> int:
    """Fork the server, and stand between it and the one who started it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, streams, _, _ = socket.recv_fds(connection, LENGTH.size, 3)
    reported = json.loads(_exactly(connection, LENGTH.unpack(head)[0]))
    server = os.fork()
    if server == 0:
        connection.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.environ.clear()
        os.environ.update(reported["environment"])
        os.chdir(reported["folder"])
        sys.argv[1:] = reported["arguments"]
        return main()
    for stream in streams:
        os.close(stream)
    ended = os.pidfd_open(server)
    while ended not in select.select([connection, ended], [], [])[0]:
        number = connection.recv(1)
        os.kill(server, number[0] if number else signal.SIGKILL)
        if not number:
            break
    status = os.waitstatus_to_exitcode(os.waitpid(server, 0)[1])
    with contextlib.suppress(OSError):  # it was killed, and with it the server
        connection.sendall(STATUS.pack(status))
    os._exit(0)


def start(address: str, arguments: list[str]) -> int:
    """Have a server forked on this process's streams, and end as it ends."""
    reported = {"arguments": arguments, "environment": dict(os.environ), "folder": str(Path.cwd())}
    message = json.dumps(reported).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [LENGTH.pack(len(message))], [0, 1, 2])
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda number, _: connection.sendall(bytes([number])))
        connection.sendall(message)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nothing, number)
        status: int = STATUS.unpack(_exactly(connection, STATUS.size))[0]
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


def _exactly(connection: socket.socket, size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        part = connection.recv(size - len(found))
        if not part:
            raise EOFError("the other side is gone")
        found += part
    return bytes(found)


if __name__ == "__main__":
    if sys.argv[1] == "keep":
        sys.path.remove(str(Path(__file__).parent))
        sys.exit(keep(sys.argv[2], sys.argv[3], sys.argv[4:]))
    sys.exit(start(sys.argv[2], sys.argv[3:]))
