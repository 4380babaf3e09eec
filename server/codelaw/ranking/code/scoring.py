"""Places in the order in which they answer a question (X-5).

A file's score adds, in the units of BM25: its best chunk, a share of its next ones, the file as a whole, the rare words
of its path, the symbol that the question names best, and how many other files use it. A place has its chunk's part and
its file's. The constants were chosen by leaving one repository out of the development set of `benchmarks/localise.py`.

Spreading scores along the graph of references lost more first places than it gained below; so it only says which file
is looked to by many.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from codelaw.ports.code import Place, PlaceKind, Symbol
from codelaw.ranking.code.chunks import Chunk
from codelaw.ranking.code.digest import CODE, COMMENT, DEFINED, numbered, words
from codelaw.ranking.code.frame import IN_PATH, Floats, Frame, Postings
from codelaw.ranking.code.question import Question
from codelaw.ranking.code.symbols import is_document

NEXT, NEXT_CHUNKS = 0.3, 3
"""What a file's next chunks add to its best, as a share of their mean."""
PATH = 1.0
SYMBOL = 0.1
STANDING = 0.2
EXACT = 0.5
"""For a chunk that defines a name just as the question spells it, in idf of a name that is there once."""
MOST_OF_A_FILE = 3
MOST_DEFINING = 400
"""Chunks whose symbols are compared with the question."""
_NEAR = 0.6
"""A file's second place must have so much of its best one's score."""


def ranked(frame: Frame, question: Question) -> tuple[Floats, Floats]:
    """A score for each chunk, and one for each file."""
    parts, whole = _added(frame, question, "chunks"), _added(frame, question, "files")
    defining = _defining(frame, question, parts)
    for at in _exact(frame, question, defining):
        parts[at] += EXACT * math.log1p(frame.whole.chunks.size)
    best, rest = _best(frame, parts)
    path, symbol = _path(frame, question), _symbol(frame, question, defining)
    found = whole > 0
    files = best + NEXT * rest + whole + PATH * path + SYMBOL * symbol + STANDING * frame.standing * found
    return parts, np.where(found | (best > 0), files, 0.0)


def places(
    frame: Frame, question: Question, *, limit: int, below: Sequence[str] = (), kind: PlaceKind = "any"
) -> list[Place]:
    """The best places, best first; `below` are the files or folders, as shown, in which they shall lie.

    Of a frame over another one both are asked, and what the lower one says of the same files is left out.
    """
    found = _places(frame, question, limit, below, kind)
    if frame.below is not None:
        others = _places(
            frame.below, question, limit + MOST_OF_A_FILE * (len(frame.paths) + len(frame.gone)), below, kind
        )
        found += (place for place in others if not frame.covers(place.path))
    return sorted(found, key=_score, reverse=True)[:limit]


def _score(place: Place) -> float:
    return place.score


def _places(frame: Frame, question: Question, limit: int, below: Sequence[str], kind: PlaceKind) -> list[Place]:
    if not len(frame.owners) or not question.weights:
        return []
    parts, files = ranked(frame, question)
    fits = (parts > 0) & _of_kind(frame, question, kind)
    if below:
        fitting = np.array([any(inside(path, folder) for folder in below) for path in frame.paths], bool)
        fits &= fitting[frame.owners]
    chosen = np.flatnonzero(fits)
    score = parts[chosen] + files[frame.owners[chosen]]
    order = chosen[np.lexsort((chosen, -score))]
    found: list[Place] = []
    taken: dict[int, list[int]] = {}
    for at in order.tolist():
        file = int(frame.owners[at])
        others = taken.setdefault(file, [])
        if len(others) >= MOST_OF_A_FILE or (others and parts[at] < _NEAR * parts[others[0]]):
            continue
        piece, earlier = _chunk(frame, at), [_chunk(frame, one) for one in others]
        if any(piece.start < one.end and one.start < piece.end for one in earlier):
            continue
        others.append(at)
        found.append(_place(frame, question, at, float(parts[at] + files[file])))
        if len(found) == limit:
            break
    return found


