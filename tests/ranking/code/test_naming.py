"""Symbols by the names that people type (M-8)."""

from __future__ import annotations

import pytest

from codelaw.adapters.code.answering import called
from codelaw.ports.code import Symbol

SHAPE = Symbol("Shape", "class", 0, 20)
AREA = Symbol("area", "method", 3, 6)
OTHER = Symbol("area", "function", 30, 33)
LOUD = Symbol("AREA", "variable", 40, 41)
OUT_OF = Symbol("Shape::grow", "function", 50, 55)
TITLE = Symbol("area", "heading", 0, 9)
FILES = [("a.py", (SHAPE, AREA, OTHER, LOUD)), ("b.cc", (OUT_OF,)), ("c.md", (TITLE,))]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("area", [AREA, OTHER, LOUD]),
        ("AREA", [LOUD, AREA, OTHER]),
        ("Shape.area", [AREA]),
        ("Shape#area", [AREA]),
        ("Other.area", []),
        ("grow", [OUT_OF]),
        ("Shape::grow", [OUT_OF]),
        ("are", []),
        ("", []),
        ("::", []),
    ],
)
def test_a_name_finds_what_is_defined_under_it_exact_spelling_first(name: str, found: list[Symbol]) -> None:
    assert [symbol for _, symbol in called(FILES, name)] == found


def test_what_has_only_begun_is_completed() -> None:
    assert [symbol for _, symbol in called(FILES, "ar", begun=True)] == [AREA, OTHER, LOUD]
    assert [path for path, _ in called(FILES, "shape.a", begun=True)] == [], "the outer name is typed by then"
    assert [symbol for _, symbol in called(FILES, "Shape.a", begun=True)] == [AREA]
