"""Who looks at a folder all the time, as editors and file watchers do: every name that appears below it."""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

CREATED, MOVED_HERE = 0x100, 0x80
HEAD = struct.Struct("iIII")


@contextmanager
def seen(top: Path) -> Iterator[list[Path]]:
    """The paths that have appeared below `top`, in new folders too, in the order in which they did."""
    libc = ctypes.CDLL(None, use_errno=True)
    inotify = libc.inotify_init1(os.O_CLOEXEC)
    ending, end = os.pipe()
    folders: dict[int, Path] = {}
    found: list[Path] = []

    def add(folder: Path) -> None:
        number = libc.inotify_add_watch(inotify, os.fsencode(folder), CREATED | MOVED_HERE | 0x01000000 | 0x02000000)
        if number < 0:
            return
        folders[number] = folder
        with suppress(OSError):
            for entry in os.scandir(folder):
                if entry.is_dir(follow_symlinks=False):
                    add(Path(entry.path))

    def look() -> None:
        import select

        while ending not in (ready := select.select([inotify, ending], [], [])[0]) or inotify in ready:
            said, at = os.read(inotify, 1 << 20), 0
            while at < len(said):
                number, _, _, size = HEAD.unpack_from(said, at)
                name = os.fsdecode(said[at + HEAD.size : at + HEAD.size + size].rstrip(b"\0"))
                at += HEAD.size + size
                if name and number in folders:
                    found.append(folders[number] / name)
                    add(folders[number] / name)

    add(top)
    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        os.write(end, b"x")
        thread.join()
        for descriptor in (inotify, ending, end):
            os.close(descriptor)
