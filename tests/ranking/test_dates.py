"""Days that a question names (B-4)."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.ranking.dates import NamedDay, asks_when, named, tells_time

TODAY = date(2024, 3, 15)  # a Friday


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 7 July, 2023", NamedDay(2023, 7, 7)),
        ("July 7th, 2023", NamedDay(2023, 7, 7)),
        ("the 7th of July", NamedDay(None, 7, 7)),
        ("2023-07-07", NamedDay(2023, 7, 7)),
        ("in 2023-07", NamedDay(2023, 7)),
        ("in July", NamedDay(None, 7)),
        ("during Sept. 2023", NamedDay(2023, 9)),
        ("in 2021", NamedDay(2021)),
        ("yesterday", NamedDay(2024, 3, 14)),
        ("three days ago", NamedDay(2024, 3, 12)),
        ("a week ago", NamedDay(2024, 3, 8)),
        ("last month", NamedDay(2024, 2)),
        ("four months ago", NamedDay(2023, 11)),
        ("last year", NamedDay(2023)),
        ("this year", NamedDay(2024)),
        ("last Monday", NamedDay(2024, 3, 11)),
        ("on Friday", NamedDay(2024, 3, 8)),
        ("today", NamedDay(2024, 3, 15)),
    ],
)
def test_days_are_read(text, expected):
    assert named(f"What did we decide {text}?", TODAY) == (expected,)


@pytest.mark.parametrize(
    "text", ["", "we may march on", "port 2024a", "2023-13-01", "decide", "version 1.2.3", "the second may fail"]
)
def test_what_is_no_day_names_none(text):
    assert [stretch for stretch in named(text, TODAY) if stretch.month or stretch.day] == []


def test_relative_words_need_a_today():
    assert named("yesterday, last week") == ()


def test_the_day_itself_is_nearer_than_the_days_after_it_and_those_than_others():
    day = NamedDay(2023, 7, 7)
    nearness = [day.nearness(date(2023, 7, number)) for number in (7, 8, 12, 20)]
    assert nearness == sorted(nearness, reverse=True)
    assert nearness[0] == 1.0
    assert nearness[-1] == 0.0
    assert day.nearness(date(2022, 7, 7)) == 0.0


def test_questions_for_a_time_and_texts_that_tell_one_are_known():
    assert asks_when("When did it break?")
    assert asks_when("what date was that")
    assert not asks_when("Why did it break?")
    assert tells_time("I met her last week")
    assert tells_time("on 3 June")
    assert not tells_time("the parser is broken")


@given(st.text(), st.dates())
def test_any_text_can_be_asked_on_any_day(text, today):
    for stretch in named(text, today):
        assert 0.0 <= stretch.nearness(today) <= 1.0
