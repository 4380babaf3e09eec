"""`scripts/lines.py` counts code, and nothing that is said about it."""

from __future__ import annotations

from scripts.lines import counted

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
    assert counted(SOURCE) == (9, 5)
    assert counted("") == (0, 0)
