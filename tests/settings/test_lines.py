"""Lines of keys in a settings file (S-1)."""

from __future__ import annotations

import tomllib

import pytest

from codelaw.settings.lines import line_of


@pytest.mark.parametrize(
    ("path", "line"), [(("a", "b"), 5), (("a", "x y"), 6), (("c", "d", "e"), 8), (("c", "f"), 7), (("z",), None)]
)
def test_lines_of_keys(path: tuple[str, ...], line: int | None) -> None:
    written = "q = '''\n[a]\nb = 1\n'''\na.b = 1\na.'x y' = 2\n[c]\n  d.e = 3\n"
    assert tomllib.loads(written)
    assert line_of(written, path) == line
