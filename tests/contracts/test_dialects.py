"""What a turn does it does in both dialects: the tests of `tests/agent` say so, each of them twice (R-4)."""

from __future__ import annotations

import re
from pathlib import Path

AGENT = Path(__file__).parents[1] / "agent"
NARROWED = re.compile(r'^def dialect\(|^@pytest\.mark\.parametrize\("dialect", .*indirect=True\)', re.MULTILINE)

ONE = {
    "test_cache_miss.py": "why a cache missed is read off the reply, whatever it says",
    "test_cache_ttl.py": "how long a cache lasts is decided by prices and pauses",
    "test_dialects.py": "it says which dialect a chat has",
    "test_effort.py": "an effort is sent beside what is said",
    "test_embedding_turns.py": "what is embedded is the record",
    "test_hooked_files.py": "one of its tests needs calls side by side, which the text dialect has not",
    "test_question_vectors.py": "a question is embedded before it is spelt",
    "test_web_search.py": "the search is a tool of the vendor's",
}
"""Files with a test for one dialect alone, and why."""


def test_only_what_cannot_be_otherwise_is_tested_in_one_dialect():
    narrowed = {file.name for file in AGENT.glob("test_*.py") if NARROWED.search(file.read_text("utf-8"))}
    assert narrowed == set(ONE)
