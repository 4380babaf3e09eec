"""Places in the order in which they answer a question (X-5).

A file's score adds, in the units of BM25: its best chunk, a share of its next ones, the file as a whole, the rare words
of its path, those that are the file's name, the symbol that the question names best, how many other files use it, and a
share of what these score. Files that stand aside (`ranking/code/paths`) keep a part of that. Then come the hints
(`ranking/code/question`): what commits say, and how near it is by vectors. A place has its file's score, with its own
chunk's part in it; a file's next place falls behind the first ones of others about as good. The constants are round
numbers, set by hand near what `benchmarks/localise.py` and `benchmarks/semble.py` favour.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter

import numpy as np
import numpy.typing as npt

from codelaw.ports.code import Place, PlaceKind, Symbol
from codelaw.ranking.code.digest import CODE, COMMENT, DEFINED, Chunk, numbered, words
from codelaw.ranking.code.frame import IN_PATH, Floats, Frame, Postings
from codelaw.ranking.code.paths import documents, inside
from codelaw.ranking.code.question import NONE, CodeQuestion, Hints
from codelaw.ranking.code.symbols import is_document

NEXT, NEXT_CHUNKS = 0.6, 3
"""What a file's next chunks add to its best, as a share of their mean."""
WHOLE = 1.0
PATH = 1.0
STEM = 1.5
"""Of the file's name: what is named of it, times the share that this is of the name."""
SYMBOL = 0.4
"""Of the symbol whose name is named best: what is named of it, verbs too, times the share that this is of the name."""
STANDING = 0.3
USERS = 0.2
"""Of the mean score of the files that use this one."""
SAID = 0.4
"""Of what the messages of commits say of a file that they changed."""
NEAR = 0.2
"""Of the piece that is nearest to the question by its vector, as a share of the best score by words."""
ASIDE, ASIDE_ASKED = 0.4, 0.6
"""What a file that stands aside loses; and in a question, if it is no document."""
COVER = 0.1
"""What a file loses whose best chunk holds nothing of a question."""
MOST_EXPLAINED = 4.0
"""How much documents gain at most where an explanation is asked for: so much that the best one is as good as the best
code. What they score is another measure, as they define nothing and nobody uses them."""
AGAIN = 0.5
"""What a file's next place keeps of the score of the one before."""
EXACT = 0.5
"""For a chunk that defines a name just as the question spells it, in idf of a name that is there once."""
MOST_OF_A_FILE = 3
MOST_DEFINING = 400
"""Chunks whose symbols are compared with the question."""
_NEAR = 0.6
"""A file's second place must have so much of its best one's score."""


@dataclass(frozen=True)
class Scores:
    """How a question fits the chunks and the files of a frame."""

    parts: Floats
    """For each chunk."""
    best: Floats
    """For each file, that of its best chunk, which is in `files` as well."""
    files: Floats
    plain: Floats
    """For each file, before what its users add: what others are told of it."""
    explaining: float = 1.0
    """What documents gain."""


def ranked(frame: Frame, question: CodeQuestion, lower: Scores | None = None, hints: Hints = NONE) -> Scores:
    """The scores of chunks and files; `lower` are those of the frame below, where there is one."""
    parts = _added(frame.chunks, frame.whole.chunks, question)
    whole = _added(frame.files, frame.whole.files, question)
    defining = _defining(frame, question, parts)
    for at in _exact(frame, question, defining):
        parts[at] += EXACT * math.log1p(frame.whole.chunks.size)
    best, rest = _best(frame, parts)
    path, symbol = _path(frame, question), _symbol(frame, question, defining)
    found = (whole > 0) | (best > 0)
    plain = best + NEXT * rest + WHOLE * whole + PATH * path + SYMBOL * symbol + STANDING * frame.standing * (whole > 0)
    plain = np.where(found, plain, 0.0)
    files = plain + STEM * _stem(frame, question) + USERS * _users(frame, plain, lower)
    for asking, aside in frame.asides.items():
        if not question.says(asking):
            files[aside] *= 1 - (ASIDE_ASKED if question.asks and not asking >= documents() else ASIDE)
    for path, score in hints.said.items():
        if (at := frame.number(path)) is not None:
            files[at] += SAID * score
    files = np.where(found, files, 0.0)
    if question.asks:
        files *= 1 - COVER + COVER * _covered(frame, question)
    explaining = 1.0
    if question.explained and (reported := frame.asides.get(documents())) is not None:
        best_reported = float(files[reported].max())
        explaining = min(MOST_EXPLAINED, float(files.max()) / best_reported) if best_reported else 1.0
        explaining = lower.explaining if lower is not None else explaining
        files[reported] *= explaining
    scores = Scores(parts, best, files, plain, explaining)
    _draw_near(frame, hints, scores, lower)
    return scores


