"""What each strategy shows of a past: whole rounds, the newest first, within its room (B-1, B-3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.context.builder import Gathered, build
from codelaw.context.past.projection import project
from codelaw.context.past.strategies import Resolved, Selection, resolve, round_tokens
from codelaw.domain.checkpoints import Checkpoint, Demotion, ThreadSummary
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.transcript.transcript import Transcript, rounds

NAMES: tuple[Resolved, ...] = get_args(Resolved)


def a_round(number: int, calls: int = 0, words: int = 3) -> list[Message]:
    turn = f"t{number}"
    said = [Message(f"ask_{turn}", turn, "user", f"question {number} " + "word " * words)]
    for step in range(calls):
        call = Call(f"c{number}_{step}", "LS", {"path": f"d{step}"})
        content = f'Thought: look\nAction: LS[{{"path": "d{step}"}}]'
        said.append(Message(f"say_{turn}_{step}", turn, "assistant", content, Metadata(step=step, calls=(call,))))
        facts = Metadata(step=step, tool_name="LS", call_id=call.id, ref=f"r{number}_{step}")
        said.append(Message(f"got_{turn}_{step}", turn, "tool", '{"status": "success", "data": {}}', facts))
    said.append(Message(f"end_{turn}", turn, "assistant", f"answer {number}", Metadata(answer=f"answer {number}")))
    return said


def chat(count: int, calls: int = 0, words: int = 3) -> Transcript:
    transcript = Transcript()
    for number in range(count):
        transcript = transcript.ended(a_round(number, calls, words), f"t{number}", float(number))
    return transcript


def shown(transcript: Transcript, selection: Selection) -> list[int]:
    """The numbers of the rounds that are shown, each of them whole."""
    history = project(transcript, selection)
    messages = history.rounds.messages if history.rounds is not None else ()
    whole = {round_.turn_id: len(round_.messages) for round_ in rounds(transcript.messages)}
    found = rounds(messages)
    assert all(len(round_.messages) == whole[round_.turn_id] for round_ in found), "rounds are never parted"
    return [int(round_.turn_id[1:]) for round_ in found]


@pytest.mark.parametrize(
    ("messages", "chosen"),
    [
        (0, "full"), (19, "full"), (20, "last-n"), (49, "last-n"), (50, "summary+recent"), (100, "summary+recent"),
        (101, "span-retrieval"), (10_000, "span-retrieval"),
    ],
)  # fmt: skip
def test_auto_chooses_by_the_number_of_messages(messages: int, chosen: str):
    assert resolve("auto", messages) == chosen
    assert resolve("layered", messages) == "layered"


def test_full_shows_every_round_whatever_was_archived_or_demoted():
    transcript = chat(6, calls=2)
    summary = Message("s", "t2", "summary", "SUMMARY")
    thinned = Demotion("got_t4_0", "result")
    transcript = transcript.reshaped(Checkpoint("c", "t3", 0.0, 3, summary, demotions=(thinned,)), ())
    assert shown(transcript, Selection("layered")) == [3, 4, 5]
    assert shown(transcript, Selection("full")) == [0, 1, 2, 3, 4, 5]
    history = project(transcript, Selection("full"))
    assert history.summaries is None
    assert history.rounds.messages == transcript.messages
    assert not any(entry.name == "archived rounds" for entry in history.dropped)


@pytest.mark.parametrize(
    ("calls", "count", "kept"),
    [
        (0, 40, 15),  # 2 messages a round: exactly 30
        (1, 40, 8),  # 4 a round: 32 is the first whole number of rounds that holds 30
        (20, 3, 1),  # 42 a round: one is more than enough
        (0, 10, 10),  # fewer than 30: all
    ],
)
def test_last_n_shows_the_newest_thirty_messages_rounded_outward_to_rounds(calls: int, count: int, kept: int):
    numbers = shown(chat(count, calls), Selection("last-n"))
    assert numbers == list(range(count - kept, count))


@pytest.mark.parametrize("name", ["summary+recent", "span-retrieval"])
@pytest.mark.parametrize(
    ("calls", "least", "most", "kept"),
    [
        (0, 4, 20, 10),
        (1, 4, 20, 5),
        (2, 4, 20, 3),  # 6 a round: 18, not 24
        (10, 4, 20, 1),  # 22 a round: the newest stays all the same
        (0, 4, 3, 2),  # the least beats the most
        (0, 0, 1, 1),
    ],
)
def test_recents_are_whole_rounds_between_the_least_and_the_most_messages(
    name: Resolved, calls: int, least: int, most: int, kept: int
):
    numbers = shown(chat(30, calls), Selection(name, recent_min=least, recent_max=most))
    assert numbers == list(range(30 - kept, 30))


def test_a_sliding_window_without_a_summary_shows_the_newest_rounds():
    assert shown(chat(50), Selection("sliding-window", summary=False)) == list(range(30, 50))
    assert shown(chat(50), Selection("sliding-window", summary=False, rounds=3)) == [47, 48, 49]


@pytest.mark.parametrize("covers", [0, 9, 25, 38])
def test_a_sliding_window_begins_where_its_summary_ends(covers: int):
    """No round is in both, and none in neither, whether the summary runs ahead or lags behind."""
    thread = ThreadSummary("so far", f"t{covers}", 0.0)
    transcript = chat(50).summarised(thread)
    assert shown(transcript, Selection("sliding-window", thread=thread)) == list(range(covers + 1, 50))
    history = project(transcript, Selection("sliding-window", thread=thread))
    assert not any(entry.name == "not summarised" for entry in history.dropped)


@pytest.mark.parametrize("covers", [40, 47, 49])
def test_a_sliding_window_that_its_summary_leaves_half_empty_is_filled_with_the_newest_rounds(covers: int):
    thread = ThreadSummary("so far", f"t{covers}", 0.0)
    transcript = chat(50).summarised(thread)
    assert shown(transcript, Selection("sliding-window", thread=thread)) == list(range(30, 50))
    room = sum(map(round_tokens, rounds(transcript.messages)[-12:]))
    expected = list(range(38, 50)) if covers > 43 else list(range(41, 50))
    assert shown(transcript, Selection("sliding-window", thread=thread, room=room, rounds=18)) == expected
    history = project(transcript, Selection("sliding-window", thread=thread))
    assert not any(entry.name == "not summarised" for entry in history.dropped)


@pytest.mark.parametrize("name", ["summary+recent", "sliding-window"])
def test_the_rolling_summary_stands_before_the_rounds_and_older_archives_are_part_of_it(name: Resolved):
    transcript = chat(30)
    archive = Message("s", "t4", "summary", "ARCHIVE")
    transcript = transcript.reshaped(Checkpoint("c", "t5", 0.0, 5, archive), ())
    before = project(transcript, Selection(name))
    assert [message.content for message in before.summaries.messages] == ["ARCHIVE"]
    assert any(entry.name == "not summarised" for entry in before.dropped) == (name == "summary+recent")
    thread = ThreadSummary("what was said so far", "t19", 0.0)
    transcript = transcript.summarised(thread)
    history = project(transcript, Selection(name, thread=thread))
    assert [message.id for message in history.summaries.messages] == ["thread_t19"]
    assert "what was said so far" in history.summaries.rendered
    assert not any(entry.name == "not summarised" for entry in history.dropped)


def test_a_rolling_summary_of_a_turn_that_was_withdrawn_is_not_shown():
    thread = ThreadSummary("so far", "t9", 0.0)
    selection = Selection("summary+recent", thread=thread)
    transcript = chat(30).summarised(thread)
    assert project(transcript.without("t15"), selection).summaries is not None
    assert project(transcript.without("t9"), selection).summaries is None
    assert project(transcript.without("t3"), selection).summaries is None
    assert transcript.without("t3").thread is None


def test_a_summary_written_while_a_turn_runs_is_shown_by_the_next():
    old, new = ThreadSummary("OLD", "t9", 0.0), ThreadSummary("NEW", "t19", 1.0)
    history = project(chat(30).summarised(new), Selection("summary+recent", thread=old))
    assert "OLD" in history.summaries.rendered
    assert "NEW" not in history.summaries.rendered


def test_a_rolling_summary_is_cut_at_a_line_to_its_share():
    thread = ThreadSummary("\n".join(f"line {number} of what was said" for number in range(200)), "t9", 0.0)
    history = project(chat(30).summarised(thread), Selection("summary+recent", thread=thread, summary_room=150))
    assert history.summaries.tokens <= 150
    assert history.summaries.rendered.endswith("\n…")
    assert "line 0 of" in history.summaries.rendered


def test_over_budget_recents_are_cut_to_the_newest_that_fit_and_never_dropped_whole():
    transcript = chat(40, words=50)
    one = round_tokens(rounds(transcript.messages)[-1])
    assert shown(transcript, Selection("last-n", room=one * 3 + 10)) == [37, 38, 39]
    assert shown(transcript, Selection("last-n", room=0)) == [39]
    history = project(transcript, Selection("last-n", room=one * 3 + 10))
    assert [entry.name for entry in history.dropped] == ["rounds left out", "rounds over budget"]


SIZES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 60)), min_size=1, max_size=40)


@given(
    sizes=SIZES,
    name=st.sampled_from(NAMES),
    room=st.none() | st.integers(0, 3_000),
    limit=st.integers(0, 12),
    measures=st.tuples(st.integers(0, 12), st.integers(1, 40), st.integers(1, 30)),
)
def test_whatever_the_strategy_rounds_are_whole_the_newest_first_and_within_the_room(
    sizes: Sequence[tuple[int, int]], name: Resolved, room: int | None, limit: int, measures: tuple[int, int, int]
):
    transcript = Transcript()
    for number, (calls, words) in enumerate(sizes):
        transcript = transcript.ended(a_round(number, calls, words), f"t{number}", float(number))
    least, most, window = measures
    selection = Selection(name, limit=limit, room=room, recent_min=least, recent_max=most, rounds=window, summary=False)
    numbers = shown(transcript, selection)
    assert numbers == list(range(len(sizes) - len(numbers), len(sizes))), "an unbroken end of the chat"
    assert numbers, "the newest round stays"
    history = project(transcript, selection)
    if room is not None and len(numbers) > 1:
        assert history.rounds.tokens <= room
    left_out = len(sizes) - len(numbers)
    assert bool(left_out) == any("rounds" in entry.name for entry in history.dropped)
    again = project(transcript, selection)
    assert again.rounds.messages == history.rounds.messages
    assert again.dropped == history.dropped
    question = transcript.messages[-2] if transcript.messages[-2].role == "user" else Message("q", "q", "user", "now")
    view = build(history, (), question, Gathered(()))
    ids = [message.id for section in view.sections for message in section.messages]
    assert ids.count(question.id) == 1, "the question once, whatever was dropped (L-7)"
