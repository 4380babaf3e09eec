"""Small lists in the data folder, and which folders the user trusts, so that their own settings file counts (S-3).

The list of folders lies in the data folder, never in a workspace, and names folders by their real path: another folder
under the same name, or a link to one, is not trusted with it. With each stands the digest of the settings file that the
user has seen: what says anything else is not trusted.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel

FILE = "trusted.json"
LARGEST = 1 << 20
"""Bytes of a list that are read."""


class _Trusted(BaseModel):
    """The list of folders, each with its digest."""

    folders: dict[str, str]


@contextmanager
def alone(file: Path) -> Generator[None]:
    """No other server changes a list meanwhile; its folder is there. Touches the disk.

    Raises:
        OSError: the folder cannot be written.
    """
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = os.open(f"{file}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def put(file: Path, content: Mapping[str, Any]) -> None:
    """Replace the list by another, whole or not at all. Touches the disk.

    Raises:
        OSError: it cannot be written.
    """
    descriptor, name = tempfile.mkstemp(prefix=f"{file.name}-", dir=file.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as made:
            made.write(json.dumps(content, indent=1) + "\n")
            made.flush()
            os.fsync(made.fileno())
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def trusted_folders(home: Path) -> dict[Path, str]:
    """The trusted folders, each with the digest of the settings file that was seen.

    None when the list is missing or cannot be read, so that the user is asked again. Touches the disk.
    """
    try:
        with (home / FILE).open("rb") as file:
            known = _Trusted.model_validate_json(file.read(LARGEST))
    except (OSError, ValueError):
        return {}
    return {Path(path): digest for path, digest in known.folders.items() if Path(path).is_absolute()}


def set_trust(home: Path, folder: Path, digest: str | None) -> None:
    """Remember that `folder` is trusted with the settings file of that digest; None: that it is not. Touches the disk.

    Raises:
        OSError: the list cannot be written.
    """
    real = Path(os.path.realpath(folder))
    with alone(home / FILE):
        folders = trusted_folders(home)
        if digest is None:
            folders.pop(real, None)
        else:
            folders[real] = digest
        put(home / FILE, {"folders": {str(path): folders[path] for path in sorted(folders)}})