def _draw_near(frame: Frame, hints: Hints, scores: Scores, lower: Scores | None) -> None:
    """Add to chunks and files what their vectors are worth."""
    most = max(float(each.files.max(initial=0.0)) for each in (scores, lower or scores)) or 1.0
    for path, shares in hints.near.items():
        at = frame.number(path)
        if at is None:
            continue
        own = slice(int(frame.firsts[at]), int(frame.firsts[at + 1]))
        if own.stop - own.start == len(shares):  # else they are of the file as it was
            scores.parts[own] += NEAR * most * shares
            scores.files[at] += NEAR * most * float(shares.max())
            scores.best[at] = scores.parts[own].max()


def places(
    frame: Frame,
    question: CodeQuestion,
    *,
    limit: int,
    below: Sequence[str] = (),
    kind: PlaceKind = "any",
    hints: Hints = NONE,
) -> list[Place]:
    """The best places, best first; `below` are the files or folders, as shown, in which they shall lie.

    Of a frame over another one both are asked, and what the lower one says of the same files is left out.
    """
    if not question.weights and not hints.near:
        return []
    lower = ranked(frame.below, question, None, hints) if frame.below is not None else None
    found = _places(frame, question, ranked(frame, question, lower, hints), limit, below=below, kind=kind)
    if frame.below is not None and lower is not None:
        many = limit + MOST_OF_A_FILE * (len(frame.paths) + len(frame.gone))
        others = _places(frame.below, question, lower, many, below=below, kind=kind)
        found += (place for place in others if not frame.covers(place.path))
    return sorted(found, key=attrgetter("score"), reverse=True)[:limit]


def _places(
    frame: Frame, question: CodeQuestion, scores: Scores, limit: int, *, below: Sequence[str], kind: PlaceKind
) -> list[Place]:
    fits = scores.parts > 0
    if kind != "any":
        fits &= _of_kind(frame, question, kind)
    if below:
        inner = np.array([any(inside(path, folder) for folder in below) for path in frame.paths], bool)
        fits &= inner[frame.owners]
    chosen = np.flatnonzero(fits)
    owners = frame.owners[chosen]
    score = scores.files[owners] - scores.best[owners] + scores.parts[chosen]
    order = chosen[np.lexsort((chosen, -score))]
    placed: list[tuple[float, int]] = []
    taken: dict[int, list[int]] = {}
    for at in order.tolist():
        file = int(frame.owners[at])
        others = taken.setdefault(file, [])
        if len(others) >= MOST_OF_A_FILE or (others and scores.parts[at] < _NEAR * scores.parts[others[0]]):
            continue
        piece, earlier = _chunk(frame, at), [_chunk(frame, one) for one in others]
        if any(piece.start < one.end and one.start < piece.end for one in earlier):
            continue
        own = float(scores.files[file] - scores.best[file] + scores.parts[at])
        placed.append((own * AGAIN ** len(others), at))
        others.append(at)
        if len(taken) == limit:
            break  # what follows stands below the first place of each of these
    placed.sort(key=itemgetter(0), reverse=True)
    return [_place(frame, question, at, score) for score, at in placed[:limit]]


