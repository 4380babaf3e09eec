"""When old messages are shown as one line, and which (C-6, K-8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.context.sections import message_tokens
from codelaw.context.shortening.demotion import demotable, demoted
from codelaw.context.shortening.economy import (
    BEHIND,
    LATELY,
    NEWEST,
    TYPICAL,
    WORTH,
    Terms,
    anchors,
    plan,
    thin,
)
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.messages import Fragment, KeptItem, KeptItems, Message, Metadata
from codelaw.domain.models import Prices, PriceStep
from tests.context.spoken import Spoken, bash, edit, read

NONE = frozenset[Demotion]()
STEP = PriceStep(above=100_000, input=5.0, output=5.0)


def total(messages) -> int:
    return sum(map(message_tokens, messages))


def planned(spoken: Spoken, already=NONE, *, tokens: int = 100_000, **terms: Any) -> tuple[Demotion, ...]:
    """What is shortened of a chat whose results stand whole but for `already`."""
    record = {message.id: message for message in spoken.record}
    shown = demoted(spoken.full, already, record)
    return plan(shown, already, record, tokens=tokens, terms=Terms(**{"window": 200_000, **terms}))


def long_chat(turns: int = 12) -> Spoken:
    """Every turn reads two files of its own, edits one and runs the tests: about 3 300 tokens each."""
    spoken = Spoken()
    for number in range(turns):
        spoken.turn(
            f"t{number}", read(f"a{number}.py"), read(f"b{number}.py"), edit(f"a{number}.py"), bash("make test")
        )
    return spoken


def ids(chosen) -> list[str]:
    return [what.message_id for what in chosen]


@pytest.mark.parametrize(
    ("window", "steps", "floor"),
    [
        (200_000, (), 60_000),
        (200_000, (STEP,), 60_000),
        (1_000_000, (), 300_000),
        (1_000_000, (STEP,), 90_000),
        (1_000_000, (replace(STEP, above=272_000), replace(STEP, above=500_000)), 244_800),
    ],
)
def test_below_three_tenths_of_the_window_and_nine_of_the_first_step_of_price_nothing_is_shortened(
    window: int, steps: tuple[PriceStep, ...], floor: int
):
    prices = replace(TYPICAL, steps=steps)
    assert Terms(window, prices).floor == floor
    spoken = long_chat(30)
    assert planned(spoken, tokens=floor - 1, window=window, prices=prices, cold=True) == ()
    assert planned(spoken, tokens=floor, window=window, prices=prices, cold=True) != ()
    assert planned(Spoken(), cold=True) == ()


def test_all_that_is_stale_goes_in_one_batch_when_that_pays():
    spoken = long_chat(20)
    chosen = planned(spoken)
    assert "result_t0_1" in ids(chosen)
    assert "say_t0_3" in ids(chosen), "large arguments of calls too"
    order = [message.id for message in spoken.record]
    assert ids(chosen) == sorted(ids(chosen), key=order.index), "oldest first"
    assert chosen == planned(spoken, cold=True)


def test_a_first_batch_cuts_a_result_and_a_later_one_makes_it_a_line():
    spoken = (
        Spoken().turn("t0", bash("make", lines=400), read("a.py")).turn("t1", *(read(f"{n}.py") for n in range(30)))
    )
    first = planned(spoken, cold=True)
    parts = {what.message_id: what.part for what in first}
    assert parts["result_t0_1"] == "cut"
    assert parts["result_t0_2"] == "result", "the cut form of a short Read is all of it"
    record = {message.id: message for message in spoken.record}
    shown = {message.id: message for message in demoted(spoken.full, set(first), record)}
    assert shown["result_t0_1"].content == record["result_t0_1"].content
    assert '"shortened": "' in shown["result_t0_2"].content
    later = planned(spoken, frozenset(first), cold=True)
    assert later == (Demotion("result_t0_1", "result"),)
    assert planned(spoken, frozenset({*first, *later}), cold=True) == (), "and nothing is shortened twice"


BEFORE_MUCH = Spoken().turn("t0", read("a.py", 400))
BEFORE_MUCH.record.append(Message("plan", "t1", "user", "a long plan " * 12_000))
BEFORE_MUCH.full.append(BEFORE_MUCH.record[-1])
BEFORE_MUCH.turn("t2", *(bash("true", lines=1) for _ in range(LATELY)))
"""A stale Read of about 6 000 tokens in front of 50 000 that stay."""


@pytest.mark.parametrize(
    ("terms", "pays"),
    [
        ({}, False),
        ({"cold": True}, True),
        ({"prices": Prices(1.0, 5.0, cache_read=0.1, cache_write=0.3)}, True),
        ({"prices": Prices(1.0, 5.0, cache_read=0.1, cache_write=0.3, cache_write_1h=2.0)}, True),
        ({"prices": Prices(1.0, 5.0, cache_read=0.1, cache_write=0.3, cache_write_1h=2.0), "ttl": "1h"}, False),
        ({"prices": Prices(1.0, 5.0, cache_read=0.02, cache_write=0.3)}, False),
        ({"prices": replace(TYPICAL, steps=(STEP,)), "tokens": 95_000}, True),
        ({"prices": replace(TYPICAL, steps=(STEP,)), "tokens": 80_000}, False),
        ({"prices": replace(TYPICAL, steps=(STEP,)), "tokens": 300_000}, False),
    ],
)
def test_a_batch_pays_by_the_model_s_own_prices(terms: dict[str, Any], pays: bool):
    assert ids(planned(BEFORE_MUCH, **{"tokens": 80_000, **terms})) == (["result_t0_1"] if pays else [])


@pytest.mark.parametrize(
    ("effort", "thought", "pays"), [(None, True, 1), ("max", False, 1), ("low", True, 1), ("max", True, 0)]
)
def test_the_thinking_that_a_batch_loses_is_a_price_too(effort: Any, thought: bool, pays: int):
    spoken = Spoken().turn("t0", read("a.py", 40)).turn("t1", *(bash("true", lines=1) for _ in range(LATELY)))
    if thought:
        kept = Metadata(kept=KeptItems("vendor", (KeptItem("{}"),)))
        spoken.full[-1] = replace(spoken.full[-1], metadata=kept)
    assert len(planned(spoken, tokens=60_000, effort=effort, cold=True)) == pays


def test_the_newest_read_of_a_file_touched_lately_stays_and_older_ones_go():
    early = [read("hot.py"), read("hot.py"), read("cold.py"), edit("hot.py")]
    spoken = Spoken().turn("t0", *early, *(bash(f"a {n}") for n in range(12)))
    spoken.turn("t1", edit("hot.py"), *(bash(f"b {n}") for n in range(12)))
    gone = ids(planned(spoken, cold=True))
    assert "result_t0_1" in gone, "read again later"
    assert "result_t0_2" not in gone, "the newest Read of a file that is still being edited"
    assert "result_t1_1" not in gone, "what was changed in it since"
    assert "result_t0_3" in gone, "nobody has touched it since"
    spoken.turn("t2", *(bash(f"c {n}") for n in range(25)))
    assert "result_t0_2" in ids(planned(spoken, cold=True)), "no longer in use"


def test_the_working_set_is_a_quarter_of_the_window_the_newest_reads_first():
    spoken = Spoken().turn("t0", *(read(f"f{n}.py", lines=150) for n in range(9)), *(bash(f"a {n}") for n in range(6)))
    window = 48_000
    gone = ids(planned(spoken, cold=True, window=window))
    reads = [one for one in spoken.full if one.metadata.tool_name == "Read" and one.id not in gone]
    assert window // 4 - 3_000 < total(reads) <= window // 4
    assert [message.id for message in reads] == [f"result_t0_{n}" for n in range(10 - len(reads), 10)]


# ---------------------------------------------------------------------------------------------- what cannot change


def test_a_batch_begins_at_an_anchor_or_behind_all_that_was_shortened():
    spoken = long_chat()
    assert anchors(spoken.full, NONE) == (2,), "the question and the first call"
    record = {message.id: message for message in spoken.record}
    chosen = frozenset(planned(spoken, cold=True))
    shown = demoted(spoken.full, chosen, record)
    places = anchors(shown, chosen)
    assert list(places) == sorted(set(places))
    assert {"result_t0_1", "say_t0_3"} <= {message.id for message in shown[: places[0]]}
    assert not {demotable(shown[place]) for place in places} & chosen
    spoken.turn("more", *(bash(f"more {n}") for n in range(20)))
    later = planned(spoken, chosen, cold=True)
    order = [message.id for message in spoken.record]
    first = order.index(later[0].message_id)
    last = max(order.index(what.message_id) for what in chosen)
    assert first in places or first > last + BEHIND


# ----------------------------------------------------------------------------------------------------------- thinning


def test_thinning_takes_the_oldest_until_enough_is_free():
    spoken = long_chat()
    chosen = thin(spoken.record, NONE, to_free=4_000)
    freed = total(spoken.record) - total(demoted(spoken.record, set(chosen)))
    assert freed >= 4_000
    assert freed - 4_000 < max(map(message_tokens, spoken.record)), "no more than one message too many"
    everything = thin(spoken.record, NONE, to_free=10**9)
    assert everything[: len(chosen)] == chosen
    assert "result_t11_4" in ids(everything), "in the end the newest too"
    assert thin(spoken.record, frozenset(everything), to_free=10**9) == ()
    assert thin(spoken.record, NONE, to_free=0) == ()


STEPS = st.lists(
    st.one_of(
        st.builds(read, st.sampled_from(["a.py", "b.py", "c.py"]), st.integers(1, 120)),
        st.builds(edit, st.sampled_from(["a.py", "b.py", "d.py"]), st.integers(10, 900)),
        st.builds(bash, st.sampled_from(["make", "make test"]), st.integers(0, 90), st.booleans()),
    ),
    max_size=8,
)


@given(st.lists(STEPS, max_size=6), st.booleans(), st.booleans(), st.integers(0, 30_000))
def test_any_plan_frees_what_it_promises_and_touches_only_what_it_may(turns, native, cold, to_free):
    spoken = Spoken(native=native)
    for number, steps in enumerate(turns):
        spoken.turn(f"t{number}", *steps)
    chosen = planned(spoken, cold=cold)
    again = planned(spoken, cold=cold)
    assert chosen == again, "the same inputs, the same plan"
    assert len(set(chosen)) == len(chosen)
    results = [message.id for message in spoken.record if message.role == "tool"]
    assert not {what.message_id for what in chosen if what.part == "result"} & set(results[-NEWEST:])
    shown = demoted(spoken.full, set(chosen), {message.id: message for message in spoken.record})
    for before, after in zip(spoken.full, shown, strict=True):
        if before.id in ids(chosen):
            assert message_tokens(before) - message_tokens(after) >= WORTH
        else:
            assert after is before
    batch = thin(shown, set(chosen), to_free=to_free)
    assert not set(batch) & set(chosen)
    thinned = demoted(shown, {*chosen, *batch})
    everything = thin(shown, set(chosen), to_free=10**9)
    freed = sum(map(message_tokens, shown)) - sum(map(message_tokens, thinned))
    assert freed >= to_free or set(batch) == set(everything)


def beside(spoken: Spoken, turn: str, **texts: str) -> Spoken:
    """The chat with texts behind the question of that turn."""
    asides = tuple(Fragment(name, text) for name, text in texts.items())
    for messages in (spoken.record, spoken.full):
        place = next(place for place, message in enumerate(messages) if message.id == f"user_{turn}")
        messages[place] = replace(messages[place], metadata=Metadata(asides=asides))
    return spoken


WORDS = "what earlier chats left behind that may matter here " * 20


def test_what_stands_behind_an_older_question_is_stale_but_for_the_newest_profile():
    spoken = long_chat()
    for number in range(4):
        beside(spoken, f"t{number}", memories=WORDS)
    for number in (4, 5):
        beside(spoken, f"t{number}", profile=WORDS)
    chosen = planned(spoken, cold=True)
    gone = [what.message_id for what in chosen if what.part == "aside"]
    assert gone == ["user_t0", "user_t1", "user_t2", "user_t3", "user_t4"], "the profile would only be said again"
    freed = total(spoken.record) - total(demoted(spoken.record, set(chosen)))
    bare = long_chat()
    assert freed > total(bare.record) - total(demoted(bare.record, set(planned(bare, cold=True)))) + 1_000
