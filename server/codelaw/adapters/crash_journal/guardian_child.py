"""The program that ends the processes of commands when their server has died (S-4, V-3).

Run by path, with the standard library alone. It reads from a pipe that the server holds: the groups that begin (`+7`)
and end (`-7`). Where the pipe ends, the server was killed: one that ends properly kills this program before.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

ROUNDS = 20
"""Of looking: a process may be born while the others are looked through."""
_SESSION, _STATE = 3, 0
"""Fields of `/proc/PID/stat`, counted from after the name."""


def main() -> None:
    """Wait for the server's end, and end what it has left."""
    groups: set[int] = set()
    for line in sys.stdin.buffer:
        word = line.strip()
        if word.startswith(b"+"):
            groups.add(int(word[1:]))
        else:
            groups.discard(int(word[1:]))
    if os.path.exists("/proc/self/environ"):  # noqa: PTH110 - every import costs time
        end_marked([sys.argv[1].encode()], groups)
        return
    for group in groups:
        try:
            os.killpg(group, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def end_marked(marks: Sequence[bytes], sessions: Collection[int] = ()) -> list[str]:
    """Kill the processes whose environment has a variable that begins with one of `marks`, or that are of `sessions`.

    Gives their names. Nobody else's are killed: a mark is nobody else's, and a process is held while it is looked at,
    so that its number cannot become another's.
    """
    names: dict[int, str] = {}  # by number: who is ended may be seen once more on the way
    for _ in range(ROUNDS):
        found = {pid: name for pid in _processes() if (name := _end(pid, marks, sessions)) is not None}
        if not found:
            break
        names |= found
    return list(names.values())


def _processes() -> list[int]:
    me = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != me]  # noqa: PTH208 - as above


def _end(pid: int, marks: Sequence[bytes], sessions: Collection[int]) -> str | None:
    try:
        held = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
    except OSError:
        return None
    try:
        if not _is_ours(pid, marks, sessions):
            return None
        name = _read(pid, "comm").decode("utf-8", "replace").strip()
        if held is None:
            os.kill(pid, signal.SIGKILL)
        else:
            signal.pidfd_send_signal(held, signal.SIGKILL)
    except OSError:
        return None  # gone by now, or another user's
    else:
        return name
    finally:
        if held is not None:
            os.close(held)


def _is_ours(pid: int, marks: Sequence[bytes], sessions: Collection[int]) -> bool:
    fields = _read(pid, "stat").rpartition(b")")[2].split()
    if fields[_STATE] in (b"Z", b"X"):
        return False
    if int(fields[_SESSION]) in sessions:
        return True
    return any(entry.startswith(mark) for entry in _read(pid, "environ").split(b"\0") for mark in marks)


def _read(pid: int, name: str) -> bytes:
    with open(f"/proc/{pid}/{name}", "rb") as file:  # noqa: PTH123 - as above
        return file.read()


if __name__ == "__main__":
    main()
