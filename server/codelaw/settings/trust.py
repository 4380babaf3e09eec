"""Which folders the user trusts, so that their own settings file counts in full (S-3).

The list lies in the data folder, never in a workspace, and names folders by their real path: another folder under the
same name, or a link to one, is not trusted with it.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

FILE = "trusted.json"
_LARGEST = 1 << 20


def trusted_folders(home: Path) -> frozenset[Path]:
    """The trusted folders; none when the list is missing or cannot be read. Touches the disk."""
    try:
        with (home / FILE).open("rb") as file:
            content: Any = json.loads(file.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return frozenset()
    named = cast("dict[str, Any]", content).get("folders") if isinstance(content, dict) else None
    paths = cast("list[Any]", named) if isinstance(named, list) else []
    return frozenset(Path(path) for path in paths if isinstance(path, str) and Path(path).is_absolute())


def set_trust(home: Path, folder: Path, *, trusted: bool) -> None:
    """Remember whether `folder` is trusted. Touches the disk.

    Raises:
        OSError: the list cannot be written.
    """
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    real = Path(os.path.realpath(folder))
    with _alone(home):
        folders = set(trusted_folders(home))
        if trusted:
            folders.add(real)
        else:
            folders.discard(real)
        text = json.dumps({"folders": sorted(map(str, folders))}, indent=1)
        descriptor, name = tempfile.mkstemp(prefix=f"{FILE}-", dir=home)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text + "\n")
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(home / FILE)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


@contextmanager
def _alone(home: Path) -> Generator[None]:
    """No other server changes the list meanwhile."""
    lock = os.open(home / f"{FILE}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
