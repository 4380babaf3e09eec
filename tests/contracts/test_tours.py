"""The tours of ARCHITECTURE.md can be walked: each file is met in one that was read before."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.contracts.tours import tours

SERVER = Path(__file__).parents[2] / "server"
LONGEST = {"a question": 45, "an edit of an open buffer": 25, "a compaction": 25}


def imports(name: str) -> set[str]:
    """The files that a file imports at its top, in a function, for its types alone, or by a module's written name."""
    met: set[str] = set()
    for node in ast.walk(ast.parse((SERVER / "codelaw" / f"{name}.py").read_text("utf-8"))):
        match node:
            case ast.ImportFrom(module=str(module), names=aliases):
                met |= {module, *(f"{module}.{alias.name}" for alias in aliases)}
            case ast.Import(names=aliases):
                met |= {alias.name for alias in aliases}
            case ast.Constant(value=str(text)) if text.startswith("codelaw."):
                met.add(text)
            case _:
                pass
    return {module.removeprefix("codelaw.").replace(".", "/") for module in met}


@pytest.mark.parametrize("title", LONGEST)
def test_every_stop_of_a_tour_is_imported_by_one_before_it(title: str) -> None:
    files = tours()[title].files
    assert 10 < len(files) <= LONGEST[title]
    assert len(set(files)) == len(files)
    known = imports(files[0])
    for name in files[1:]:
        assert name in known, f"nothing before {name} imports it"
        known |= imports(name)


@pytest.mark.parametrize("title", LONGEST)
def test_what_is_told_beside_a_tour_exists_and_is_no_stop_of_it(title: str) -> None:
    tour = tours()[title]
    assert tour.beside.isdisjoint(tour.files)
    assert [name for name in tour.beside if not (SERVER / "codelaw" / f"{name}.py").is_file()] == []
    assert [room for room in tour.rooms if not (SERVER / "codelaw" / room).is_dir()] == []
    assert tour.rooms
