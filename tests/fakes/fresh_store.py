"""A store as codelaw makes it on its first day, without the steps of the schema: they are most of what a short test costs."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from codelaw.adapters.stores.opening import SqliteStore

_made: list[bytes] = []


async def put_store(path: Path) -> None:
    """Write an empty store to `path`; what it holds is made once in a process, by codelaw."""
    if not _made:
        with tempfile.TemporaryDirectory(prefix="codelaw-store-") as folder:
            store = await SqliteStore.open(Path(folder) / path.name)
            await store.close()
            _made.append((Path(folder) / path.name).read_bytes())
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(_made[0])
