"""Where the logins to servers are kept, and how one is forgotten (X-3)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, cast


def login_file(folder: Path, url: str) -> Path:
    """The file for what was agreed with the server at an address."""
    return folder / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.json"


def is_logged_in(folder: Path, url: str) -> bool:
    """Whether a key of the server at an address is kept. Touches the disk; what cannot be read is not a login."""
    try:
        found: Any = json.loads(login_file(folder, url).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and cast("dict[str, Any]", found).get("tokens") is not None


def forget_login(folder: Path, url: str) -> bool:
    """Delete what was agreed with the server at an address; whether there was something.

    A file goes too that a process has begun to write when it ended. Touches the disk.

    Raises:
        OSError: it cannot be deleted.
    """
    found = [*folder.glob(f"{login_file(folder, url).stem}.*")]
    for file in found:
        file.unlink(missing_ok=True)
    return bool(found)
