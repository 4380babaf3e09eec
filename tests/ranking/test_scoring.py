"""How messages are ranked (B-4, B-5)."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

import numpy as np
import pytest

from codelaw.ranking import scoring
from codelaw.ranking.scoring import MessageFrame, RankedSource, rank
from codelaw.ranking.words import packed

HOUR = 3600.0
FILLER = "lorem ipsum dolor sit amet " * 100


def a_frame(*texts, roles: str | list[str] = "user", gap=10 * HOUR, vectors=None):
    """A message for each text, or of several passages for a list of texts; `gap` seconds between them."""
    said, counts, passages = [], [], []
    for number, text in enumerate(texts):
        parts = [text] if isinstance(text, str) else text
        role = roles if isinstance(roles, str) else roles[number]
        said.append(RankedSource(f"m{number}", role, 1e9 + gap * number, tells_time=False))
        counts.append(len(parts))
        passages += parts
    frame = MessageFrame.empty().extended(said, counts, [*map(len, passages)], [*map(packed, passages)])
    return frame if vectors is None else MessageFrame(**{**vars(frame), "vectors": np.array(vectors, np.float32)})


def scores(frame, question, vector=None):
    return {item.id: item.score for item in rank(frame, question, vector)}


def order(frame, question, vector=None):
    return [item.id for item in rank(frame, question, vector)]


def test_the_order_of_unrelated_messages_is_that_of_bm25_in_sqlite(monkeypatch):
    monkeypatch.setattr(scoring, "K1", 1.2)
    monkeypatch.setattr(scoring, "B", 0.75)
    monkeypatch.setattr(scoring, "SATURATION", 1e9)  # so that a neighbourhood counts as it is
    pool = np.random.default_rng(5)
    vocabulary = [f"word{n}" for n in range(30)]
    texts = [" ".join(pool.choice(vocabulary, pool.integers(3, 40))) for _ in range(200)]
    texts += ["filler"] * 400  # SQLite's formula has no sense for words that most texts have
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5 (x, tokenize = 'porter unicode61')")
    connection.executemany("INSERT INTO t (rowid, x) VALUES (?, ?)", enumerate(texts))
    question = "word1 word2 word3 word4"
    rows = connection.execute("SELECT rowid, -bm25(t) FROM t WHERE t MATCH ?", (" OR ".join(question.split()),))
    theirs = {f"m{row}": score for row, score in rows}
    connection.close()
    ours = scores(a_frame(*texts), question)
    assert ours.keys() == theirs.keys()
    best = sorted(theirs, key=lambda one: -theirs[one])[:20]
    # Ours never lets a word that half of the texts have weigh nothing, so the scores differ a little, the order hardly.
    assert len(set(best) & set(sorted(ours, key=lambda one: -ours[one])[:20])) >= 18


def test_words_that_fall_into_two_neighbours_find_both_before_one_that_has_half():
    texts = ["we looked at the parser", "and saw that unicode breaks it", FILLER, "unicode", FILLER, "parser", FILLER]
    frame = a_frame(*texts, gap=10.0)
    assert set(order(frame, "unicode parser")[:2]) == {"m0", "m1"}


def test_nothing_is_shared_across_a_pause():
    assert order(a_frame("the parser", "it broke", gap=10.0), "parser") == ["m0", "m1"]
    assert order(a_frame("the parser", "it broke", gap=4 * HOUR), "parser") == ["m0"]


def test_messages_that_speak_of_time_are_preferred_when_a_time_is_asked_for():
    frame = a_frame("the parser broke", "the parser broke", "tea")
    reported = [RankedSource(said.id, said.role, said.at, tells_time=said.id == "m1") for said in frame.messages]
    frame = MessageFrame(**{**vars(frame), "messages": reported})
    assert order(frame, "When did the parser break?")[0] == "m1"
    assert order(frame, "Why did the parser break?")[0] == "m0"


def test_a_day_picks_out_messages_only_where_most_are_of_other_days():
    frame = a_frame(*["tea"] * 12, gap=24 * HOUR)
    second = datetime.fromtimestamp(1e9 + 24 * HOUR, UTC).astimezone()
    assert order(frame, f"What was it on {second:%Y-%m-%d}?") == ["m1", "m2", "m3", "m4"]
    assert order(a_frame("tea", "milk", "salt", gap=1.0), f"What was it in {second:%B %Y}?") == []


def test_vectors_alone_rank_what_shares_no_word():
    frame = a_frame("a", "b", "c", vectors=[[0.0, 1.0], [1.0, 0.0], [0.6, 0.8]])
    found = list(rank(frame, "zebra", np.array([1.0, 0.0], np.float32)))
    assert [item.id for item in found] == ["m1", "m2", "m0"]
    assert [item.similarity for item in found] == pytest.approx([1.0, 0.6, 0.0])


def test_vectors_that_are_no_numbers_count_as_none():
    frame = a_frame("parser", "b", "c", vectors=[[np.nan, 1.0], [1.0, 0.0], [0.0, 1.0]])
    found = {item.id: item.similarity for item in rank(frame, "parser", np.array([1.0, 0.0], np.float32))}
    assert found == {"m0": None, "m1": pytest.approx(1.0), "m2": pytest.approx(0.0)}
    assert order(frame, "parser", np.array([np.nan, np.nan], np.float32)) == ["m0"]


@pytest.mark.parametrize("at", [-1e18, 0.0, 1e18, float("inf"), float("nan")])
def test_any_time_may_stand_in_a_message(at):
    frame = MessageFrame.empty().extended(
        [RankedSource("m0", "user", at, tells_time=True)], [1], [6], [packed("parser")]
    )
    assert order(frame, "the parser on 3 May 2024") == ["m0"]
