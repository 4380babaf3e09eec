"""How much a command may take of the machine, all its processes together (S-4).

The size of a file and the number of processes are the kernel's to limit, by a shell that becomes the command. Memory is
watched instead, as no limit of the kernel's for one process fits programs that reserve far more than they use (Java,
Go, Node), and groups of processes are seldom ours to make. Should the machine run out of it first, the command goes
before the editor does.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

WATCH_SECONDS = 0.5
ENTRIES = 100_000
"""Of a temporary folder that are counted."""
_ROUNDS = 4
"""Of watching, between two looks at the temporary folder."""
_MEGA = 1 << 20
_BLOCK = 512
_COUNTED_APART = (5, 14)
"""The version of Linux since which a user namespace counts its own processes."""
_TOO_LARGE = re.compile(r"File size limit exceeded|File too large|EFBIG")
_TOO_MANY = re.compile(r"(?:fork|thread|spawn)\b.*(?:Resource temporarily unavailable|EAGAIN)", re.IGNORECASE)
_FILE_SIGNAL = 25


@dataclass(frozen=True, slots=True)
class CommandLimits:
    """Of one command, in megabytes where nothing else is said."""

    memory: int | None = None
    """None: all that the machine has."""
    processes: int = 4096
    """Threads included."""
    file_size: int = 65_536
    temporary: int = 16_384

    def command(self, argv: Sequence[str], *, apart: bool) -> list[str]:
        """What to start instead of `argv`. `apart`: in a user namespace of its own, where processes are counted."""
        tasks = ""
        if apart and tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) >= _COUNTED_APART:
            # Shells differ in the letter; outside a namespace the user's other programs would count.
            tasks = f"ulimit -u {self.processes} || ulimit -p {self.processes}; "
        script = f"{{ ulimit -f {self.file_size * _MEGA // _BLOCK}; {tasks}echo 500 > /proc/self/oom_score_adj; }}"
        return ["/bin/sh", "-c", f'{script} 2>/dev/null; exec "$@"', "sh", *argv]

    async def watch(self, process: int, folder: Path | None, before: int = 0) -> str:
        """Wait until a process and its descendants, or what lies in a folder, are too much; a sentence that says so.

        `before` is the size of the folder when it began: who only removes some of it is left alone.
        """
        most = sys.maxsize if self.memory is None else self.memory * _MEGA
        number = 0
        while True:
            number += 1
            await asyncio.sleep(WATCH_SECONDS)
            tasks, memory = await asyncio.to_thread(_taken, process, most)
            if memory > most:
                return (
                    f"The command was stopped: its processes took more than {self.memory} MB of memory together"
                    " (tools.bash.memoryMb)."
                )
            if tasks > self.processes:
                return f"The command was stopped: it had more than {self.processes} processes (tools.bash.processes)."
            if folder is not None and number % _ROUNDS == 0:
                size = await asyncio.to_thread(size_of, folder)
                if size > self.temporary * _MEGA and size > before:
                    return (
                        f"The command was stopped: /tmp and the home folder of commands hold more than {self.temporary}"
                        " MB (tools.bash.tmpMb); remove some of it."
                    )

    def hit(self, code: int | None, said: str) -> str:
        """Which limit of the kernel's a command has probably met; empty when none."""
        if code in (128 + _FILE_SIGNAL, -_FILE_SIGNAL) or (code and _TOO_LARGE.search(said)):
            return f"A file may have at most {self.file_size} MB (tools.bash.fileSizeMb)."
        if _TOO_MANY.search(said):
            return f"A command may have at most {self.processes} processes (tools.bash.processes)."
        return ""


def _taken(process: int, most: int) -> tuple[int, int]:
    """How many tasks a process and its descendants have, and how many bytes of memory.

    What several of them share is counted once where that decides.
    """
    found = _statuses()
    below: dict[int, list[int]] = {}
    for pid, (parent, _, _) in found.items():
        below.setdefault(parent, []).append(pid)
    mine = [process]
    for pid in mine:  # it grows meanwhile
        mine += below.pop(pid, ())
    known = {pid: found[pid] for pid in mine if pid in found}
    memory = sum(resident for _, _, resident in known.values())
    if memory > most:
        memory = sum(_share(pid, resident) for pid, (_, _, resident) in known.items())
    return sum(tasks for _, tasks, _ in known.values()), memory


def _statuses() -> dict[int, tuple[int, int, int]]:
    """By process its parent, its number of threads and its resident bytes."""
    page = os.sysconf("SC_PAGE_SIZE")
    found: dict[int, tuple[int, int, int]] = {}
    for name in os.listdir("/proc") if sys.platform == "linux" else []:  # noqa: PTH208 - it is done twice a second
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - as above
                words = file.read().rpartition(b")")[2].split()
                found[int(name)] = int(words[1]), int(words[17]), int(words[21]) * page
    return found


def _share(pid: int, resident: int) -> int:
    """Bytes of memory that are a process's share."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
        return int(text.partition("\nPss:")[2].split()[0]) << 10
    return resident


def size_of(folder: Path) -> int:
    """Bytes on the disk below a folder, as far as they are counted."""
    total = 0
    waiting, left = [folder], ENTRIES
    while waiting and left > 0:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                left -= 1
                with contextlib.suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
    return total
