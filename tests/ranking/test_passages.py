"""Long messages in passages, and messages as readable text (B-5)."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.domain.messages import Call, Message, Metadata
from codelaw.ranking.passages import MAX_PASSAGES, MAX_RESULT_CHARS, OVERLAP_CHARS, PASSAGE_CHARS, readable, split


def test_a_short_text_is_one_passage_as_it_is():
    assert split("Hello.\n\nWorld.") == ["Hello.\nWorld."]
    assert split(" \n\t\n ") == []


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


def test_of_an_endless_text_the_beginning_and_the_end_are_kept():
    passages = split("\n\n".join(f"number {n} " + "x" * 700 for n in range(500)))
    assert len(passages) == MAX_PASSAGES
    assert passages[0].startswith("number 0 ")
    assert "number 499 " in passages[-1]


@given(st.text(max_size=5_000))
def test_any_text_is_split_into_bounded_passages(text):
    passages = split(text)
    assert all(passage.strip() and len(passage) <= PASSAGE_CHARS + OVERLAP_CHARS + 1 for passage in passages)
    assert len(passages) <= MAX_PASSAGES


def test_a_result_is_read_as_its_values():
    content = json.dumps({"status": "success", "data": {"files": ["a.py", "b.py"], "n": 2, "none": None, "ok": True}})
    assert readable(Message("m", "t", "tool", content)) == "success\na.py\nb.py\nn: 2\nok: True"


@pytest.mark.parametrize("content", ["{torn", '"text"', "7", "[" * 100_000, ""])
def test_a_result_that_is_no_object_is_read_as_it_is(content):
    assert readable(Message("m", "t", "tool", content)) == (content if len(content) < 2_400 else readable_cut(content))


def readable_cut(content):
    head = MAX_RESULT_CHARS * 2 // 3
    return f"{content[:head]}\n\n{content[head - MAX_RESULT_CHARS :]}"


def test_a_large_result_keeps_its_beginning_and_its_end():
    text = readable(Message("m", "t", "tool", json.dumps({"data": "begin " + "x" * 100_000 + " end"})))
    assert len(text) <= MAX_RESULT_CHARS + 2
    assert text.startswith("begin")
    assert text.endswith("end")


def test_native_calls_and_answers_are_read_beside_the_content():
    metadata = Metadata(native=True, calls=(Call("k", "Read", {"path": "src/a.py", "lines": [1, 2]}),), answer="Done.")
    text = readable(Message("m", "t", "assistant", "Let me look.", metadata))
    assert text == "Let me look.\n\nDone.\n\nRead src/a.py\nlines: 1\nlines: 2"


def test_an_answer_that_stands_in_the_content_is_read_once():
    message = Message("m", "t", "assistant", "Thought: x\nAction: Finish[Done.]", Metadata(answer="Done."))
    assert readable(message) == message.content


def test_what_cannot_be_encoded_is_replaced():
    text = readable(Message("m", "t", "user", "a\0b \ud800 😀"))
    assert text == "a b ? 😀"
    text.encode()
