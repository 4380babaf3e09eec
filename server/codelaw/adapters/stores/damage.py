"""A damaged SQLite file: how it is known, and how it is set aside. It is kept, never overwritten.

Whoever calls this holds the lock of `owners.alone`, and nobody else has the file open.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from codelaw.adapters.stores.migrations import APPLICATION_ID, make_index_anew
from codelaw.adapters.stores.salvage import Salvaged, salvage
from codelaw.domain.chats import Notice

_log = logging.getLogger(__name__)

_ESSENTIAL = (
    "chats",
    "turns",
    "messages",
    "results",
    "events",
    "notices",
    "grants",
    "checkpoints",
    "demotions",
    "asides",
    "changes",
    "withdrawn",
)
"""What a chat is rebuilt from."""
_SEARCH = ("message_grams", "search_waiting", "search_backlog")
"""What is made anew from the messages."""
_SIDE_FILES = ("-wal", "-shm")
_ALTERED = ("no such column", "no such table", "no such module", "duplicate column name", "malformed")


class Damaged(sqlite3.DatabaseError):
    """The file was read, and it is not what it should be."""


def is_damage(error: Exception) -> bool:
    """Whether SQLite says, or we do, that the file itself is at fault."""
    if isinstance(error, Damaged | UnicodeDecodeError):  # what SQLite says of a schema quotes it, torn or not
        return True
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    # Our own statements name nothing that is not there, unless the schema was altered.
    altered = code == sqlite3.SQLITE_ERROR and str(error).startswith(_ALTERED)
    return altered or code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def is_ours(path: Path) -> bool:
    """Whether the head of a file, damaged elsewhere, says that a codelaw wrote it."""
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except OSError:
        return False
    return head.startswith(b"SQLite format 3\0") and head[68:72] == APPLICATION_ID.to_bytes(4, "big")


def check(connection: sqlite3.Connection, path: Path, *, thorough: bool) -> None:
    """Look at what every chat needs; with `thorough` at all of it, where an earlier codelaw met damage (`suspect`).

    An index that does not fit its table is made anew.

    Raises:
        sqlite3.DatabaseError: `is_damage`.
    """
    known = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in _ESSENTIAL:
        if table not in known:
            raise Damaged(f"the table {table} is missing")
        connection.execute(f"SELECT * FROM {table} NOT INDEXED LIMIT 1").fetchone()  # noqa: S608 - our own names
    mark = _mark(path)
    suspected = thorough and mark.exists()
    if not known.issuperset(_SEARCH) or (suspected and not _is_index_sound(connection)):
        _log.warning("%s: the index of its search is made anew", path)
        make_index_anew(connection)
    if suspected:
        if (found := faults(connection, thorough=True)) is not None:
            _log.warning("%s: %s; its indexes are made anew", path, found)
            connection.execute("REINDEX")
            if (found := faults(connection, thorough=True)) is not None:
                raise Damaged(found)
        mark.unlink(missing_ok=True)


def _is_index_sound(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("INSERT INTO message_grams (message_grams) VALUES ('integrity-check')")
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        return False
    return True


def faults(connection: sqlite3.Connection, *, thorough: bool = False) -> str | None:
    """The first thing that is wrong in the file, None when nothing is; reads all of it, `thorough` also each index.

    Raises:
        sqlite3.DatabaseError: it cannot even be looked at.
    """
    row = connection.execute("PRAGMA integrity_check(1)" if thorough else "PRAGMA quick_check(1)").fetchone()
    found = str(row[0]) if row else "ok"
    return None if found == "ok" else " ".join(found.split())


def looked_through(path: Path) -> str | None:
    """The first thing that is wrong in a file that others may have open; None: nothing is, or there is no file.

    What is found is looked into when the file is opened next. Reads all of it, in a second for about a gigabyte.
    """
    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            found = faults(connection)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if not is_damage(error):
            return None
        found = str(error)
    if found is not None:
        suspect(path)
    return found


def suspect(path: Path) -> None:
    """Let the next codelaw that opens the file alone look at all of it; never raises."""
    try:
        _mark(path).touch(mode=0o600)
    except OSError as error:
        _log.warning("%s: its damage could not be noted down: %s", path, error)


def finish(path: Path) -> None:
    """Put the new file in its place where a kill came between two steps of `set_aside`."""
    ready = _ready(path)
    if not path.exists() and ready.exists():
        ready.replace(path)


def opened(path: Path) -> None:
    """The file is sound: nothing of an earlier salvage is wanted any more."""
    _ready(path).unlink(missing_ok=True)


def set_aside(path: Path, error: Exception) -> Notice:
    """Put a new database in the place of a damaged one, with what can be saved of it; gives what the user is told.

    The damaged file lies beside it afterwards. A kill in between loses nothing: it is done anew, or finished.

    Raises:
        sqlite3.Error, OSError: there is no place for the new file; the damaged one is where it was.
    """
    aside = _aside(path)
    ready = _ready(path)
    done: Salvaged | None = None
    if not ready.exists():
        begun = path.with_name(f"{path.name}.salvaging")
        done = salvage(path, begun)
        begun.replace(ready)
    # The log first: one that is left beside a new file would be played into it.
    for suffix in _SIDE_FILES:
        side = path.with_name(path.name + suffix)
        if side.exists():
            side.rename(aside.with_name(aside.name + suffix))
    path.rename(aside)
    ready.replace(path)
    _mark(path).unlink(missing_ok=True)
    return Notice(
        "warning", "store_damaged", f"{path} was damaged ({error}). {_told(done)} The damaged file is {aside}."
    )


def damaged_files(path: Path) -> list[Path]:
    """What was set aside of that file so far, oldest first."""
    found = sorted(path.parent.glob(f"{path.name}.damaged-*"))
    return [file for file in found if not file.name.endswith(_SIDE_FILES)]


def _told(done: Salvaged | None) -> str:
    if done is None:
        return "What could be read of it was saved."
    if not done.chats:
        return "Nothing could be saved of it, and a new one was begun." if not done.whole else "A new one was begun."
    saved = f"{done.chats} chat{'' if done.chats == 1 else 's'} with {done.messages} messages"
    return f"All that could be read was saved: {saved}." if not done.whole else f"Everything was saved: {saved}."


def _aside(path: Path) -> Path:
    stem = f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"
    aside, number = path.with_name(stem), 1
    while aside.exists() or any(os.path.lexists(f"{aside}{suffix}") for suffix in _SIDE_FILES):
        number += 1
        aside = path.with_name(f"{stem}-{number}")
    return aside


def _mark(path: Path) -> Path:
    return path.with_name(f"{path.name}.suspect")


def _ready(path: Path) -> Path:
    return path.with_name(f"{path.name}.salvaged")
