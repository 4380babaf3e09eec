"""Commands that reach sockets (S-4)."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.attacks.deeds import row
from tests.attacks.row import Action, Attack, NotRun, commands
from tests.attacks.running_in import locked_in
from tests.attacks.world import World

APPEARED = (
    "A socket that another program opens in the workspace while a command runs can be reached by that command; one that"
    " was there before cannot."
)
LISTENS = """
import os, socket, sys
kind, name, reached, moves, given = sys.argv[1:]
one = socket.socket(socket.AF_UNIX, getattr(socket, kind))
one.bind(name)
if given:
    os.link(name, given)
    os.unlink(name)
if kind != "SOCK_DGRAM":
    one.listen()
if moves:
    os.chdir("/")
print("ready", flush=True)
one.recv(1) if kind == "SOCK_DGRAM" else one.accept()
open(reached, "w").close()
print("reached", flush=True)
"""
CONNECTS = (
    "{python} -c 'import socket, sys; s = socket.socket(socket.AF_UNIX, getattr(socket, sys.argv[1]));"
    ' s.connect(sys.argv[2]); s.send(b"x"); print("sent")\' {kind} {path}'
)

SOCKETS = commands(
    "out",
    {
        "tcp by the shell": "echo x > /dev/tcp/127.0.0.1/{tcp}",
        "tcp by a program": "{python} -c 'import socket; socket.create_connection((\"127.0.0.1\", {tcp}))'",
        "tcp by the wildcard address": "{python} -c 'import socket; socket.create_connection((\"0.0.0.0\", {tcp}))'",
        "tcp that is told by six": "{python} -c 'import socket; s = socket.socket(socket.AF_INET6); s.connect((\"::ffff:127.0.0.1\", {tcp}))'",
        "udp": "echo x > /dev/udp/127.0.0.1/{udp}",
        "udp by a program": "{python} -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b\"x\", (\"127.0.0.1\", {udp}))'",
        "a socket in the file system": "{python} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{unix}\")'",
        "a socket by another process": "{python} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"/proc/{pid}/cwd/s\")'",
        "a socket without a file": "{python} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"\\0{abstract}\")'",
        "docker": "{python} -c 'import socket; [socket.socket(socket.AF_UNIX).connect(p) for p in (\"/var/run/docker.sock\", \"/run/podman/podman.sock\", \"/run/containerd/containerd.sock\")]' && echo x > {out}/victim",
        "a socket that is handed on by a link": "ln -s {unix} s; {python} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"s\")'",
    },
    fails=("docker",),
)  # fmt: skip


@contextmanager
def listening(
    world: World, kind: str, folder: Path, name: str, *, apart: bool, moves: bool, given: str
) -> Iterator[None]:
    """Somebody else's program, at a socket that it bound by `name` in `folder`; in a network of its own or not.

    With `given` that is the name of the socket by now.     Where it is reached it says so by a file in `out`. Raises `NotRun` where it cannot be.
    """
    line = [sys.executable, "-c", LISTENS, kind, name, str(world.out / "reached"), "moves" if moves else "", given]
    before = ["unshare", "--user", "--map-current-user", "--net"] if apart else []
    if apart and not shutil.which("unshare"):
        raise NotRun("bubblewrap has no unshare beside it")
    with subprocess.Popen([*before, *line], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            assert server.stderr is not None
            if server.stdout.readline() != b"ready\n":
                raise NotRun(f"the kernel has no such server: {server.stderr.read().decode()[-300:]}")
            yield
        finally:
            server.kill()


def reaching(
    kind: str, at: str, name: str, *, apart: bool = False, moves: bool = False, late: bool = False, given: str = ""
) -> Action:
    """Connects to a socket that lies `at` a folder, bound by `name`; `late`: while the command runs."""

    async def act(world: World) -> list[str]:
        folder = Path(at.format(**world.words()))
        folder.mkdir(parents=True, exist_ok=True)
        words = {**world.words(), "kind": kind, "path": folder / (given or Path(name.format(**world.words())).name)}
        waiting = "touch ready; while [ ! -e go ]; do sleep 0.02; done; " if late else ""
        opened = listening(world, kind, folder, name.format(**world.words()), apart=apart, moves=moves, given=given)
        async with locked_in(world) as processes:
            if not late:
                opened.__enter__()
            try:
                world.before = world.seen()
                running = asyncio.ensure_future(
                    processes.run(waiting + CONNECTS.format(**words), cwd=world.ws, timeout=60)
                )
                while late and not (world.ws / "ready").exists() and not running.done():
                    await asyncio.sleep(0.01)
                if late:
                    opened.__enter__()
                    (world.ws / "go").touch()
                result = await running
            finally:
                opened.__exit__(None, None, None)
        sent = ["it was sent something"] if "sent" in result.stdout.split() else []
        return sent + await asyncio.to_thread(world.breaches, result)

    return act


def reach(title: str, kind: str, at: str, name: str, **more: Any) -> Attack:
    known = APPEARED if more.get("late") else ""
    says = f"connects ({kind}) to what a program listens at by the name {name} in {at}, {more or 'as usual'}"
    return row(title, "out", reaching(kind, at, name, **more), says, "bubblewrap", meanwhile=known)


NAMED = (
    reach("a socket by a relative name", "SOCK_STREAM", "{out}/run", "relative"),
    reach("a socket by a relative name, of datagrams", "SOCK_DGRAM", "{out}/run", "relative"),
    reach("a socket by a relative name, of packets", "SOCK_SEQPACKET", "{out}/run", "relative"),
    reach("a socket by a relative name that goes up", "SOCK_STREAM", "{out}/run", "../run/relative"),
    reach("a socket that was renamed", "SOCK_STREAM", "{out}/run", "{out}/run/bound", given="now"),
    reach("a socket in another network", "SOCK_STREAM", "{out}/run", "{out}/run/apart", apart=True),
    reach("a socket in another network, of datagrams", "SOCK_DGRAM", "{out}/run", "{out}/run/apart", apart=True),
    reach("a socket in another network by a relative name", "SOCK_STREAM", "{out}/run", "apart", apart=True),
    reach("a socket of the workspace", "SOCK_STREAM", "{ws}", "{ws}/whole"),
    reach("a socket of the workspace, of packets", "SOCK_SEQPACKET", "{ws}/tmp/sockets", "{ws}/tmp/sockets/packets"),
    reach("a socket of the workspace by a relative name", "SOCK_STREAM", "{ws}/tmp/sockets", "here", moves=True),
    reach("a socket of the workspace, of datagrams", "SOCK_DGRAM", "{ws}/tmp/sockets", "here", moves=True),
    reach("a socket of the workspace in another network", "SOCK_STREAM", "{ws}/a/b/c/d", "apart", apart=True, moves=True),
    reach("a socket that opens while the command runs", "SOCK_STREAM", "{ws}", "late", late=True),
)  # fmt: skip
