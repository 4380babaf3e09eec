"""A file cut where its syntax cuts it, so that each piece is about one thing (X-5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codelaw.ports.code import Symbol

LINES = 40
"""Of a chunk, at most; what is longer becomes windows."""
STRIDE = 30
"""From one window's begin to the next one's, so that neighbours overlap."""
SMALL = 4
"""A piece of so few lines joins its neighbour."""
MOST = 2_000
"""Chunks of one file; what lies behind them is not indexed."""
_WHOLE = frozenset({"function", "method", "macro", "heading"})
_AROUND = frozenset({"class", "interface", "struct", "trait", "impl", "module", "enum", "type"})


@dataclass(frozen=True, slots=True)
class Chunk:
    """Lines `start` to `end`, counted from zero, the end not included; `symbol` is what they belong to."""

    start: int
    end: int
    symbol: str = ""


def chunks(lines: int, symbols: Sequence[Symbol]) -> list[Chunk]:
    """The chunks of a file of so many lines, in order: a function each, what stands between, and windows of both."""
    if not any(symbol.kind in _WHOLE or symbol.kind in _AROUND for symbol in symbols):
        return [Chunk(start, end) for start, end in _windows(0, lines)][:MOST]
    owners, names = _owners(lines, symbols)
    pieces: list[Chunk] = []
    start = 0
    for at in range(1, lines + 1):
        if at < lines and owners[at] == owners[start]:
            continue
        name = names[owners[start]] if owners[start] >= 0 else ""
        pieces += (Chunk(begin, end, name) for begin, end in _windows(start, at))
        start = at
    return _joined(pieces)[:MOST]


def _owners(lines: int, symbols: Sequence[Symbol]) -> tuple[list[int], list[str]]:
    """For each line the function it stands in, else the class, else -1; functions inside functions are parts of it."""
    owners = [-1] * lines
    names: list[str] = []
    around: list[Symbol] = []
    held = 0  # the end of the function that we are in
    for symbol in symbols:
        whole = symbol.kind in _WHOLE
        names.append(symbol.name)
        if (not whole and symbol.kind not in _AROUND) or (symbol.start < held and symbol.end <= held):
            continue
        while around and around[-1].end <= symbol.start:
            around.pop()
        if around:
            names[-1] = f"{around[-1].name}.{symbol.name}"
        owners[symbol.start : symbol.end] = [len(names) - 1] * (min(symbol.end, lines) - min(symbol.start, lines))
        if whole:
            held = max(held, symbol.end)
        else:
            around.append(symbol)
    return owners, names


def _windows(start: int, end: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    while True:
        found.append((start, min(start + LINES, end)))
        if start + LINES >= end:
            return found
        start += STRIDE


def _joined(pieces: Sequence[Chunk]) -> list[Chunk]:
    """With small neighbours in one."""
    joined: list[Chunk] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        small = last is not None and min(piece.end - piece.start, last.end - last.start) <= SMALL
        if last is not None and small and last.end == piece.start and piece.end - last.start <= LINES:
            joined[-1] = Chunk(last.start, piece.end, last.symbol or piece.symbol)
        else:
            joined.append(piece)
    return joined
