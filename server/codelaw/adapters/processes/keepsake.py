"""What a command must leave as it is, remembered before it and put back after it, where nothing better is to be had.

Landlock cannot take a place out of a folder that it lets be written (S-4). While the command runs, the change is there.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from codelaw.adapters.processes.repositories import is_free

MOST_ENTRIES = 2_000
MOST_BYTES = 16 << 20

_Seen = tuple[int, bytes]
"""The mode, and the content or a link's target."""


@dataclass(frozen=True, slots=True)
class Keepsake:
    """Files and folders as they were."""

    kept: dict[Path, _Seen]
    tops: tuple[Path, ...]
    absent: tuple[Path, ...]
    folders: tuple[Path, ...]
    """The folders that `tops` lie in."""

    @classmethod
    def of(cls, places: Sequence[Path], absent: Sequence[Path]) -> Keepsake:
        """Remember `places`, and that there is nothing at `absent`. Touches the disk.

        Raises:
            OSError: they are too large, or cannot be read.
        """
        kept: dict[Path, _Seen] = {}
        for place in places:
            kept |= _tree(place)
        return cls(kept, tuple(places), tuple(absent), tuple(dict.fromkeys(place.parent for place in places)))

    def put_back(self) -> list[Path]:
        """Undo what was changed; what was. New things at a place that was empty are set aside, not deleted."""
        changed: list[Path] = []
        instead = [one for one in self.folders if os.path.lexists(one) and (one.is_symlink() or not one.is_dir())]
        for place in (*self.absent, *instead):
            # An empty folder is as good as nothing, but not where git expects a file.
            if not is_free(place) or (place.name == "commondir" and os.path.lexists(place)):
                place.rename(place.with_name(f"{place.name}.set-aside-{os.urandom(4).hex()}"))
                changed.append(place)
        for top in self.tops:
            now = _tree(top)
            before = {path: seen for path, seen in self.kept.items() if path == top or top in path.parents}
            if now == before:
                continue
            changed.append(top)
            for path in sorted(now.keys() - before.keys(), key=lambda one: -len(one.parts)):
                _remove(path)
            for path, seen in sorted(before.items(), key=lambda item: len(item[0].parts)):
                if now.get(path) != seen:
                    _remake(path, *seen)
        return changed


def _tree(top: Path) -> dict[Path, _Seen]:
    found: dict[Path, _Seen] = {}
    waiting, size = [top], 0
    while waiting:
        path = waiting.pop()
        try:
            facts = path.lstat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        content = b""
        if stat.S_ISLNK(facts.st_mode):
            content = os.fsencode(path.readlink())
        elif stat.S_ISDIR(facts.st_mode):
            waiting += [Path(entry.path) for entry in os.scandir(path)]
        elif stat.S_ISREG(facts.st_mode):
            size += facts.st_size
            if size <= MOST_BYTES:
                content = path.read_bytes()
        found[path] = (facts.st_mode, content)
        if len(found) > MOST_ENTRIES or size > MOST_BYTES:
            raise OSError(f"{top} is too large to be watched over")
    return found


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _remake(path: Path, mode: int, content: bytes) -> None:
    if os.path.lexists(path) and stat.S_IFMT(path.lstat().st_mode) != stat.S_IFMT(mode):
        _remove(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if stat.S_ISLNK(mode):
        path.unlink(missing_ok=True)
        path.symlink_to(os.fsdecode(content))
        return
    if stat.S_ISDIR(mode):
        path.mkdir(exist_ok=True)
    elif stat.S_ISREG(mode):
        path.unlink(missing_ok=True)  # another name of the same file keeps what was written to it
        path.write_bytes(content)
    path.chmod(stat.S_IMODE(mode))
