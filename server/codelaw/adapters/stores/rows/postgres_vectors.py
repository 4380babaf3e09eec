"""Vectors and words in PostgreSQL: pgvector's spelling, an index for each size, stems as tsvector (D-3)."""

from __future__ import annotations

import json
from array import array
from functools import lru_cache
from sys import byteorder

from codelaw.adapters.stores.rows.database import Session
from codelaw.memory.words import words
from codelaw.ports.embedder import Vector

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


def keep(session: Session, table: str, position: int, embedder: str, vector: Vector) -> None:
    """Keep a vector at `position`; those of another size come from another model, and can be compared to nothing."""
    _prepare(session, table, vector)
    session.execute(
        f"DELETE FROM {table} WHERE embedder = ? AND (size < ? OR size > ?)",  # noqa: S608
        (embedder, len(vector), len(vector)),
    )
    session.execute(
        f"INSERT INTO {table} (position, embedder, size, vector) VALUES (?, ?, ?, ?)"  # noqa: S608
        " ON CONFLICT (position, embedder) DO UPDATE SET size = excluded.size, vector = excluded.vector",
        (position, embedder, len(vector), spelt(vector)),
    )


def keep_words(session: Session, position: int, text: str) -> None:
    """Keep the stems of a memory, by which it is found."""
    stems = json.dumps(sorted({word[:LONGEST] for word in words(text)}))
    session.execute(
        "UPDATE memories SET words = array_to_tsvector(ARRAY(SELECT json_array_elements_text(?::json)))"
        " WHERE position = ?",
        (stems, position),
    )


def _prepare(session: Session, table: str, vector: Vector) -> None:
    """Make the index of `table` for vectors of this size, if there is none yet."""
    dimensions = len(vector) // 4
    name = f"{table}_{dimensions}"
    if dimensions > 2 * INDEXED or session.execute("SELECT to_regclass(?)", (name,)).fetchone()[0] is not None:
        return
    kind = "vector" if dimensions <= INDEXED else "halfvec"
    session.execute(
        f"CREATE INDEX IF NOT EXISTS {name} ON {table} USING hnsw ({sized('vector', vector)} {kind}_cosine_ops)"
        f" WHERE size = {len(vector)}"
    )


def look_around(session: Session, wanted: int) -> None:
    """Let the searches of this transaction use their indexes, and go on in them until so many fit all conditions."""
    session.execute(
        "SELECT set_config('enable_seqscan', 'off', true), set_config('hnsw.iterative_scan', 'strict_order', true),"
        " set_config('hnsw.ef_search', ?, true)",
        (str(min(max(wanted, 40), 1000)),),
    )