def best_files(frame: Frame, question: Question, limit: int) -> list[str]:
    """The files that answer best, best first."""
    _, files = ranked(frame, question)
    order = np.argsort(-files, kind="stable")[:limit]
    return [frame.paths[at] for at in order.tolist()]


def _added(frame: Frame, question: Question, which: Literal["chunks", "files"]) -> Floats:
    postings = frame.chunks if which == "chunks" else frame.files
    everywhere = frame.whole.chunks if which == "chunks" else frame.whole.files
    scores = np.zeros(postings.size)
    for term, weight in question.weights.items():
        found = postings.of(term)
        if found.stop > found.start:
            scores[postings.owners[found]] += weight * _rarity(everywhere, term) * postings.weights[found]
    return scores


def _rarity(postings: Postings, term: int) -> float:
    found = postings.of(term)
    count = found.stop - found.start
    return math.log(1 + (max(0, postings.size - count) + 0.5) / (count + 0.5))


def _best(frame: Frame, parts: Floats) -> tuple[Floats, Floats]:
    """Each file's best chunk, and the mean of its next ones."""
    order = np.lexsort((-parts, frame.owners))
    ordered = parts[order]
    best, rest = np.zeros(len(frame.paths)), np.zeros(len(frame.paths))
    sizes = np.diff(frame.firsts)
    some = sizes > 0
    best[some] = ordered[frame.firsts[:-1][some]]
    for more in range(1, NEXT_CHUNKS + 1):
        has = sizes > more
        rest[has] += ordered[frame.firsts[:-1][has] + more] / NEXT_CHUNKS
    return best, rest


def _path(frame: Frame, question: Question) -> Floats:
    scores = np.zeros(len(frame.paths))
    size = len(frame.whole.paths)
    for term, weight in question.weights.items():
        files = frame.holders.get(term)
        if files:
            count = len(frame.whole.holders.get(term, ()))
            scores[list(files)] += weight * math.log(1 + (max(0, size - count) + 0.5) / (count + 0.5))
    return scores


def _defining(frame: Frame, question: Question, parts: Floats) -> list[int]:
    """The best chunks that define a name with a term of the question in it."""
    found = np.flatnonzero(_standing_in(frame, question, DEFINED))
    if len(found) > MOST_DEFINING:
        found = found[np.argpartition(-parts[found], MOST_DEFINING)[:MOST_DEFINING]]
    return found.tolist()


def _symbols_of(frame: Frame, at: int) -> list[Symbol]:
    """The symbols that begin in a chunk."""
    piece, symbols = _chunk(frame, at), frame.digests[int(frame.owners[at])].symbols
    begin = bisect_left(symbols, piece.start, key=_start)
    return list(symbols[begin : bisect_left(symbols, piece.end, lo=begin, key=_start)])


def _start(symbol: Symbol) -> int:
    return symbol.start


def _chunk(frame: Frame, at: int) -> Chunk:
    file = int(frame.owners[at])
    return frame.digests[file].chunks[at - int(frame.firsts[file])]


def _symbol(frame: Frame, question: Question, defining: Sequence[int]) -> Floats:
    """Each file's symbol whose name is named best: what is named of it, times the share that this is of the name."""
    scores = np.zeros(len(frame.paths))
    seen: dict[str, float] = {}
    for at in defining:
        file = int(frame.owners[at])
        for symbol in _symbols_of(frame, at):
            if symbol.name not in seen:
                seen[symbol.name] = _named(frame, question, symbol.name)
            scores[file] = max(scores[file], seen[symbol.name])
    return scores


def _named(frame: Frame, question: Question, name: str) -> float:
    terms = {term for word in words(name) for term in numbered(word)}
    hit = total = 0.0
    for term in terms:
        found = frame.whole.chunks.of(term)
        rarity = math.log1p(frame.whole.chunks.size / (1 + found.stop - found.start))
        total += rarity
        hit += rarity * min(1.0, question.weights.get(term, 0.0))
    return hit * hit / total if total else 0.0


