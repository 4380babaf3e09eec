"""Long messages in passages, and messages as readable text (B-5)."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.domain.messages import Call, Message, Metadata
from codelaw.ranking.passages import MAX_PASSAGES, OVERLAP_CHARS, PASSAGE_CHARS, readable, split


def test_passages_end_where_paragraphs_end_and_share_their_border():
    paragraphs = [f"{n} " + "word " * 60 + "end." for n in range(8)]
    passages = split("\n\n".join(f"{paragraph}\n\nBorder {n}." for n, paragraph in enumerate(paragraphs)))
    assert all(passage.count("end.") >= 1 for passage in passages)
    for one, other in pairwise(passages):
        assert other.startswith(one.rsplit("\n", 1)[-1])


def test_a_heading_or_a_fence_begins_a_passage():
    before = "word " * 100
    assert split(f"{before}\n\n## Next\n\nshort")[1].startswith("## Next")
    assert split(f"{before}\n\n```python\nx = 1\n```")[1].startswith("```python")


@pytest.mark.parametrize("text", ["x" * 5_000, "word " * 1_000, "句子很长。" * 900, "a\n" * 3_000])
def test_text_without_paragraphs_is_cut_all_the_same_and_nothing_is_lost(text):
    passages = split(text)
    assert max(map(len, passages)) <= PASSAGE_CHARS + OVERLAP_CHARS + 1
    kept = "".join("".join(passages).split())
    assert len(kept) >= len("".join(text.split()))


@given(st.text(max_size=5_000))
def test_any_text_is_split_into_bounded_passages(text):
    passages = split(text)
    assert all(passage.strip() and len(passage) <= PASSAGE_CHARS + OVERLAP_CHARS + 1 for passage in passages)
    assert len(passages) <= MAX_PASSAGES


def test_a_result_is_read_as_its_values():
    content = json.dumps({"status": "success", "data": {"files": ["a.py", "b.py"], "n": 2, "none": None, "ok": True}})
    assert readable(Message("m", "t", "tool", content)) == "success\na.py\nb.py\nn: 2\nok: True"


def test_native_calls_and_answers_are_read_beside_the_content():
    metadata = Metadata(native=True, calls=(Call("k", "Read", {"path": "src/a.py", "lines": [1, 2]}),), answer="Done.")
    text = readable(Message("m", "t", "assistant", "Let me look.", metadata))
    assert text == "Let me look.\n\nDone.\n\nRead src/a.py\nlines: 1\nlines: 2"


def test_what_cannot_be_encoded_is_replaced():
    text = readable(Message("m", "t", "user", "a\0b \ud800 😀"))
    assert text == "a b ? 😀"
    text.encode()
