"""Commits in a write-ahead log that SQLite no longer reads, since the disk has altered the log (D-1).

It plays a log up to the first frame that is not whole and says nothing of what follows, as it cannot know whether that
was ever committed. A frame that ends a transaction and belongs to this run of the log says that it was.
"""

from __future__ import annotations

import shutil
import sqlite3
import struct
import time
from pathlib import Path

from codelaw.domain.chats import Notice

_HEADER = struct.Struct(">8I")
"""Magic, format, bytes of a page, checkpoints, two salts, two checksums."""
_FRAME = struct.Struct(">4I")
"""Page, size of the database where a transaction ends, two salts; two checksums and the page follow."""
_FRAME_BYTES = 24


def lost_commits(connection: sqlite3.Connection, path: Path) -> Notice | None:
    """Keep a log aside that holds commits which are not read, and say so; None when there are none.

    To be called when nobody else has the file open and nothing has been written by `connection`.

    Raises:
        sqlite3.Error, OSError: the log cannot be kept, or not be begun anew.
    """
    log = path.with_name(f"{path.name}-wal")
    row = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    read = max(0, int(row[1]))
    page = int(connection.execute("PRAGMA page_size").fetchone()[0])
    if not log.exists() or not _lost(log, page, read):
        return None
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-log")
    shutil.copyfile(log, aside)
    aside.chmod(0o600)
    # Else the same frames would be found again.
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return Notice(
        "warning",
        "store_damaged",
        f"The log of {path} was damaged: what was stored last, before codelaw was killed, could not be read and is"
        f" missing. The damaged log is {aside}.",
    )


def _lost(log: Path, page: int, read: int) -> bool:
    """Whether a transaction ends behind the first `read` frames of a log."""
    with log.open("rb") as file:
        head = file.read(_HEADER.size)
        if len(head) < _HEADER.size:
            return False
        salts = set(_HEADER.unpack(head)[4:6])  # both differ from those of any earlier run of the log
        whole = (file.seek(0, 2) - _HEADER.size) // (_FRAME_BYTES + page)
        for number in range(read, whole):
            file.seek(_HEADER.size + number * (_FRAME_BYTES + page))
            _, size, *own = _FRAME.unpack(file.read(_FRAME.size))
            if size and not salts.isdisjoint(own):
                return True
    return False
