"""How long the vendor's cache is to keep what stays: by prices, and by how people pause (L-6)."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from codelaw.agent.model_calls.caching import Pauses, lasting, pauses
from codelaw.domain.models import Prices, Ttl
from tests.agent.conftest import Bench
from tests.agent.planning import Running, inputs_of

SONNET = Prices(2.0, 10.0, 0.1, 2.5, cache_write_1h=4.0)
BOTH: tuple[Ttl, ...] = ("5m", "1h")
DAY = 86_400.0


def auto(seen: Pauses, tokens: int = 60_000, prices: Prices | None = SONNET, offered: tuple[Ttl, ...] = BOTH) -> Ttl:
    return lasting("auto", offered, prices, seen, tokens)


def test_it_pays_where_people_pause_within_the_hour_and_not_where_they_stay_away():
    assert auto(Pauses(40, within=8, beyond=2)) == "1h"
    assert auto(Pauses(40, within=1, beyond=8)) == "5m", "what is forgotten anyway costs more to write"
    assert auto(Pauses(40)) == "5m", "steps outrun five minutes"


def test_a_new_user_begins_with_five_minutes_and_a_few_pauses_within_the_hour_change_that():
    assert auto(Pauses()) == "5m"
    assert [auto(Pauses(9, within=count)) for count in (1, 4)] == ["5m", "1h"]
    assert auto(Pauses(9, within=4, beyond=3)) == "5m"


def test_only_where_it_is_offered_and_its_price_is_known():
    seen = Pauses(10, within=8)
    assert auto(seen, offered=()) == auto(seen, prices=None) == auto(seen, prices=Prices(2, 10, 0.1, 2.5)) == "5m"
    assert lasting("1h", (), SONNET, seen, 60_000) == "5m"
    assert lasting("1h", BOTH, None, Pauses(), 0) == "1h"
    assert lasting("5m", BOTH, SONNET, seen, 60_000) == "5m"


def test_pauses_are_counted_within_each_chat():
    begun = [("a", 0.0), ("b", 100.0), ("a", 200.0), ("a", 1_000.0), ("b", 9_000.0), ("a", 4_600.0), ("c", 9.0)]
    assert pauses(begun) == Pauses(4, within=2, beyond=1)
    assert pauses(reversed(begun)) == pauses(begun)
    assert pauses(()) == Pauses()
    assert pauses(begun, (1_800.0, 43_200.0)) == Pauses(4, within=2), "of another vendor, by its own times"


def test_a_cache_that_was_told_to_keep_it_for_an_hour_is_not_cold_before():
    made = Running(inputs_of(32_000))
    made.last_active = DAY
    state = made.now.history
    assert [state.cold(DAY + 400, ttl) for ttl in BOTH] == [True, False], "nobody knows: as this turn's"
    made.ttl = "1h"
    assert [made.now.history.cold(DAY + at, "5m") for at in (400, 3_000, 4_000, -5)] == [False, False, True, True]
    assert [made.now.history.lapsed(DAY + at) for at in (200, 400, -5)] == [False, True, True], "the newest part is"
    longer = (1_800.0, 43_200.0)
    assert [made.now.history.cold(DAY + at, "5m", longer) for at in (4_000, 50_000)] == [False, True]
    assert [made.now.history.lapsed(DAY + at, longer) for at in (400, 2_000)] == [False, True]


def marks(body: dict[str, Any]) -> list[str]:
    """The ttl of each breakpoint, in the order of the request."""
    blocks = [*body["system"], *(block for message in body["messages"] for block in message["content"])]
    return [block["cache_control"].get("ttl", "5m") for block in blocks if "cache_control" in block]


@pytest.mark.parametrize("dialect", ["native"], indirect=True)
async def test_the_marks_in_front_last_an_hour_and_the_newest_five_minutes(bench: Bench):
    (bench.root / "a.py").write_text("x = 1\n")
    await bench.reopen(model={"name": "claude-sonnet-5-5", "cacheTtl": "1h"})
    bench.vendor.play(*(bench.finish(f"answer {number}") for number in range(3)))
    chat = (await bench.turn("one")).chat_id
    assert marks(bench.sent()) == ["1h", "1h", "5m"] or marks(bench.sent()) == ["1h", "5m"]
    await bench.turn("two", chat)
    bench.vendor.play(bench.act("Read", {"path": "a.py"}), bench.finish("done"))
    await bench.turn("three", chat)
    for sent in (bench.sent(-1), bench.sent(-2)):
        found = marks(sent)
        assert found == sorted(found), "the longer ones come first"
        assert found[0] == found[1] == "1h"
        assert found[-1] == "5m"
        assert len(found) <= 4


@pytest.mark.parametrize("dialect", ["native"], indirect=True)
async def test_pauses_of_earlier_chats_count_and_those_over_an_hour_speak_against_it(bench: Bench):
    await bench.reopen(model={"name": "claude-sonnet-5-5"})
    (bench.root / "CODE_LAW.md").write_text(
        "Be terse, and say what you mean. " * 4_000
    )  # so that it is worth something
    bench.vendor.play(*(bench.finish("Done.") for _ in range(7)))
    chat = (await bench.turn("one")).chat_id
    for text in ("two", "three", "four", "five"):
        await bench.turn(text, chat)
    begun(bench, 1_200.0)
    await bench.turn("hello")
    assert marks(bench.sent())[0] == "1h"
    begun(bench, 9_000.0)
    await bench.turn("hello")
    assert marks(bench.sent())[0] == "5m"


def begun(bench: Bench, apart: float) -> None:
    """Let the turns that there are have begun so many seconds one after the other."""
    with sqlite3.connect(bench.home / "codelaw.db") as database:
        database.execute("UPDATE turns SET started_at = position * ?", (apart,))
