"""What an answer proposes, and where in a document it belongs (E-3)."""

from __future__ import annotations

import pytest

from codelaw.domain.edits import spliced
from codelaw.lsp.features.proposing import last_block, splice_of

TEXT = "a\nb\nc\nb\nd"


@pytest.mark.parametrize(
    ("answer", "lines", "said"),
    [
        ("```py\n    x = 1\n```", ["    x = 1"], ""),
        ("Needs `import os`.\n\n```\nx\n\ny\n```\n", ["x", "", "y"], "Needs `import os`."),
        ("```\nold\n```\nbecomes\n```\nnew\n```", ["new"], "```\nold\n```\nbecomes"),
        ("````md\n```py\nx\n```\n````", ["```py", "x", "```"], ""),
        ("~~~\nx\n~~~\nafter", ["x"], "after"),
        ("1. Like this:\n   ```\n   x\n     y\n z\n   ```", ["x", "  y", "z"], "1. Like this:"),
        ("```\r\nx\r\n```", ["x"], ""),
        ("```\n```", [], ""),
        ("```\n\n```", [""], ""),
        ("I cannot do that.", None, "I cannot do that."),
        ("```py\nx = 1", None, "```py\nx = 1"),
        ("```\nx\n```\n```\nhalf", None, "```\nx\n```\n```\nhalf"),
    ],
)
def test_the_last_whole_block_is_what_is_proposed(answer: str, lines: list[str] | None, said: str):
    found, rest = last_block(answer)
    assert (None if found is None else list(found), rest) == (lines, said)


@pytest.mark.parametrize(
    ("text", "before", "first", "lines", "after"),
    [
        (TEXT, ["b"], 1, ["x"], "a\nx\nc\nb\nd"),
        (TEXT, ["b"], 3, ["x", "y"], "a\nb\nc\nx\ny\nd"),
        (TEXT, ["c"], 0, ["x"], "a\nb\nx\nb\nd"),
        (TEXT, ["b"], 0, ["x"], None),
        (TEXT, ["z"], 1, ["x"], None),
        (TEXT, ["c", "b"], 2, [], "a\nb\nd"),
        (TEXT, ["d"], 4, [], "a\nb\nc\nb\n"),
        (TEXT, ["d"], 4, [""], "a\nb\nc\nb\n"),
        ("a\r\nb\r\nc", ["b"], 1, ["x", "y"], "a\r\nx\r\ny\r\nc"),
        ("a\n\n\nb", [""], 1, ["x"], "a\nx\n\nb"),
        ("new\na\n\n\nb", [""], 1, ["x"], None),
        ("", [""], 0, ["x"], "x"),
        ("a", ["a", "b"], 0, ["x"], None),
    ],
)
def test_it_is_put_where_the_old_lines_stand_and_nowhere_by_a_guess(
    text: str, before: list[str], first: int, lines: list[str], after: str | None
):
    found = splice_of(text, before, first, lines)
    assert (None if found is None else spliced(text, (found,))) == after