def _exact(frame: Frame, question: Question, defining: Sequence[int]) -> list[int]:
    """The chunks in which a symbol begins that is called just as the question says."""
    if not question.names:
        return []
    return [
        at
        for at in defining
        if any(one.kind != "heading" and one.name.lower() in question.names for one in _symbols_of(frame, at))
    ]


def _of_kind(frame: Frame, question: Question, kind: PlaceKind) -> npt.NDArray[np.bool_]:
    if kind == "any":
        return np.ones(len(frame.owners), bool)
    if kind == "doc":
        documents = np.array([is_document(path) for path in frame.paths], bool)
        return documents[frame.owners] | _standing_in(frame, question, COMMENT)
    if kind == "definition":
        return _standing_in(frame, question, DEFINED)
    return _standing_in(frame, question, CODE) & ~_standing_in(frame, question, DEFINED)


def _standing_in(frame: Frame, question: Question, field: int) -> npt.NDArray[np.bool_]:
    """The chunks that have a term of the question in a field."""
    found = np.zeros(len(frame.owners), bool)
    for term in question.weights:
        at = frame.chunks.of(term)
        found[frame.chunks.owners[at][frame.chunks.fields[at] & (1 << field) > 0]] = True
    return found


def _place(frame: Frame, question: Question, at: int, score: float) -> Place:
    """The chunk; or the symbol in it that the question names best, where it names one."""
    path = frame.paths[int(frame.owners[at])]
    piece, why = _chunk(frame, at), _why(frame, question, at)
    begun = _symbols_of(frame, at)
    named = max(begun, key=lambda one: _fits(frame, question, one), default=None)
    if named is not None and _fits(frame, question, named)[1] > 0:
        # What goes on behind the chunk is shown as far as the chunk goes.
        return Place(
            path=path,
            start=named.start,
            end=min(named.end, piece.end),
            symbol=named.name,
            kind=named.kind,
            why=why,
            score=score,
        )
    own = next((one for one in begun if one.name == piece.symbol.rpartition(".")[2]), None)
    kind = own.kind if own is not None else "doc" if is_document(path) else "code"
    return Place(path=path, start=piece.start, end=piece.end, symbol=piece.symbol, kind=kind, why=why, score=score)


def _fits(frame: Frame, question: Question, symbol: Symbol) -> tuple[bool, float]:
    return symbol.name.lower() in question.names, _named(frame, question, symbol.name)


def _why(frame: Frame, question: Question, at: int) -> str:
    """The fields in which the question's words stand, with the words that weigh most."""
    fields = {"defines": 1 << DEFINED, "path": IN_PATH, "code": 1 << CODE, "comment": 1 << COMMENT}
    told: dict[str, list[str]] = {name: [] for name in fields}
    hits: list[tuple[float, int, int]] = []
    for term, weight in question.weights.items():
        found = frame.chunks.of(term)
        inside = found.start + int(np.searchsorted(frame.chunks.owners[found], at))
        if inside < found.stop and int(frame.chunks.owners[inside]) == at:
            hits.append((weight * _rarity(frame.whole.chunks, term), term, int(frame.chunks.fields[inside])))
    for _, term, bits in sorted(hits, reverse=True)[:6]:
        field = next((name for name, bit in fields.items() if bits & bit), "code")
        word = question.words.get(term, "")
        if word and word not in told[field]:
            told[field].append(word)
    return "; ".join(f"{name}: {', '.join(held)}" for name, held in told.items() if held)


def inside(path: str, folder: str) -> bool:
    """Whether a path, as shown, is this file or lies in this folder; everything lies in `.`."""
    folder = folder.rstrip("/")
    return folder in {"", "."} or path == folder or path.startswith(f"{folder}/")
