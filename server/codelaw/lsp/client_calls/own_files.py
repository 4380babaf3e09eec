"""Files of ours in the data folder: written whole or not at all, and not too many of them."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from uuid import uuid4

KEPT_FILES = 200
"""Of a folder whose files nobody writes in; what is older is removed."""


async def put(file: Path, text: str, *, keep: int | None = None) -> None:
    """Write a file of ours, whole or not at all; of its folder at most `keep` files are kept, the newest."""
    await asyncio.to_thread(_put, file, text, keep)


def _put(file: Path, text: str, keep: int | None) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    written = file.with_name(f".{uuid4().hex}")
    written.write_text(text, "utf-8", newline="")
    written.replace(file)
    if keep is None:
        return
    files = [path for path in file.parent.iterdir() if not path.name.startswith(".")]
    for old in sorted(files, key=os.path.getmtime, reverse=True)[keep:]:
        old.unlink(missing_ok=True)
