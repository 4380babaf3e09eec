"""Which memories have something in common with a question, in several languages (B-6)."""

from __future__ import annotations

import pytest

from codelaw.domain.memories import Candidate, Memory
from codelaw.memory.evidence import QUESTION_TERMS, asked_about, content, evidence, evident, overlap


def said(id_, text, similarity=0.1, cosine=None):
    return Candidate(Memory(id_, text, "fact", "user", "ann", 0.8, 100.0), similarity, cosine)


def related(question, text):
    return evidence(asked_about(question), text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Should I indent with tabs?", "The user prefers tabs over spaces"),
        ("How are databases migrated?", "Migrations of the database are run by Alembic"),
        ("Why does parse_invoice fail?", "parse_invoice is owned by the payments team"),
        ("Does Go have generics?", "The user likes small functions in Go files"),
        ("Nothing listens on 6380", "Redis runs on port 6380"),
        ("这个文件应该用什么缩进？", "用户喜欢用制表符缩进"),
        ("數據庫怎麼連接？", "數據庫是 PostgreSQL"),
        ("データベースに接続できない", "データベースは PostgreSQL です"),
        ("데이터베이스에 어떻게 연결하나요?", "데이터베이스는 PostgreSQL 입니다"),
        ("co so du lieu la gi?", "Cơ sở dữ liệu là PostgreSQL"),
        ("Welche Einrückung nehmen wir?", "Einrückung mit Tabulatoren"),
        ("Какая база данных?", "База данных — PostgreSQL"),
    ],
)
def test_a_shared_content_word_name_or_identifier_is_evidence(question, text):
    assert related(question, text)
    assert 0.0 < overlap(asked_about(question), text) <= 1.0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is 17 times 23?", "The user tests every time, on 17 of 23 machines"),
        ("go on", "The user prefers tabs in Go files"),
        ("Fix the bug in this file", "Every file starts with the Apache header"),
        ("What does the user table look like?", "The user likes tea"),
        ("用户表是什么样的？", "用户喜欢喝绿茶"),
        ("我们现在应该怎么办？", "我们决定不用 Kafka"),
        ("これは何ですか？", "ユーザーはお茶が好きです"),
        ("Bảng người dùng trông như thế nào?", "Người dùng làm việc với Neovim"),
        ("", "The user likes tea"),
        ("…?!", "The user likes tea"),
    ],
)
def test_words_that_every_question_and_every_memory_has_are_none(question, text):
    assert not related(question, text)


def test_a_long_question_must_share_more_than_one_word_or_a_name():
    log = "connection refused while upstream gateway worker spawned twice after reload because socket vanished midway yesterday under heavy traffic"
    assert not related(log, "The worker queue is Celery")
    assert related(log, "The gateway worker is restarted by systemd")
    assert related(f"{log} Celery", "The worker queue is Celery")
    assert not related(f"{log} painted", "The fence is painted green")
    assert related(f"{log}. Why does Kafka do that?", "We decided against Kafka")


def test_of_a_pasted_log_the_beginning_and_the_end_are_what_is_asked():
    question = " ".join(f"noun{letter}{other}" for letter in "abcdefghijklmnop" for other in "bcdfghjklmnpqrst")
    assert len(asked_about(question).words) <= QUESTION_TERMS
    assert related(question, "nounab nounac")
    assert not related(question, "nounhb nounhc")


def test_a_similarity_is_evidence_from_the_floor_on_and_never_without_one():
    near, far = said("near", "Builds run on Sundays", cosine=0.62), said("far", "The walrus sleeps", cosine=0.2)
    unknown = said("unknown", "The walrus sleeps", similarity=0.9)
    assert [one.memory.id for one in evident([near, far, unknown], "When is compiled?", 0.5)] == ["near"]
    assert evident([near, far, unknown], "When is compiled?", None) == []


def test_the_relevance_is_at_least_what_the_shared_words_make_it():
    (found,) = evident([said("zh", "用户喜欢喝绿茶", similarity=0.0)], "绿茶", None)
    assert found.similarity == pytest.approx(1 / 2**0.5)
    (kept,) = evident([said("en", "green tea", similarity=1.0)], "tea", None)
    assert kept.similarity == pytest.approx(1.0)


@pytest.mark.parametrize("text", ["\ud800", "\u202e\u0000", "ﬁﬂ" * 50, "a" * 100_000, "가나다" * 1000, "\U0001f600"])
def test_any_text_has_a_content(text):
    assert content(text) == content(text)
    assert not related("green tea", text)
