"""Symbols by their names, as a person types them: `area`, `Shape.area`, `Shape::area`, or only the beginning (M-8)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from codelaw.ports.code import Symbol

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
