"""The passages of chats in memory, as they are ranked: read once, then only what is new (B-4).

numpy is imported with this module: import it late. All is called in the database's thread.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from codelaw.adapters.stores.rows import passage_rows
from codelaw.adapters.stores.rows.codec import legible
from codelaw.adapters.stores.rows.database import SqlSession
from codelaw.ranking.scoring import MessageFrame, RankedSource

MAX_BYTES = 192 * 2**20
"""Of terms and vectors of all chats together; the chat that is searched stays whatever its size."""


@dataclass(slots=True)
class _Vectors:
    """Those of one embedder and dimension, a row for each passage; more rows than there are passages yet."""

    rows: npt.NDArray[np.float32]
    last: int = 0
    count: int = 0


@dataclass(slots=True)
class _Known:
    frame: MessageFrame = field(default_factory=MessageFrame.empty)
    last: int = 0
    """The highest number among its passages."""
    end: tuple[int, int] = (0, 0)
    """Where its last message stands: the positions of the turn and of the message."""
    places: dict[int, int] = field(default_factory=dict[int, int])
    """Rows of passages by their numbers."""
    vectors: dict[tuple[str, int], _Vectors] = field(default_factory=dict[tuple[str, int], _Vectors])
    """At most one: an embedder is changed seldom, and its vectors are large."""

    def bytes(self) -> int:
        return self.frame.words.nbytes + sum(vectors.rows.nbytes for vectors in self.vectors.values())


class Frames:
    """What is known of chats; the ones that were used longest ago go first."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def frame(self, session: SqlSession, chat_id: str, embedder: str = "", size: int = 0) -> MessageFrame:
        """The passages of a chat as they are now, with their vectors of `size` bytes of that embedder."""
        known = self._known.get(chat_id) or _Known()
        count, rows = passage_rows.of_chat(session, chat_id, known.last)
        if len(known.places) + len(rows) != count or (rows and min(rows)[:2] <= known.end):
            # The chat was deleted, or an earlier turn was indexed after a later one.
            known = _Known()
            count, rows = passage_rows.of_chat(session, chat_id, 0)
        if not count:
            self._known.pop(chat_id, None)
            return MessageFrame.empty()
        if rows:
            _extend(known, sorted(rows, key=itemgetter(0, 1, 2)))
        if size:
            _add_vectors(session, chat_id, (embedder, size), known)
        self._known[chat_id] = known
        self._known.move_to_end(chat_id)
        while len(self._known) > 1 and sum(other.bytes() for other in self._known.values()) > MAX_BYTES:
            self._known.popitem(last=False)
        return known.frame


def _extend(known: _Known, rows: Sequence[Any]) -> None:
    """Add passages, in the order of the chat, that all stand behind those it has."""
    turns, positions, parts, ids, message_ids, roles, said_at, tells_time, chars, words = zip(*rows, strict=True)
    starts = [place for place, part in enumerate(parts) if part == 0]
    messages = [
        RankedSource(legible(message_ids[place]), legible(roles[place]), float(said_at[place]), bool(tells_time[place]))
        for place in starts
    ]
    counts = [end - start for start, end in pairwise([*starts, len(rows)])]
    known.frame = known.frame.extended(messages, counts, chars, [*map(bytes, words)])
    first = len(known.places)
    known.places.update(zip(ids, range(first, first + len(ids)), strict=True))
    known.last = max(known.last, *ids)
    known.end = turns[-1], positions[-1]


def _add_vectors(session: SqlSession, chat_id: str, kind: tuple[str, int], known: _Known) -> None:
    """Give the frame its vectors of an embedder and a size; frames that were given out see new ones too."""
    embedder, size = kind
    passages = len(known.places)
    vectors = known.vectors.get(kind) or _Vectors(np.zeros((0, size // 4), np.float32))
    count, rows = passage_rows.vectors_of_chat(session, chat_id, embedder, vectors.last)
    if vectors.count + len(rows) != count:  # some were dropped
        vectors = _Vectors(np.zeros((0, size // 4), np.float32))
        count, rows = passage_rows.vectors_of_chat(session, chat_id, embedder, 0)
    if len(vectors.rows) < passages:
        grown = np.zeros((passages + passages // 8 + 64, size // 4), np.float32)
        grown[: len(vectors.rows)] = vectors.rows
        vectors.rows = grown
    known.vectors = {kind: vectors}
    fitting = [(known.places[passage], vector) for _, passage, vector in rows if len(vector) == size]
    if fitting:
        places = [place for place, _ in fitting]
        joined = b"".join([vector for _, vector in fitting])
        vectors.rows[places] = np.frombuffer(joined, "<f4").reshape(len(fitting), -1)
    vectors.count = count
    vectors.last = rows[-1][0] if rows else vectors.last
    shown = known.frame.vectors
    if shown is None or shown.base is not vectors.rows or len(shown) != passages:
        known.frame = replace(known.frame, vectors=vectors.rows[:passages])
