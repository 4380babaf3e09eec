"""Before-images of the commands that run, as files that only the user can read (E-2, S-5).

A text lies there once, under the digest of its bytes, however many commands begin with it. A list of the files names
them for each command; it gets its name when it is whole, after all that it names.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from codelaw.adapters.texts import stamp_of
from codelaw.domain.files import Folder, Located
from codelaw.ports.journal import HeldFile, LeftCommand, LeftFile

KEPT = 100_000_000
"""Bytes of texts that stay for the next command, beyond those of the commands that run."""
DAYS = 30
"""For which texts of another database are kept."""
_NAME = re.compile(r"[0-9a-f]{24}")
_SAVED = ".saved"
"""What the name of a file ends with that says which files of a command a person has saved."""

_log = logging.getLogger(__name__)


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
        """The text by the digest of the file, the longest unused first."""
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
        listed: list[dict[str, Any]] = []
        used: set[str] = set()
        for file in files:
            kept = None if file.digest is None else self._kept(file.digest, text)
            used |= set() if kept is None else {kept}
            listed.append(_listed(file, kept))
        chat, turn, call_id = call
        ids = {"database": self._database, "chat": chat, "turn": turn, "call": call_id}
        reported = {**ids, "began": time.time(), "files": listed}
        _put(self._calls / name, json.dumps(reported).encode())
        self._used[name] = frozenset(used)
        return name

    def touch(self, name: str) -> None:
        """The server still lives."""
        with contextlib.suppress(FileNotFoundError):
            os.utime(self._calls / name)

    def saved(self, name: str, places: Sequence[int]) -> None:
        """A person has saved the files at these places while the command ran: they are not its to undo."""
        _put(_saves(self._calls / name), json.dumps([*places]).encode())

    def release(self, name: str) -> None:
        """Forget a command."""
        self._used.pop(name, None)
        forget(self._calls / name)

    def _kept(self, digest: str, text: Callable[[str], str]) -> str:
        name = self._names.pop(digest, None)
        if name is None or not (self._texts / name).exists():
            content = text(digest).encode("utf-8", "surrogateescape")
            name = hashlib.sha256(content).hexdigest()
            if not (self._texts / name).exists():
                _put(self._texts / name, content)
            self._sizes[name] = len(content)
        self._names[digest] = name
        return name

    def _trim(self, room: int) -> None:
        """Remove the texts of no command that runs, but for the newest in as many bytes."""
        running = frozenset[str]().union(*self._used.values())
        spared: set[str] = set(running)
        for digest, name in reversed([*self._names.items()]):
            room -= 0 if name in spared else self._sizes[name]
            if room < 0 and name not in spared:
                del self._names[digest]
            else:
                spared.add(name)
        for name in [*self._sizes]:
            if name not in spared:
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
            reported = json.loads(listing.read_bytes())
            if reported["database"] != database:
                if time.time() - alive > DAYS * 86_400:
                    forget(listing)
                continue
            saved = _read_saves(listing)
            call = (str(reported["chat"]), str(reported["turn"]), str(reported["call"]))
            files = tuple(
                _left(entry, folder / "texts", saved=place in saved) for place, entry in enumerate(reported["files"])
            )
        except OSError as error:  # perhaps only now: it stays for the next time
            _log.warning("what was kept before a command cannot be read now: %s", error)
            continue
        except (ValueError, KeyError, TypeError) as error:
            _log.warning("what was kept before a command cannot be read: %s", error)
            forget(listing)
            continue
        found.append((listing, LeftCommand(*call, alive, files, reported.get("began", 0.0))))
    return found


def forget(listing: Path) -> None:
    """Remove what is kept of a command."""
    listing.unlink(missing_ok=True)
    _saves(listing).unlink(missing_ok=True)


def _saves(listing: Path) -> Path:
    return listing.with_name(f"{listing.name}{_SAVED}")


def _read_saves(listing: Path) -> list[int]:
    try:
        return json.loads(_saves(listing).read_bytes())
    except FileNotFoundError:
        return []


def _listed(file: HeldFile, text: str | None) -> dict[str, Any]:
    folder = file.place.folder
    return {
        "path": str(file.place.path),
        "shown": file.place.shown,
        "uri": file.place.uri,
        "folder": [folder.name, str(folder.root), folder.uri],
        "digest": file.digest,
        "mode": file.mode,
        "stamp": None if file.digest is None else stamp_of(file.place.path),
        "text": text,
    }


def _left(entry: dict[str, Any], texts: Path, *, saved: bool) -> LeftFile:
    name, root, uri = entry["folder"]
    place = Located(Path(entry["path"]), entry["shown"], entry["uri"], Folder(name, Path(root), uri))
    file = HeldFile(place, entry["digest"], entry["mode"], entry.get("stamp"))
    text = None if entry["text"] is None else _text(texts / entry["text"])
    return LeftFile(file, text, _changed(place.path), saved)


def _changed(path: Path) -> float | None:
    try:
        return path.lstat().st_ctime
    except OSError:
        return None


def _text(path: Path) -> str | None:
    try:
        content = path.read_bytes()
    except OSError as error:
        if error.errno not in {errno.ENOENT, errno.EIO}:
            raise
        return None
    if hashlib.sha256(content).hexdigest() != path.name:
        return None
    return content.decode("utf-8", "surrogateescape")


def _put(path: Path, content: bytes) -> None:
    """Write a file that has its name only when it is whole."""
    part = path.with_name(f".{path.name}")
    try:
        descriptor = os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
