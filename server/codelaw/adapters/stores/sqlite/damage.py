"""A damaged SQLite file: how it is known, and how it is set aside. It is kept, never overwritten.

Whoever calls this holds the lock of `owners.alone`, and nobody else has the file open.
"""

from __future__ import annotations

import logging
import re
import shutil
import sqlite3
import struct
import time
from contextlib import closing
from functools import cache
from pathlib import Path

from codelaw.adapters.stores.migrations import APPLICATION_ID, migrations, statements
from codelaw.adapters.stores.sqlite.salvage import Salvaged, salvage
from codelaw.adapters.stores.sqlite.session import SqliteSession
from codelaw.domain.chats import Notice

_MAGIC = 0x377F0682
"""Of a log whose checksums are counted in little-endian words; the next number says big-endian."""
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
    aside = _aside(path)
    aside = aside.with_name(f"{aside.name}-log")
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
        # Both differ from those of any earlier run of the log.
        salts = set(_HEADER.unpack(head)[4:6]) if _is_sound(head) else None
        whole = (file.seek(0, 2) - _HEADER.size) // (_FRAME_BYTES + page)
        for number in range(read, whole):
            file.seek(_HEADER.size + number * (_FRAME_BYTES + page))
            _, size, *own = _FRAME.unpack(file.read(_FRAME.size))
            salts = salts or set(own)
            if size and not salts.isdisjoint(own):
                return True
    return False


def _is_sound(head: bytes) -> bool:
    """Whether the checksum of a log's header is right, as SQLite counts it."""
    magic, *_, first, second = _HEADER.unpack(head)
    one = two = 0
    for word, other in struct.iter_unpack("<2I" if magic == _MAGIC else ">2I", head[:24]):
        one = (one + word + two) & 0xFFFFFFFF
        two = (two + other + one) & 0xFFFFFFFF
    return magic in {_MAGIC, _MAGIC + 1} and (one, two) == (first, second)


_log = logging.getLogger(__name__)

_SEARCH = ("message_vocabulary", "message_grams", "search_waiting")
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
    """Look into every table; with `thorough` at all of the file, where an earlier codelaw met damage (`suspect`).

    Indexes are made anew before that.

    Raises:
        sqlite3.DatabaseError: `is_damage`.
    """
    listed = "SELECT name FROM sqlite_master WHERE type = 'table'"
    known = {row[0] for row in connection.execute(listed)}
    if not known.issuperset(_SEARCH):
        make_search_anew(connection)
        known = {row[0] for row in connection.execute(listed)}
    for virtual, table in _tables():
        if table not in known:
            raise Damaged(f"the table {table} is missing")
        if not virtual:
            connection.execute(f"SELECT * FROM {table} LIMIT 1").fetchone()  # noqa: S608 - our own names
    mark = _mark(path)
    if thorough and mark.exists():
        connection.execute("REINDEX")
        make_search_anew(connection)
        if (found := _faults(connection, "integrity_check")) is not None:
            raise Damaged(found)
        mark.unlink(missing_ok=True)


@cache
def _tables() -> list[tuple[str, str]]:
    scripts = "".join(script for *_, script in migrations())
    return re.findall(r"CREATE (VIRTUAL )?TABLE (\w+)", scripts)


def make_search_anew(connection: sqlite3.Connection) -> None:
    """Make the index of the search once more: all messages wait for it again."""
    with SqliteSession(connection).transaction():
        connection.execute("DROP TRIGGER IF EXISTS messages_said")
        for table in _SEARCH:
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in (one for *_, script in migrations() for one in statements(script)):
            if any(table in statement for table in _SEARCH):
                connection.execute(statement)
        connection.execute("INSERT INTO search_waiting (position) SELECT position FROM messages")


def _faults(connection: sqlite3.Connection, how: str) -> str | None:
    """The first thing that is wrong in the file, None when nothing is; reads all of it."""
    row = connection.execute(f"PRAGMA {how}(1)").fetchone()
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
            found = _faults(connection, "quick_check")
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


def set_aside(path: Path, error: Exception) -> Notice:
    """Put a new database in the place of a damaged one, with what can be saved of it; gives what the user is told.

    The damaged file lies beside it afterwards. A kill in between loses nothing: it is done anew, or finished.

    Raises:
        sqlite3.Error, OSError: there is no place for the new file; the damaged one is where it was.
    """
    aside, begun = _aside(path), path.with_name(f"{path.name}.salvaging")
    done = salvage(path, begun)
    begun.replace(_ready(path))
    path.rename(aside)
    _put_in_place(path, aside)
    _mark(path).unlink(missing_ok=True)
    message = f"{path} was damaged ({error}). {_reported(done)} The damaged file is {aside}."
    return Notice("warning", "store_damaged", message)


def finish(path: Path) -> None:
    """Put the new file in its place where a kill came between two steps of `set_aside`, or forget it."""
    if path.exists():  # it is not to come back when the file is removed some day
        _ready(path).unlink(missing_ok=True)
    elif _ready(path).exists():
        _put_in_place(path, (damaged_files(path) or [_aside(path)])[-1])


def _put_in_place(path: Path, aside: Path) -> None:
    # The log first: one that is left beside a new file would be played into it.
    for suffix in _SIDE_FILES:
        side = path.with_name(path.name + suffix)
        if side.exists():
            side.rename(aside.with_name(aside.name + suffix))
    _ready(path).replace(path)


def damaged_files(path: Path) -> list[Path]:
    """What was set aside of that file so far, oldest first."""
    found = sorted(path.parent.glob(f"{path.name}.damaged-*"))
    return [file for file in found if not file.name.endswith(_SIDE_FILES)]


def _reported(done: Salvaged) -> str:
    if not done.chats:
        return "Nothing could be saved of it, and a new one was begun." if not done.whole else "A new one was begun."
    saved = f"{done.chats} chat{'' if done.chats == 1 else 's'} with {done.messages} messages"
    return f"All that could be read was saved: {saved}." if not done.whole else f"Everything was saved: {saved}."


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() % 10**9:09}")


def _mark(path: Path) -> Path:
    return path.with_name(f"{path.name}.suspect")


def _ready(path: Path) -> Path:
    return path.with_name(f"{path.name}.salvaged")
