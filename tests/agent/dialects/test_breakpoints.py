"""Four breakpoints that find what the request before has left, by the rules of a vendor's look-back (L-6)."""

from __future__ import annotations

from collections.abc import Sequence

from codelaw.agent.dialects.spelling import LOOKBACK, Layout, marked, places
from codelaw.domain.messages import KeptItem, KeptItems
from codelaw.domain.models import ApiMessage, KeptBlock, ResultBlock, TextBlock, Ttl


def layout(settled=0, reused=(), *, newest_round=0, rounds=0, step=None, end=None) -> Layout:
    step = rounds if step is None else step
    return Layout(settled, reused, newest_round, rounds, step, step + 2 if end is None else end)


def test_a_step_has_one_behind_what_is_settled_one_behind_the_rounds_and_one_at_its_end():
    assert places(layout(30, rounds=60, step=64), first=False) == (30, 60, 66)
    assert places(layout(rounds=60, step=64), first=False) == (60, 66), "nothing is settled yet"
    assert places(layout(end=1), first=True) == (1,), "the very first request"


def test_the_first_request_after_a_batch_reads_up_to_what_was_settled_and_to_what_has_changed():
    after = layout(50, (30, 44), newest_round=58, rounds=60)
    assert places(after, first=True) == (30, 44, 62)
    assert places(after, first=False) == (50, 60, 62), "from then on it reads what that request has written"


def test_after_a_batch_that_leaves_nothing_the_usual_ones_stand():
    assert places(layout(50, (0, 0), newest_round=58, rounds=60), first=True) == (50, 60, 62)


def test_a_step_of_many_parallel_calls_still_finds_the_step_before():
    wide = layout(30, rounds=60, step=64, end=64 + LOOKBACK)
    assert places(wide, first=False) == (30, 64, 64 + LOOKBACK)


def test_after_a_long_round_the_next_turn_also_looks_where_that_round_began():
    """What stood beside the question is gone, so that nothing behind it is read again."""
    assert places(layout(10, newest_round=30, rounds=60), first=True) == (10, 30, 62)
    assert places(layout(10, newest_round=30, rounds=60), first=False) == (10, 60, 62)


def test_where_rounds_are_kept_for_an_hour_their_end_is_written_while_it_is_new():
    long = layout(10, newest_round=30, rounds=60)
    assert places(long, first=True, hour=True) == (30, 60, 62)
    assert places(layout(10, newest_round=55, rounds=60), first=True, hour=True) == (10, 60, 62), "it is near"


def test_a_breakpoint_ends_the_block_that_it_is_said_of():
    said = [
        ApiMessage("user", (TextBlock("a"), TextBlock("b"))),
        ApiMessage("assistant", (TextBlock("c"),)),
        ApiMessage("user", (ResultBlock("k", "d"), ResultBlock("l", "e"))),
    ]
    assert ttls_of(said, (1, 5), ("1h", "5m")) == [["1h", None], [None], [None, "5m"]]
    assert ttls_of(said, (4, 5), ("5m", "5m"))[2] == ["5m", "5m"]
    assert ttls_of(said, (), ()) == [[None, None], [None], [None, None]]


def test_thinking_and_empty_text_get_none():
    thought = KeptItem("{}")
    kept = KeptBlock(thought, KeptItems("maker", (thought,)))
    said = [ApiMessage("assistant", (TextBlock("a"), TextBlock(" "), kept)), ApiMessage("assistant", (kept,))]
    assert ttls_of(said, (3, 4), ("5m", "5m")) == [["5m", None, None], [None]]


def ttls_of(said: list[ApiMessage], ends: Sequence[int], ttls: Sequence[Ttl]) -> list[list[str | None]]:
    messages = [*said]
    marked(messages, ends, ttls)
    return [[getattr(block, "breakpoint", None) for block in message.blocks] for message in messages]
