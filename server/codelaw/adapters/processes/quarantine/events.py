"""The kernel's word that a name has appeared in a folder (inotify), for a thread that waits."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import struct
from collections.abc import Iterator
from functools import cache

_CREATED, _MOVED_HERE, _OVERFLOWN = 0x100, 0x80, 0x4000
_ONLY_FOLDERS = 0x01000000
_HEAD = struct.Struct("iIII")
_BYTES = 1 << 16
_POLLING = 0.02
"""Seconds between two looks where the kernel does not tell."""


class Events:
    """Tells of new names in folders, on Linux; `wake` ends a wait."""

    def __init__(self) -> None:
        self._wake, self._woken = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._inotify = _libc().inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        self.told = self._inotify >= 0
        """Whether the kernel tells; else all is to be looked at again and again."""

    def add(self, folder: int) -> int | None:
        """The number by which events of an open folder are told; None where there are too many."""
        path = f"/proc/self/fd/{folder}".encode()
        mask = _CREATED | _MOVED_HERE | _ONLY_FOLDERS
        number = _libc().inotify_add_watch(self._inotify, path, mask) if self.told else -1
        if number < 0:
            self.told = False
        return None if number < 0 else number

    def wait(self, seconds: float) -> Iterator[tuple[int, str] | None]:
        """The folder's number and the name, of each; None where some may have been lost."""
        waiting = select.poll()
        for descriptor in (self._wake, self._inotify):
            if descriptor >= 0:
                waiting.register(descriptor, select.POLLIN)
        found = waiting.poll((seconds if self.told else min(seconds, _POLLING)) * 1000)
        ready = [descriptor for descriptor, _ in found]
        if not self.told:
            yield None
        if self._wake in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake, _BYTES)
        if self._inotify not in ready:
            return
        with contextlib.suppress(BlockingIOError):
            said = os.read(self._inotify, _BYTES)
            at = 0
            while at < len(said):
                number, mask, _, size = _HEAD.unpack_from(said, at)
                at += _HEAD.size
                name = said[at : at + size].rstrip(b"\0")
                at += size
                if mask & _OVERFLOWN:
                    yield None
                elif name:
                    yield number, os.fsdecode(name)

    def wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._woken, b"x")

    def close(self) -> None:
        for descriptor in (self._wake, self._woken, self._inotify):
            if descriptor >= 0:
                os.close(descriptor)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
