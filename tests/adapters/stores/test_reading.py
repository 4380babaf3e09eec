"""Values of the rows of a long chat: each row costs little, and says what it would say alone (D-1)."""

from __future__ import annotations

import pytest

from codelaw.adapters.stores.rows import reading
from codelaw.adapters.stores.rows.checks import as_written, checksum, verify
from codelaw.adapters.stores.rows.codec import Unreadable
from codelaw.adapters.stores.rows.reading import Reading
from codelaw.adapters.stores.sqlite import connection
from tests.adapters.stores.suite import a_chat, a_turn, said

SOUND = ("m1", "t1", "assistant", "done", '{"step":2,"answer":"done"}', "c1", 3)


def row(values: tuple, check: object = "made") -> tuple:
    chat, fields = values[5], (*values[:5], values[6])
    return (*values, checksum(chat, *fields) if check == "made" else check)


def changed(place: int, value: object) -> tuple:
    return (*SOUND[:place], value, *SOUND[place + 1 :])


ROWS = [
    row(SOUND),
    row(SOUND, None),
    row(SOUND, 7),
    row(SOUND, "seven"),
    *(
        row(changed(place, value))
        for place in (0, 1, 2, 3, 4)
        for value in (b"\xff", "\ud800", "half \ud800", "", "user")
    ),
    *(row(changed(4, value)) for value in ("{}", "{", "[]", '{"step":"x"}', "[" * 100_000)),
    *(row(changed(5, value)) for value in (b"\xff", "\ud800")),
    *(row(changed(6, value)) for value in (None, -1, 10**15, 10**17, 2**63 - 1, "1", 1.0)),
    *((*changed(place, "other"), checksum("c1", *SOUND[:5], 3)) for place in (0, 1, 3, 4, 5)),
    *((*changed(place, 4.0 if place == 6 else b"user"), None) for place in (0, 1, 2, 3, 4, 6)),
]


@pytest.mark.parametrize("one", ROWS, ids=range(len(ROWS)))
def test_a_row_among_many_says_what_it_says_alone(one):
    alone, among = Reading(), Reading()
    value = alone.message(one)
    before, after = row(SOUND), row(changed(0, "m2"))
    assert among.messages([before, one, after]) == (
        Reading().message(before),
        *(() if value is None else (value,)),
        Reading().message(after),
    )
    assert among.losses == alone.losses


@pytest.mark.parametrize("number", [0, 1, 999_999_999_999_999, 10**15, -1])
def test_a_checksum_is_the_same_by_the_quick_way(number):
    written = checksum("c1", "a", "b\n", "\N{EURO SIGN}", number)
    verify(written, "c1", "a", "b\n", "\N{EURO SIGN}", number)
    assert as_written(written, "c1", "a", "b\n", "\N{EURO SIGN}", number) == (0 <= number < 10**15)
    assert not as_written(written ^ 1, "c1", "a", "b\n", "\N{EURO SIGN}", number)
    with pytest.raises(Unreadable):
        verify(written ^ 1, "c1", "a", "b\n", "\N{EURO SIGN}", number)


def test_the_checksum_of_a_message_stays_what_it_was():
    assert checksum("c1", *SOUND[:5], 3) == 3_777_721_147


async def test_a_sound_chat_is_read_the_short_way(open_store, monkeypatch):
    store = await open_store()
    await store.create(a_chat())
    await store.begin_turn(a_turn(store), said("m0"))
    more = [said(f"m{number}", role="assistant", step=number) for number in range(1, 300)]
    await store.append("c1", more)
    work = []
    for module, name in (
        (connection, "text_or_bytes"),
        (reading, "verify"),
        (reading, "whole"),
        (reading, "from_text"),
    ):
        kept = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given, name=name, kept=kept: work.append(name) or kept(*given))
    loaded = await store.load("c1")
    assert list(loaded.messages) == [said("m0"), *more]
    assert (work.count("text_or_bytes"), work.count("verify") < 10, work.count("whole") < 20) == (0, True, True)
    assert work.count("from_text") < 310, "metadata that says nothing is not parsed"
