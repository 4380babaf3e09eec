"""`scripts/size.py` counts code, and nothing that is said about it; its table is what the code may grow to."""

from __future__ import annotations

from pathlib import Path

from scripts.size import Module, Tree, measured, outgrown, table

SOURCE = '''"""A module."""

import os  # for its name

LIMIT = 3
"""Of what."""


def name(
    path: str,  # any
) -> str:
    """Two lines

    of words."""
    # a comment
    text = """not a

docstring"""
    return os.path.join(path, text)
'''


def test_only_code_is_counted() -> None:
    assert Module(SOURCE).size[::2] == (5, 8)
    assert Module("").size[::2] == (0, 0)


def test_a_room_grows_only_by_a_line_of_the_table() -> None:
    assert outgrown(measured(), table()) == []


def test_importers_and_namesakes(tmp_path: Path) -> None:
    room = tmp_path / "house"
    room.mkdir()
    (room / "__init__.py").write_text("", "utf-8")
    (room / "a.py").write_text("class Same: ...\n", "utf-8")
    (room / "b.py").write_text("from house import a\nclass Same: ...\n", "utf-8")
    (room / "c.py").write_text("from house.b import Same\nimport house.b\nclass Other: ...\n", "utf-8")
    tree = Tree(room)
    assert tree.lonely() == ["house.a", "house.b"]
    assert tree.namesakes() == {"Same": ["house.a", "house.b"]}
