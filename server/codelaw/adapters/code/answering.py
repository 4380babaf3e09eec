"""What a frame answers (X-5). Import it when it is first asked: it brings numpy and the grammars."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from codelaw.adapters.code.kept import Row
from codelaw.ports.code import FileOutline, Place, PlaceKind, Symbol
from codelaw.ranking.code.digest import Digest
from codelaw.ranking.code.frame import Frame, framed
from codelaw.ranking.code.hints import CommitHistory, Singles, reported
from codelaw.ranking.code.paths import inside
from codelaw.ranking.code.question import Hints, asked, telling
from codelaw.ranking.code.scoring import places
from codelaw.ranking.code.symbols import is_document, read

LINES, LINE = 3, 200
"""Lines of a place that are shown, and characters of each."""
FEW, FEW_SHARE = 16, 0.02
"""So many files, or such a share of all, may have changed before the whole frame is made anew."""


def framed_over(changed: Mapping[str, Digest | None], rows: Mapping[str, Row], whole: Frame | None) -> Frame:
    """The frame of all rows; a small one over the `whole` one where few of what may have `changed` since then has.

    None among `changed`: the file is gone.
    """
    if whole is not None:
        had = {path: whole.digests[at] for path in changed if (at := whole.number(path)) is not None}
        new = {path: digest for path, digest in changed.items() if digest is not None and had.get(path) is not digest}
        gone = frozenset(path for path in had if changed[path] is None)
        if len(new) + len(gone) <= max(FEW, len(whole.paths) * FEW_SHARE):
            return framed(new, whole, gone)
    return framed({path: row.digest for path, row in rows.items() if row.digest is not None})


def ranked(
    frame: Frame,
    query: str,
    history: CommitHistory | None,
    near: Mapping[str, Singles],
    *,
    below: Sequence[str],
    kind: PlaceKind,
    limit: int,
) -> list[Place]:
    question = asked(query)
    hints = Hints(reported(history, question) if history is not None else {}, near)
    return places(frame, question, limit=limit, below=below, kind=kind, hints=hints)


def shown(place: Place, lines: Sequence[str], query: str) -> Place:
    """The place with its first lines; where no symbol begins it, from the line on that tells most."""
    own, start = lines[place.start : place.end], place.start
    if place.kind in {"code", "doc"} or not any(map(str.isalnum, "".join(own[:1]))):
        start += telling(own, asked(query))
    first = tuple(line[:LINE] for line in lines[start : min(place.end, start + LINES)])
    return replace(place, start=start, lines=first)


def outlined(frame: Frame, below: Sequence[str]) -> list[tuple[str, Digest]]:
    """The files below these paths that define something, those first that most others use."""
    return [one for one in _defining(frame) if not below or any(inside(one[0], folder) for folder in below)]


def named(frame: Frame, name: str, *, begun: bool) -> list[tuple[str, Symbol]]:
    last = (parts_of(name) or [name])[-1].casefold()
    holding = (one for one in _defining(frame) if last in one[1].names.casefold())
    return called(((path, digest.symbols) for path, digest in holding), name, begun=begun)


def _defining(frame: Frame) -> list[tuple[str, Digest]]:
    """The files that define something, those first that most others use."""
    known = list(zip(frame.standing.tolist(), frame.paths, frame.digests, strict=True))
    if (lower := frame.below) is not None:
        every = zip(lower.standing.tolist(), lower.paths, lower.digests, strict=True)
        known += (one for one in every if not frame.covers(one[1]))
    known.sort(key=lambda one: (-one[0], one[1]))
    return [(path, digest) for _, path, digest in known if digest.defines]


def outline_in(path: str, digest: Digest) -> FileOutline:
    return FileOutline(path, digest.symbols, not is_document(path))


def outline_of(path: str, text: str) -> FileOutline:
    found = read(path, text)
    return FileOutline(path, found.symbols, found.parsed)


_JOINTS = re.compile(r"::|[.#]")


def parts_of(name: str) -> list[str]:
    """The parts of a name that says where it is defined, outermost first."""
    return [part for part in _JOINTS.split(name) if part]


def called(
    files: Iterable[tuple[str, Sequence[Symbol]]], name: str, *, begun: bool = False
) -> list[tuple[str, Symbol]]:
    """The symbols of these files that are called so, or begin so, each with its file.

    What is spelt just so comes first, else the order is that of the files. A name of several parts must have the first
    ones around it.
    """
    parts = parts_of(name)
    if not parts:
        return []
    *around, last = parts
    exact: list[tuple[str, Symbol]] = []
    near: list[tuple[str, Symbol]] = []
    folded = last.casefold()
    for path, symbols in files:
        for symbol in symbols:
            own = parts_of(symbol.name)
            if not own or symbol.kind == "heading":
                continue
            same = symbol.name == last or own[-1] == last
            fits = own[-1].casefold().startswith(folded) if begun else own[-1].casefold() == folded
            if (same or fits) and _inside(symbol, own[:-1], around, symbols):
                (exact if same else near).append((path, symbol))
    return exact + near


def _inside(symbol: Symbol, own: Sequence[str], around: Sequence[str], symbols: Sequence[Symbol]) -> bool:
    """Whether the innermost of these names is one in which the symbol is defined."""
    if not around:
        return True
    holding = {one.name for one in symbols if one.start <= symbol.start and symbol.end <= one.end and one != symbol}
    return around[-1] in holding or around[-1] in own
