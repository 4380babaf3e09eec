"""Terms of texts and of questions (B-5)."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from codelaw.ranking.words import MAX_QUESTION_TERMS, packed, question_terms, stem, terms

DOCUMENTS = Path(__file__).parents[2].glob("docs/*.md")


def fts5_stems(words):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5 (x, tokenize = 'porter unicode61')")
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab (t, 'instance')")
    connection.executemany("INSERT INTO t (rowid, x) VALUES (?, ?)", enumerate(words))
    stems = dict(connection.execute("SELECT doc, term FROM v"))
    connection.close()
    return [stems[place] for place in range(len(words))]


def test_stems_are_those_of_sqlite_for_every_word_of_our_documents():
    words = sorted({word for path in DOCUMENTS for word in re.findall(r"[a-z]{1,30}", path.read_text("utf-8").lower())})
    assert len(words) > 1_000
    assert [stem(word) for word in words] == fts5_stems(words)


@given(st.text("abcdeilnostyz", min_size=1, max_size=12))
def test_stems_are_those_of_sqlite_for_invented_words(word):
    assume(word not in {"eed", "eeds", "ies", "sses"})  # nothing but an ending: Porter keeps more of it than SQLite
    assert [stem(word)] == fts5_stems([word])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The parsers were failing", ["parser", "fail"]),
        ("getUserName", ["get", "user", "name", "getusername"]),
        ("get_user_name", ["get", "user", "name", "getusername"]),
        ("HTTPServer2", ["http", "server2", "httpserver2"]),
        ("src/app/main.py:42", ["src", "app", "main", "py", "42"]),
        ("__init__", ["init"]),
        ("Zoë's CAFÉ", ["zoe", "cafe"]),
        ("数据库", ["数", "据", "库", "数据", "据库"]),
        ("用pytest测试", ["用", "pytest", "测", "试", "测试"]),
        ("\uff30\uff59\uff54\uff48\uff4f\uff4e", ["python"]),  # full width
        ("\ud800 \0 --- '\"", []),
        ("", []),
    ],
)
def test_texts_become_terms(text, expected):
    assert terms(text) == expected


def test_a_question_has_each_term_once_and_no_single_letters_of_longer_runs():
    assert question_terms("Where did the parser parse? Parsers!") == ["parser", "pars"]
    assert question_terms("数据库 猫") == ["数据", "据库", "猫"]


def terms_of_all(text):
    return [stem(word) for word in text.split()]


def test_a_very_long_question_is_bounded_and_keeps_its_end():
    found = question_terms("alpha " + "filler " * 10_000 + "omega")
    assert found == ["alpha", "filler", "omega"]
    assert len(question_terms(" ".join(f"w{n}" for n in range(500)))) == MAX_QUESTION_TERMS


@given(st.text())
def test_any_text_has_terms_and_the_same_ones_each_time(text):
    assert terms(text) == terms(text)
    assert len(packed(text)) == 4 * len(terms(text))
