"""Before-images of the commands that run, as files that only the user can read (E-2, S-5).

A text lies there once, under the digest of its bytes, however many commands begin with it. A list of the files names
them for each command; it gets its name when it is whole, after all that it names.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codelaw.adapters.stores.rows.codec import from_text, to_text
from codelaw.adapters.texts import stamp_of
from codelaw.ports.journal import HeldFile, LeftCommand, LeftFile

KEPT = 100_000_000
"""Bytes of texts that stay for the next command, beyond those of the commands that run."""
DAYS = 30
"""For which texts of another database are kept."""
_NAME = re.compile(r"[0-9a-f]{24}")
_SAVED = ".saved"
"""What the name of a file ends with that says which files of a command a person has saved."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _KeptFile:
    file: HeldFile
    text: str | None
    """The name of its text."""


@dataclass(frozen=True, slots=True)
class _Listing:
    database: str
    call: tuple[str, ...]
    """The ids of chat, turn and call."""
    began: float
    files: tuple[_KeptFile, ...]


class FileSnapshots:
    """What one server keeps in its folder. Every method touches the disk."""

    def __init__(self, folder: Path, database: str) -> None:
        """`folder` exists, and is nobody else's; `database` tells in which one the chats are."""
        self._database = database
        self._texts = folder / "texts"
        self._calls = folder / "calls"
        for below in (self._texts, self._calls):
            below.mkdir(mode=0o700, exist_ok=True)
        self._edition = 0
        self._names: dict[str, str] = {}
        """The text by the digest of the file."""
        self._sizes: dict[str, int] = {}
        self._used: dict[str, frozenset[str]] = {}
        """Texts by the command that runs."""

    def hold(
        self, call: tuple[str, str, str], files: Sequence[HeldFile], text: Callable[[str], str], edition: int
    ) -> str:
        """See `HeldImages.hold`.

        Raises:
            OSError: they cannot be kept.
        """
        if edition != self._edition:
            self._edition = edition
            self._names.clear()
        try:
            return self._held(call, files, text)
        except OSError:  # what stays for the next command may be what the disk has no room for
            self._trim(0)
            return self._held(call, files, text)
        finally:
            self._trim(KEPT)

    def _held(self, call: tuple[str, str, str], files: Sequence[HeldFile], text: Callable[[str], str]) -> str:
        name = os.urandom(12).hex()
        listed = tuple(
            _KeptFile(file, None)
            if file.digest is None
            else _KeptFile(replace(file, stamp=stamp_of(file.place.path)), self._kept(file.digest, text))
            for file in files
        )
        _put(self._calls / name, to_text(_Listing(self._database, call, time.time(), listed)))
        self._used[name] = frozenset(entry.text for entry in listed if entry.text is not None)
        return name

    def touch(self, name: str, saved: Sequence[int]) -> None:
        """The server still lives; a person has saved the files at these places: they are not the command's to undo."""
        if saved:
            _put(_saves(self._calls / name), to_text(saved))
        with contextlib.suppress(FileNotFoundError):
            os.utime(self._calls / name)

    def release(self, name: str) -> None:
        """Forget a command."""
        self._used.pop(name, None)
        forget(self._calls / name)

    def _kept(self, digest: str, text: Callable[[str], str]) -> str:
        name = self._names.get(digest)
        if name is None or not (self._texts / name).exists():
            content = text(digest)
            name = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
            if not (self._texts / name).exists():
                _put(self._texts / name, content)
            self._sizes[name] = len(content)
            self._names[digest] = name
        return name

    def _trim(self, room: int) -> None:
        """Remove the texts of no command that runs, where they take more bytes or nobody knows them any more."""
        spare = self._sizes.keys() - frozenset[str]().union(*self._used.values())
        if sum(self._sizes[name] for name in spare) > room:
            self._names.clear()
        for name in spare.difference(self._names.values()):
            (self._texts / name).unlink(missing_ok=True)
            del self._sizes[name]


def left(folder: Path, database: str) -> list[tuple[Path, LeftCommand]]:
    """The commands that a dead server has left in its folder, each with the file that lists it.

    Those of chats of another database stay for whoever opens that one, but not for ever.
    """
    found: list[tuple[Path, LeftCommand]] = []
    for listing in sorted((folder / "calls").glob("*")):
        if not _NAME.fullmatch(listing.name):
            if not listing.name.endswith(_SAVED) or not listing.with_suffix("").exists():
                listing.unlink(missing_ok=True)  # the server died while it wrote: the command had not begun
            continue
        try:
            alive = listing.stat().st_mtime
            reported = from_text(_Listing, listing.read_bytes())
            if reported.database == database:
                saves = _saves(listing)
                saved = from_text(tuple[int, ...], saves.read_bytes()) if saves.exists() else ()
                files = tuple(
                    LeftFile(entry.file, _text(folder, entry.text), _changed(entry.file.place.path), place in saved)
                    for place, entry in enumerate(reported.files)
                )
                chat_id, turn_id, call_id = reported.call
                found.append((listing, LeftCommand(chat_id, turn_id, call_id, alive, files, began=reported.began)))
            elif time.time() - alive > DAYS * 86_400:
                forget(listing)
        except OSError as error:  # perhaps only now: it stays for the next time
            _log.warning("what was kept before a command cannot be read now: %s", error)
        except ValueError as error:
            _log.warning("what was kept before a command cannot be read: %s", error)
            forget(listing)
    return found


def forget(listing: Path) -> None:
    """Remove what is kept of a command."""
    listing.unlink(missing_ok=True)
    _saves(listing).unlink(missing_ok=True)


def _saves(listing: Path) -> Path:
    return listing.with_name(f"{listing.name}{_SAVED}")


def _changed(path: Path) -> float | None:
    try:
        return path.lstat().st_ctime
    except OSError:
        return None


def _text(folder: Path, name: str | None) -> str | None:
    if name is None:
        return None
    try:
        content = (folder / "texts" / name).read_bytes()
    except OSError as error:
        if error.errno not in {errno.ENOENT, errno.EIO}:
            raise
        return None
    return content.decode("utf-8", "surrogatepass") if hashlib.sha256(content).hexdigest() == name else None


def _put(path: Path, content: str) -> None:
    """Write a file that has its name only when it is whole."""
    part = path.with_name(f".{path.name}")
    try:
        descriptor = os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode("utf-8", "surrogatepass"))
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
