"""A turn is made of values: what is handed around as a callable is counted, and the number only falls."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.callables import callables

CEILING = 11
"""Callables handed around in `agent`, `context` and `tools`. Lower it with every one that becomes a value."""


def test_the_engine_hands_no_more_callables_around() -> None:
    found = list(callables())
    assert len(found) <= CEILING, [f"{one.file}:{one.line} {one.kind} {one.name}" for one in found]


def kinds(folder: Path, code: str) -> list[tuple[str, str]]:
    """Kind and name of each callable in a module of the room `agent`."""
    (folder / "agent").mkdir()
    (folder / "agent" / "a.py").write_text(code)
    return [(one.kind, one.name) for one in callables(folder)]


@pytest.mark.parametrize(
    ("code", "kind", "name"),
    [
        ("def f(tell: Callable[[], None]) -> None: ...", "parameter", "tell"),
        ("class A:\n    table: dict[str, Callable[[], None]]", "field", "table"),
        ("def f() -> Callable[[], None]: ...", "result", "f"),
        ("functools.partial(f, 1)", "partial", "f"),
        ("class P(Protocol):\n    def __call__(self) -> None: ...", "protocol", "P"),
        ("TABLE = {1: lambda: 2}", "table", "TABLE"),
    ],
)
def test_each_way_to_hand_a_callable_around_is_seen(tmp_path: Path, code: str, kind: str, name: str) -> None:
    assert kinds(tmp_path, code) == [(kind, name)]


def test_a_port_with_two_implementations_is_none(tmp_path: Path) -> None:
    classes = "class A:\n    name = 1\n    def go(self): ...\nclass B:\n    name = 2\n    def go(self): ...\n"
    protocol = "class P(Protocol):\n    @property\n    def name(self): ...\n    def go(self): ...\n"
    assert kinds(tmp_path, classes + protocol) == []
