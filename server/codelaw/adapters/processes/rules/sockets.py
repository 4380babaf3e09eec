"""Where sockets of other programs lie, which a command could connect to wherever it sees them (S-4).

No mount stops a connect, so each socket has to be hidden. The kernel tells the names by which sockets were bound, for
each network apart: one that is relative, or a container's, need not lead anywhere from here, and a socket may have
another name by now. So the folders of these names and the workspace are looked through as well. A socket that nobody
listens at any more is left: who starts its server again has to remove it.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from codelaw.adapters.processes.rules.areas import within
from codelaw.adapters.processes.rules.listings import StampedCache

MOST_SOCKETS = 5_000
MOST_FOLDERS = 1_000
"""Of a workspace folder, those near its top first."""
MOST_GUESSES = 20_000
"""Relative names, by the folders that programs work in."""
LOOK_SECONDS = 2.0
"""Between two looks at all programs of the machine."""
PACKAGES = frozenset((".git", "node_modules", "site-packages"))
"""Folders in which no server of a project's puts its socket; git's monitor puts its own there."""
_OWN = "/proc/net/unix"


class Sockets:
    """Of one session; used from threads, one at a time, touches the disk."""

    def __init__(self) -> None:
        self._seen = StampedCache[tuple[list[str], list[str]]]()
        self._others: list[str] = []
        """Names of sockets in other networks."""
        self._work: list[str] = []
        """Folders that programs work in."""
        self._looked = -LOOK_SECONDS

    def find(self, folders: Sequence[Path], *, inside: bool = True) -> list[Path]:
        """The sockets of other programs, wherever they lie; of those in `folders` none of git's, or none at all."""
        if time.monotonic() >= self._looked + LOOK_SECONDS:
            self._look_around()
        own = _names(_OWN)
        found = [name for name in own if name.startswith("/")]
        relative = [name for name in dict.fromkeys([*own, *self._others]) if name[:1] not in ("/", "@")]
        guesses = [f"{work}/{name}" for work in self._work for name in relative][:MOST_GUESSES]
        guesses += [name for name in self._others if name.startswith("/")]
        around = dict.fromkeys(name.rpartition("/")[0] for name in (*found, *guesses))
        guesses += [name for folder in around for name in self._listed(folder)[1]]
        guesses += [name for folder in folders if inside for name in self._inside(str(folder))]
        found += [os.path.normpath(one) for one in guesses if answers(one)]
        every = map(Path, dict.fromkeys(found))
        return [one for one in every if not within(one, folders) or (inside and ".git" not in one.parts)]

    def _look_around(self) -> None:
        """Note the sockets of other networks, and where programs work."""
        own = os.stat(_OWN).st_ino if os.path.exists(_OWN) else 0  # noqa: PTH110, PTH116 - as below
        networks, work = {own}, set[str]()
        self._others = []
        for pid in [name for name in os.listdir("/proc") if name.isdigit()] if own else ():  # noqa: PTH208 - hundreds
            with suppress(OSError):
                at = f"/proc/{pid}/net/unix"
                if (network := os.stat(at).st_ino) not in networks:  # noqa: PTH116 - as above
                    networks.add(network)
                    self._others += _names(at)
                work.add(os.readlink(f"/proc/{pid}/cwd"))  # noqa: PTH115 - as above
        self._work = sorted(work)
        self._looked = time.monotonic()

    def _inside(self, top: str) -> list[str]:
        folders, found = [top], list[str]()
        for folder in folders:
            inner, sockets = self._listed(folder)
            folders += inner[: MOST_FOLDERS - len(folders)]
            found += sockets
        return found

    def _listed(self, folder: str) -> tuple[list[str], list[str]]:
        try:
            return self._seen.look(folder, "", partial(_listed, folder), follow=False)
        except OSError:
            return [], []


def answers(path: str) -> bool:
    """Whether somebody holds the socket at `path`, who does not notice: it is asked for datagrams only."""
    try:
        there = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return os.path.lexists(path)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asking:
            asking.connect(f"/proc/self/fd/{there}")  # the path itself may be too long
    except ConnectionRefusedError:
        return False
    except OSError:
        return True  # of another kind, or not for us, by now
    finally:
        os.close(there)
    return True


def _names(file: str) -> list[str]:
    """Names in a list of the kernel's, each once."""
    try:
        lines = Path(file).read_text("utf-8", "surrogateescape").split("\n")[1:MOST_SOCKETS]
    except OSError:
        return []
    return list(dict.fromkeys(name[0] for line in lines if (name := line.split(maxsplit=7)[7:])))


def _listed(folder: str) -> tuple[list[str], list[str]]:
    """The folders and the sockets in one."""
    inner: list[str] = []
    sockets: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                inner += [entry.path] if entry.name not in PACKAGES else []
            elif not entry.is_file() and not entry.is_symlink():
                sockets.append(entry.path)
    return inner, sockets
