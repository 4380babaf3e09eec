"""Long-term memories as rows (B-6)."""

from __future__ import annotations

import json
import logging
from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from sys import byteorder
from typing import Any

from codelaw.adapters.stores.rows.checks import verify
from codelaw.adapters.stores.rows.codec import Unreadable, decoder, legible
from codelaw.adapters.stores.rows.database import SqlSession
from codelaw.domain.errors import Refusal
from codelaw.domain.memories import Memory, MemoryScope, Places
from codelaw.memory.words import words
from codelaw.ports.memories import Vector

LONGEST = 200
"""Of a stem that is kept, in characters."""
INDEXED = 2000
"""Dimensions that an index takes in single precision; up to twice as many it takes in half precision."""


@lru_cache(64)
def spelt(vector: Vector) -> str:
    """A vector as pgvector reads it."""
    numbers = array("f", vector)
    if byteorder == "big":
        numbers.byteswap()
    return f"[{','.join(f'{number:.9g}' for number in numbers)}]"


def sized(column: str, vector: Vector) -> str:
    """An expression for `column` that the index for vectors of this size knows; too long ones are compared exactly."""
    dimensions = len(vector) // 4
    kind = "vector" if dimensions <= INDEXED else "halfvec"
    return f"({column}::{kind}({dimensions}))" if dimensions <= 2 * INDEXED else column


def keep_words(session: SqlSession, position: int, text: str) -> None:
    """Keep the stems of a memory, by which it is found."""
    stems = json.dumps(sorted({word[:LONGEST] for word in words(text)}))
    session.execute(
        "UPDATE memories SET words = array_to_tsvector(ARRAY(SELECT json_array_elements_text(?::json)))"
        " WHERE position = ?",
        (stems, position),
    )


def _prepare(session: SqlSession, vector: Vector) -> None:
    """Make pgvector's index for vectors of this size, if there is none yet."""
    dimensions = len(vector) // 4
    name = f"memory_vectors_{dimensions}"
    if dimensions > 2 * INDEXED or session.execute("SELECT to_regclass(?)", (name,)).fetchone()[0] is not None:
        return
    kind = "vector" if dimensions <= INDEXED else "halfvec"
    session.execute(
        f"CREATE INDEX IF NOT EXISTS {name} ON memory_vectors USING hnsw ({sized('vector', vector)} {kind}_cosine_ops)"
        f" WHERE size = {len(vector)}"
    )


def look_around(session: SqlSession, wanted: int) -> None:
    """Let the searches of this transaction use their indexes, and go on in them until so many fit all conditions."""
    session.execute(
        "SELECT set_config('enable_seqscan', 'off', true), set_config('hnsw.iterative_scan', 'strict_order', true),"
        " set_config('hnsw.ef_search', ?, true)",
        (str(min(max(wanted, 40), 1000)),),
    )


MAX_LISTED = 500
COLUMNS = "id, text, category, scope, belongs_to, confidence, created_at, used_at, uses, checksum"

Embedded = tuple[str, Vector]
"""The name of an embedder, and the vector."""
Condition = tuple[str, tuple[Any, ...]]


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
    try:
        verify(row[-1], *row[:7])
        return decoder(Memory)(dict(zip(COLUMNS.split(", "), row[:-1], strict=False)))
    except Unreadable as error:
        logging.getLogger(__name__).warning("store: the memory %s is damaged: %s", legible(row[0]), error)
        return None


def memories(rows: Iterable[Sequence[Any]]) -> list[Memory]:
    return [found for row in rows if (found := memory(row)) is not None]


def put_vector(session: SqlSession, position: int, embedded: Embedded) -> None:
    embedder, vector = embedded
    postgresql = session.dialect == "postgresql"
    if postgresql:
        _prepare(session, vector)
    # Vectors of another size under the same name come from another model: they can be compared to nothing any more.
    for other in ("<", ">"):  # not <>, which no index helps to find
        session.execute(f"DELETE FROM memory_vectors WHERE embedder = ? AND size {other} ?", (embedder, len(vector)))  # noqa: S608 - our own names
    session.execute("DELETE FROM memory_vectors WHERE position = ? AND embedder = ?", (position, embedder))
    session.execute(
        "INSERT INTO memory_vectors (position, embedder, size, vector) VALUES (?, ?, ?, ?)",
        (position, embedder, len(vector), spelt(vector) if postgresql else vector),
    )


def forget_words(session: SqlSession) -> None:
    """Deleted words leave traces in FTS5's index until it is put together anew."""
    if session.dialect == "sqlite":
        session.execute("INSERT INTO memory_words (memory_words) VALUES ('optimize')")


def renumber(session: SqlSession, position: int) -> None:
    """Let whoever keeps vectors notice that the entry belongs elsewhere now."""
    rows = session.execute(
        "DELETE FROM memory_vectors WHERE position = ? RETURNING embedder, vector", (position,)
    ).fetchall()
    for row in rows:
        put_vector(session, position, (legible(row[0]), row[1]))


def unknown_memory(memory_id: str) -> Refusal:
    shown = memory_id.encode("ascii", "backslashreplace").decode()[:80]
    return Refusal("memory_not_found", f"There is no memory {shown!r}.", "List the memories to see their ids.")
