"""Long-term memories as rows (B-6)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any, get_args

from codelaw.adapters.stores.rows import cursors, postgres_vectors
from codelaw.adapters.stores.rows.chat_rows import forget_asides, require
from codelaw.adapters.stores.rows.checks import checksum, verify
from codelaw.adapters.stores.rows.codec import Unreadable, legible, valid, whole
from codelaw.adapters.stores.rows.database import Session
from codelaw.domain.errors import Refusal
from codelaw.domain.memories import Category, Memory, MemoryScope, Places
from codelaw.ports.embedder import Vector

MAX_LISTED = 500
COLUMNS = "id, text, category, scope, belongs_to, confidence, created_at, used_at, uses, checksum"
_OPTIONAL_TIME = float | None
_CATEGORIES = frozenset(get_args(Category))
_SCOPES = frozenset(get_args(MemoryScope))

Embedded = tuple[str, Vector]
"""The name of an embedder, and the vector."""
Condition = tuple[str, tuple[Any, ...]]


def save(session: Session, memory: Memory, embedded: Embedded | None) -> None:
    """Add the entry, or write it anew; what vectors it has stay while its text does."""
    chat_id = memory.belongs_to if memory.scope == "session" else None
    if chat_id is not None:
        require(session, chat_id)
    before = session.execute("SELECT position, text, created_at FROM memories WHERE id = ?", (memory.id,)).fetchone()
    values = (memory.text, memory.category, memory.scope, memory.belongs_to, chat_id, memory.confidence)
    created_at = memory.created_at if before is None else before[2]
    check = checksum(memory.id, *values[:4], memory.confidence, created_at)
    if before is None:
        position: int = session.execute(
            "INSERT INTO memories"
            " (text, category, scope, belongs_to, chat_id, confidence, checksum, created_at, used_at, uses, id)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING position",
            (*values, check, memory.created_at, memory.used_at, memory.uses, memory.id),
        ).fetchone()[0]
    else:
        position = before[0]
        text = "text = ?, " if before[1] != memory.text else ""
        session.execute(
            f"UPDATE memories SET {text}category = ?, scope = ?, belongs_to = ?, chat_id = ?, confidence = ?,"  # noqa: S608 - our own names
            " checksum = ? WHERE position = ?",
            (*(values if text else values[1:]), check, position),
        )
        if text:
            session.execute("DELETE FROM memory_vectors WHERE position = ?", (position,))
            _forget_words(session)
        elif embedded is None and session.dialect == "sqlite":
            _renumber(session, position)
    if session.dialect == "postgresql" and (before is None or before[1] != memory.text):
        postgres_vectors.keep_words(session, position, memory.text)
    if embedded is not None:
        _put(session, position, embedded)


def get(session: Session, memory_id: str) -> Memory:
    row = session.execute(f"SELECT {COLUMNS} FROM memories WHERE id = ?", (memory_id,)).fetchone()  # noqa: S608 - our own names
    found = None if row is None else memory(row)
    if found is None:
        raise _unknown(memory_id)
    return found


def forget(session: Session, memory_id: str) -> None:
    if not session.execute("DELETE FROM memories WHERE id = ?", (memory_id,)).rowcount:
        raise _unknown(memory_id)
    _forget_words(session)
    forget_asides(session, memory_id)


def listed(  # noqa: PLR0917 - as the port has it
    session: Session,
    places: Places,
    scope: MemoryScope | None,
    category: Category | None,
    limit: int,
    cursor: str | None,
) -> tuple[list[Memory], str | None]:
    where, parameters = counting(places, scope)
    if category is not None:
        where, parameters = f"{where} AND category = ?", (*parameters, category)
    if cursor is not None:
        where, parameters = f"{where} AND (created_at, id) < (?, ?)", (*parameters, *cursors.place(cursor))
    count = max(1, min(limit, MAX_LISTED))
    rows = session.execute(
        f"SELECT {COLUMNS} FROM memories WHERE {where} ORDER BY created_at DESC, id DESC LIMIT ?",  # noqa: S608 - our own names
        (*parameters, count + 1),
    ).fetchall()
    found = memories(rows[:count])
    last = rows[count - 1] if len(rows) > count else None
    return found, None if last is None else cursors.cursor(last[6], legible(last[0]))


def foremost(
    session: Session, places: Places, scope: MemoryScope, categories: Sequence[Category], limit: int
) -> list[Memory]:
    where, parameters = counting(places, scope)
    marks = ", ".join("?" * len(categories))
    rows = session.execute(
        f"SELECT {COLUMNS} FROM memories WHERE {where} AND category IN ({marks})"  # noqa: S608 - our own names
        " ORDER BY confidence DESC, created_at DESC, id LIMIT ?",
        (*parameters, *categories, limit),
    )
    return memories(rows)


def mark_used(session: Session, memory_ids: Sequence[str], at: float) -> None:
    session.execute_many(
        "UPDATE memories SET used_at = ?, uses = uses + 1 WHERE id = ?", [(at, memory_id) for memory_id in memory_ids]
    )


def unembedded(session: Session, embedder: str, limit: int, user: str | None = None) -> list[Memory]:
    mine, parameters = ("", ()) if user is None else (" AND (scope <> 'user' OR belongs_to = ?)", (user,))
    rows = session.execute(
        f"SELECT {COLUMNS} FROM memories WHERE NOT EXISTS"  # noqa: S608 - our own names
        " (SELECT 1 FROM memory_vectors v WHERE v.position = memories.position AND v.embedder = ?)"
        f"{mine} ORDER BY position LIMIT ?",
        (embedder, *parameters, limit),
    )
    return memories(rows)


def store_vectors(session: Session, embedder: str, vectors: Sequence[tuple[str, Vector]]) -> None:
    """Vectors by the id of their entry; those of an entry that is gone are dropped."""
    for memory_id, vector in vectors:
        row = session.execute("SELECT position FROM memories WHERE id = ?", (memory_id,)).fetchone()
        if row is not None:
            _put(session, row[0], (embedder, vector))


def counting(places: Places, scope: MemoryScope | None = None) -> Condition:
    """The condition for entries that count at `places`, of one scope or of all."""
    owners: dict[MemoryScope, tuple[str, ...]] = {
        "user": (places.user,),
        "project": places.projects,
        "session": (places.session,) if places.session is not None else (),
    }
    parts: list[str] = []
    parameters: list[Any] = []
    for name, values in owners.items():
        if values and scope in (None, name):
            parts.append(f"scope = ? AND belongs_to IN ({', '.join('?' * len(values))})")
            parameters += [name, *values]
    return f"({' OR '.join(f'({part})' for part in parts) or '1 = 0'})", tuple(parameters)


def memory(row: Sequence[Any]) -> Memory | None:
    """The entry of a row of `COLUMNS`; None for a damaged one, which nobody can vouch for."""
    id_, text, category, scope, belongs_to, confidence, created_at, used_at, uses, check = row
    try:
        verify(check, *(id_, text, category, scope, belongs_to, confidence, created_at))
        return Memory(
            id=whole(id_),
            text=whole(text),
            category=_one_of(_CATEGORIES, category),
            scope=_one_of(_SCOPES, scope),
            belongs_to=whole(belongs_to),
            confidence=float(valid(float, confidence)),
            created_at=float(valid(float, created_at)),
            used_at=valid(_OPTIONAL_TIME, used_at),
            uses=valid(int, uses),
        )
    except Unreadable as error:
        logging.getLogger(__name__).warning("store: the memory %s is damaged: %s", legible(id_), error)
        return None


def _one_of(allowed: frozenset[Any], value: Any) -> Any:
    if value not in allowed:
        raise Unreadable(f"{value!r:.40} is none of the known")
    return value


def memories(rows: Iterable[Sequence[Any]]) -> list[Memory]:
    return [found for row in rows if (found := memory(row)) is not None]


def _put(session: Session, position: int, embedded: Embedded) -> None:
    embedder, vector = embedded
    if session.dialect == "postgresql":
        postgres_vectors.keep(session, "memory_vectors", position, embedder, vector)
        return
    # Vectors of another size under the same name come from another model: they can be compared to nothing any more.
    for other in ("<", ">"):  # not <>, which no index helps to find
        session.execute(f"DELETE FROM memory_vectors WHERE embedder = ? AND size {other} ?", (embedder, len(vector)))  # noqa: S608 - our own names
    session.execute("DELETE FROM memory_vectors WHERE position = ? AND embedder = ?", (position, embedder))
    session.execute(
        "INSERT INTO memory_vectors (position, embedder, size, vector) VALUES (?, ?, ?, ?)",
        (position, embedder, len(vector), vector),
    )


def _forget_words(session: Session) -> None:
    """Deleted words leave traces in FTS5's index until it is put together anew."""
    if session.dialect == "sqlite":
        session.execute("INSERT INTO memory_words (memory_words) VALUES ('optimize')")


def _renumber(session: Session, position: int) -> None:
    """Let whoever keeps vectors notice that the entry belongs elsewhere now."""
    rows = session.execute(
        "DELETE FROM memory_vectors WHERE position = ? RETURNING embedder, vector", (position,)
    ).fetchall()
    for row in rows:
        _put(session, position, (legible(row[0]), row[1]))


def _unknown(memory_id: str) -> Refusal:
    shown = memory_id.encode("ascii", "backslashreplace").decode()[:80]
    return Refusal("memory_not_found", f"There is no memory {shown!r}.", "List the memories to see their ids.")
