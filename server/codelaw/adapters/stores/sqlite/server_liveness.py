"""Which server instances live: each holds an OS lock on a file of its own, which its death gives back (D-4)."""

from __future__ import annotations

import os
import re
import secrets
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from codelaw.domain.errors import Refusal

_STALE_SECONDS = 24 * 3600.0
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        # flock, not lockf: it also keeps two stores of one process apart, and a child that was exec'ed loses it.
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def alone(folder: Path, seconds: float) -> Generator[None]:
    """Let no other instance begin to live, or see damage, meanwhile.

    Raises:
        Refusal: `store_unavailable`: another one is at it for more than `seconds`.
        OSError: the folder cannot be written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder / "opening", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        until = time.monotonic() + seconds
        while not _lock(descriptor):
            if time.monotonic() > until:
                raise Refusal("store_unavailable", "another codelaw is opening the database.", "Try again in a moment.")
            time.sleep(0.02)
        yield
    finally:
        os.close(descriptor)


def living(folder: Path) -> bool:
    """Whether any instance lives."""
    for file in folder.glob("*.lock"):
        try:
            descriptor = os.open(file, os.O_RDWR)
        except FileNotFoundError:
            continue
        try:
            if not _lock(descriptor):
                return True
        finally:
            os.close(descriptor)
    return False


class FileOwners:
    """The living owners in `folder`; this one lives from `begin` until `end`. All of it touches the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._asking = Lock()
        """Who looks holds the other's lock for a moment, and must not be taken for it by another thread of ours."""
        self.id = secrets.token_hex(12)
        self._descriptor: int | None = None

    def begin(self) -> None:
        """Live.

        Raises:
            OSError: the folder cannot be written.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._descriptor = os.open(self._file(self.id), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        _lock(self._descriptor)
        self._sweep()

    def is_alive(self, owner: str) -> bool:
        """Whether `owner` holds its lock; also where nobody lets us ask."""
        if owner == self.id:
            return True
        if not _ID.fullmatch(owner):
            return False
        try:
            # Who does not live may have a folder that can only be read.
            descriptor = os.open(self._file(owner), os.O_RDONLY if self._descriptor is None else os.O_RDWR)
        except OSError as error:
            return not isinstance(error, FileNotFoundError)
        with self._asking:
            try:
                return not _lock(descriptor)
            finally:
                os.close(descriptor)

    def end(self) -> None:
        """Die on purpose."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            self._file(self.id).unlink(missing_ok=True)

    def _file(self, owner: str) -> Path:
        return self._folder / f"{owner}.lock"

    def _sweep(self) -> None:
        """Remove what the dead left behind; the young are spared because they may be about to lock."""
        for file in self._folder.glob("*.lock"):
            try:
                if time.time() - file.stat().st_mtime > _STALE_SECONDS and not self.is_alive(file.stem):
                    file.unlink(missing_ok=True)
            except FileNotFoundError:
                continue  # another server swept it