def best_files(frame: Frame, question: CodeQuestion, limit: int, hints: Hints = NONE) -> list[str]:
    """The files that answer best, best first."""
    order = np.argsort(-ranked(frame, question, None, hints).files, kind="stable")[:limit]
    return [frame.paths[at] for at in order.tolist()]


def _added(postings: Postings, everywhere: Postings, question: CodeQuestion) -> Floats:
    scores = np.zeros(postings.size)
    for term, weight in question.weights.items():
        found = postings.of(term)
        scores[postings.owners[found]] += weight * everywhere.rarity(term) * postings.weights[found]
    return scores


def _covered(frame: Frame, question: CodeQuestion) -> Floats:
    """For each file the share of the question, by rarity, that its best chunk holds."""
    held, total = np.zeros(len(frame.owners)), 0.0
    for term, weight in question.weights.items():
        if (known := frame.whole.chunks.of(term)).stop > known.start:
            rarity = weight * frame.whole.chunks.rarity(term)
            held[frame.chunks.owners[frame.chunks.of(term)]] += rarity
            total += rarity
    return _best(frame, held)[0] / (total or 1.0)


def _best(frame: Frame, parts: Floats) -> tuple[Floats, Floats]:
    """Each file's best chunk, and the mean of its next ones."""
    left = parts.copy()
    best, *rest = [_most(frame, left) for _ in range(1 + NEXT_CHUNKS)]
    return best, sum(rest, np.zeros(len(best))) / NEXT_CHUNKS


def _most(frame: Frame, left: Floats) -> Floats:
    """The best chunk that is left of each file, which is taken away."""
    most = np.zeros(len(frame.paths))
    np.maximum.at(most, frame.owners, left)
    held = np.flatnonzero((left > 0) & (left == most[frame.owners]))
    left[held[np.unique(frame.owners[held], return_index=True)[1]]] = 0.0
    return most


def _users(frame: Frame, plain: Floats, lower: Scores | None) -> Floats:
    """The mean score of those that use each file; a frame over another one knows what that one knew."""
    if frame.references is not None:
        return frame.references.mean(plain)
    if frame.below is None or frame.below.references is None or lower is None:
        return np.zeros(len(frame.paths))
    means = frame.below.references.mean(lower.plain)
    known = [frame.below.number(path) for path in frame.paths]
    return np.array([0.0 if at is None else means[at] for at in known], np.float64)


def _stem(frame: Frame, question: CodeQuestion) -> Floats:
    """For each file what is named of its name, times the share that this is of the name."""
    hit = np.zeros(len(frame.paths))
    for term, weight in question.weights.items():
        hit[frame.stems.holding(term)] += min(1.0, weight) * frame.whole.files.rarity(term)
    return np.divide(hit * hit, frame.rarities, out=np.zeros(len(hit)), where=frame.rarities > 0)


def _path(frame: Frame, question: CodeQuestion) -> Floats:
    scores = np.zeros(len(frame.paths))
    for term, weight in question.weights.items():
        scores[frame.holders.holding(term)] += weight * frame.whole.holders.rarity(term)
    return scores


def _defining(frame: Frame, question: CodeQuestion, parts: Floats) -> list[int]:
    """The best chunks that define a name with a term of the question in it."""
    found = np.flatnonzero(_standing_in(frame, question, DEFINED))
    return found[np.argsort(-parts[found], kind="stable")[:MOST_DEFINING]].tolist()


def _symbols_of(frame: Frame, at: int) -> Sequence[Symbol]:
    """The symbols that begin in a chunk."""
    piece = _chunk(frame, at)
    return frame.digests[int(frame.owners[at])].beginning(piece.start, piece.end)


