"""When old messages are shown as one line, and which (C-6, K-8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from codelaw.context.sections import message_tokens
from codelaw.context.shortening.demotion import demotable, demoted
from codelaw.context.shortening.economy import BEHIND, CARRIED, LARGEST, NEWEST, REWRITTEN, WORTH, anchors, plan, thin
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.messages import Fragment, Message, Metadata
from tests.context.spoken import Spoken, bash, edit, read

NONE = frozenset[Demotion]()


def total(messages) -> int:
    return sum(map(message_tokens, messages))


def planned(spoken: Spoken, already=NONE, **given) -> tuple[Demotion, ...]:
    asked: dict[str, Any] = {"context_tokens": 100_000, "demote_tokens": 5_000} | given
    return plan(spoken.record, already, **asked)


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


def test_all_that_is_stale_goes_in_one_batch_when_carrying_it_costs_more_than_writing_what_follows():
    spoken = long_chat()
    chosen = planned(spoken)
    assert "result_t0_1" in ids(chosen)
    assert "say_t0_3" in ids(chosen), "large arguments of calls too"
    order = [message.id for message in spoken.record]
    assert ids(chosen) == sorted(ids(chosen), key=order.index), "oldest first"
    freed = total(spoken.record) - total(demoted(spoken.record, set(chosen)))
    first = order.index(chosen[0].message_id)
    written = total(demoted(spoken.record, set(chosen))[first:])
    assert CARRIED * freed >= REWRITTEN * written
    assert planned(spoken, demote_tokens=freed) == chosen
    assert planned(spoken, demote_tokens=freed + 1) == ()


def test_what_was_demoted_is_not_planned_again():
    spoken = long_chat()
    chosen = frozenset(planned(spoken))
    assert planned(spoken, chosen) == ()
    assert planned(spoken, chosen, cold=True) == ()


def test_a_small_context_is_left_alone():
    assert planned(long_chat(), context_tokens=19_999, cold=True) == ()
    assert planned(long_chat(), context_tokens=19_999, floor=10_000, cold=True) != ()
    assert planned(Spoken(), cold=True) == ()


def test_a_cold_cache_makes_any_gain_worth_it():
    spoken = long_chat()
    assert planned(spoken, demote_tokens=10**9, cold=True) == planned(spoken, demote_tokens=0)


def test_a_little_that_is_stale_before_much_that_stays_is_carried_on():
    spoken = Spoken().turn("t0", bash("make", lines=90))
    spoken.record.append(Message("plan", "t1", "user", "a long plan " * 4_000))
    spoken.turn("t2", *(bash(f"step {number}") for number in range(NEWEST)))
    assert planned(spoken, demote_tokens=1) == ()
    assert ids(planned(spoken, demote_tokens=1, cold=True)) == ["result_t0_1"], "it costs nothing when it is cold"


def test_what_pays_only_from_its_middle_on_is_demoted_from_there():
    spoken = Spoken().turn("t0", bash("make", lines=20))
    spoken.full.append(Message("plan", "t1", "user", "a long plan " * 4_000))
    spoken.turn("t2", *(bash(f"step {number}", lines=200) for number in range(8)))
    chosen = plan(spoken.full, NONE, context_tokens=100_000, demote_tokens=1)
    assert ids(chosen) == [f"result_t2_{number}" for number in range(1, 9 - NEWEST)]


def test_the_newest_results_stay_whatever_they_are():
    spoken = Spoken().turn("t", *(bash(f"step {number}") for number in range(30)))
    results = [message.id for message in spoken.record if message.role == "tool"]
    assert ids(planned(spoken, cold=True)) == results[:-NEWEST]


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


def test_a_failed_read_does_not_take_the_place_of_the_one_that_worked():
    tool, arguments, _ = read("a.py")
    failed = tool, arguments, bash("", failed=True)[2]
    spoken = Spoken().turn("t", read("a.py"), failed, *(bash(f"a {n}") for n in range(12)))
    assert "result_t_1" not in ids(planned(spoken, cold=True))


def test_the_working_set_is_bounded_the_newest_reads_first():
    spoken = Spoken().turn("t0", *(read(f"f{n}.py", lines=400) for n in range(9)), *(bash(f"a {n}") for n in range(10)))
    room = 30_000
    kept = [
        m
        for m in spoken.record
        if m.role == "tool" and m.id not in ids(planned(spoken, cold=True, context_tokens=3 * room, floor=0))
    ]
    reads = [message for message in kept if message.metadata.tool_name == "Read"]
    assert 0 < total(reads) <= room
    assert [message.id for message in reads] == [f"result_t0_{n}" for n in range(10 - len(reads), 10)]


def test_a_result_too_large_for_the_working_set_goes_though_its_file_was_touched_just_now():
    spoken = long_chat().turn("t", read("large.py", LARGEST // 10), read("small.py"), bash("make"))
    sizes = {message.id: message_tokens(message) for message in spoken.record}
    assert sizes["result_t_1"] > LARGEST
    chosen = ids(planned(spoken, cold=True))
    assert "result_t_1" in chosen
    assert "result_t_2" not in chosen


def test_steers_and_answers_and_user_texts_are_never_planned():
    spoken = long_chat()
    kinds = {message.id: demotable(message) for message in spoken.record}
    assert all(kinds[what.message_id] == what for what in planned(spoken, cold=True))


# ---------------------------------------------------------------------------------------------- what cannot change


def test_a_batch_begins_at_an_anchor_or_behind_all_that_was_shortened():
    spoken = long_chat()
    assert anchors(spoken.record, NONE) == (2,), "the question and the first call"
    chosen = frozenset(planned(spoken))
    shown = demoted(spoken.record, chosen)
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


def test_a_chat_of_small_results_is_settled_to_its_end():
    spoken = Spoken().turn("t", bash("true", lines=1), bash("true", lines=1))
    assert anchors(spoken.record, NONE) == (len(spoken.record),)
    assert anchors([], NONE) == (0,)


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


@given(
    st.lists(STEPS, max_size=6), st.booleans(), st.booleans(), st.integers(0, 30_000), st.sampled_from([0, 500, 4_000])
)
def test_any_plan_frees_what_it_promises_and_touches_only_what_it_may(turns, native, cold, to_free, least):
    spoken = Spoken(native=native)
    for number, steps in enumerate(turns):
        spoken.turn(f"t{number}", *steps)
    chosen = planned(spoken, demote_tokens=least, cold=cold, floor=0)
    again = planned(spoken, demote_tokens=least, cold=cold, floor=0)
    assert chosen == again, "the same inputs, the same plan"
    assert len(set(chosen)) == len(chosen)
    results = [message.id for message in spoken.record if message.role == "tool"]
    assert not {what.message_id for what in chosen if what.part == "result"} & set(results[-NEWEST:])
    shown = demoted(spoken.record, set(chosen))
    for before, after in zip(spoken.record, shown, strict=True):
        if demotable(before) in chosen:
            assert message_tokens(before) - message_tokens(after) >= WORTH
        else:
            assert after is before
    batch = thin(spoken.record, set(chosen), to_free=to_free)
    assert not set(batch) & set(chosen)
    thinned = demoted(spoken.record, {*chosen, *batch})
    everything = thin(spoken.record, set(chosen), to_free=10**9)
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


def test_what_stands_behind_a_result_goes_with_it_and_stays_with_the_working_set():
    spoken = Spoken().turn("t", read("old.py"), *(bash(f"step {number}") for number in range(20)), read("new.py"))
    rules = Fragment("agents:AGENTS.md", WORDS)
    results = [place for place, message in enumerate(spoken.record) if message.metadata.tool_name == "Read"]
    for place in results:
        facts = replace(spoken.record[place].metadata, asides=(rules,))
        spoken.record[place] = replace(spoken.record[place], metadata=facts)
    shown = demoted(spoken.record, set(planned(spoken, demote_tokens=1, cold=True)))
    assert [bool(shown[place].metadata.asides) for place in results] == [False, True]


def test_a_batch_may_begin_where_something_stands_behind_a_question():
    spoken = beside(Spoken().turn("a", answer="x").turn("b", answer="y"), "b", memories=WORDS)
    assert anchors(spoken.record, NONE) == (2,)
    assert anchors(spoken.record, {Demotion("user_b", "aside")}) == (4,)
    assert anchors(beside(spoken, "b", profile=WORDS).record, NONE) == (4,), "the profile stays"
