"""Which line of a place is shown first: one that says something, and most of what is asked (X-5)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from codelaw.ranking.code.digest import numbered, words
from codelaw.ranking.code.question import Question
from codelaw.ranking.code.symbols import defines

DEFINING = 0.5
"""What a definition or a heading is worth more, as a share of a word of the question."""
_SAYS = re.compile(r"[^\W\d_]{2}")


def telling(lines: Sequence[str], question: Question) -> int:
    """The number of the line among these; the first one of equals, and 0 where none says anything."""
    return max(range(len(lines)), key=lambda at: _worth(lines[at], question), default=0)


def _worth(line: str, question: Question) -> float:
    if _SAYS.search(line) is None:
        return -1.0
    held = {term for word in words(line) for term in numbered(word)}
    return sum(question.weights.get(term, 0.0) for term in held) + DEFINING * defines(line)