def _chunk(frame: Frame, at: int) -> Chunk:
    file = int(frame.owners[at])
    return frame.digests[file].chunk(at - int(frame.firsts[file]))


def _symbol(frame: Frame, question: CodeQuestion, defining: Sequence[int]) -> Floats:
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


def _named(frame: Frame, question: CodeQuestion, name: str) -> float:
    terms = {term for word in words(name) for term in numbered(word)}
    hit = total = 0.0
    for term in terms:
        found = frame.whole.chunks.of(term)
        rarity = math.log1p(frame.whole.chunks.size / (1 + found.stop - found.start))
        total += rarity
        hit += rarity * (term in question.weights)
    return hit * hit / total if total else 0.0


def _exact(frame: Frame, question: CodeQuestion, defining: Sequence[int]) -> list[int]:
    """The chunks in which a symbol begins that is called just as the question says."""
    return [
        at
        for at in defining
        if any(one.kind != "heading" and one.name.lower() in question.names for one in _symbols_of(frame, at))
    ]


def _of_kind(frame: Frame, question: CodeQuestion, kind: PlaceKind) -> npt.NDArray[np.bool_]:
    if kind == "doc":
        documents = np.array([is_document(path) for path in frame.paths], bool)
        return documents[frame.owners] | _standing_in(frame, question, COMMENT)
    if kind == "definition":
        return _standing_in(frame, question, DEFINED)
    return _standing_in(frame, question, CODE) & ~_standing_in(frame, question, DEFINED)


def _standing_in(frame: Frame, question: CodeQuestion, field: int) -> npt.NDArray[np.bool_]:
    """The chunks that have a term of the question in a field."""
    found = np.zeros(len(frame.owners), bool)
    for term in question.weights:
        at = frame.chunks.of(term)
        found[frame.chunks.owners[at][frame.chunks.fields[at] & (1 << field) > 0]] = True
    return found


def _place(frame: Frame, question: CodeQuestion, at: int, score: float) -> Place:
    """The chunk; or the symbol in it that the question names best, where it names one."""
    path = frame.paths[int(frame.owners[at])]
    piece, why = _chunk(frame, at), _why(frame, question, at)
    begun = _symbols_of(frame, at)
    fits = [(one.name.lower() in question.names, _named(frame, question, one.name)) for one in begun]
    best = max(range(len(begun)), key=fits.__getitem__, default=0)
    if begun and fits[best][1] > 0:
        named = begun[best]
        # What goes on behind the chunk is shown as far as the chunk goes.
        return Place(path, named.start, min(named.end, piece.end), named.name, kind=named.kind, why=why, score=score)
    own = next((one for one in begun if one.name == piece.symbol.rpartition(".")[2]), None)
    kind = own.kind if own is not None else "doc" if is_document(path) else "code"
    return Place(path, piece.start, piece.end, piece.symbol, kind=kind, why=why, score=score)


def _why(frame: Frame, question: CodeQuestion, at: int) -> str:
    """The fields in which the question's words stand, with the words that weigh most."""
    fields = {"defines": 1 << DEFINED, "path": IN_PATH, "code": 1 << CODE, "comment": 1 << COMMENT}
    reported: dict[str, list[str]] = {name: [] for name in fields}
    hits: list[tuple[float, int, int]] = []
    for term, weight in question.weights.items():
        found = frame.chunks.of(term)
        inside = found.start + int(np.searchsorted(frame.chunks.owners[found], at))
        if inside < found.stop and int(frame.chunks.owners[inside]) == at:
            hits.append((weight * frame.whole.chunks.rarity(term), term, int(frame.chunks.fields[inside])))
    for _, term, bits in sorted(hits, reverse=True)[:6]:
        field = next((name for name, bit in fields.items() if bits & bit), "code")
        word = question.words.get(term, "")
        if word and word not in reported[field]:
            reported[field].append(word)
    return "; ".join(f"{name}: {', '.join(held)}" for name, held in reported.items() if held) or "meaning"
