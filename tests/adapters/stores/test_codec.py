from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import fields
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.adapters.stores.rows.codec import (
    Unreadable,
    decoder,
    from_text,
    legible,
    plain,
    salvaged,
    storable,
    to_text,
    whole,
)
from codelaw.domain import events
from codelaw.domain.messages import Message, Metadata

TEXT = st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture(scope="module", autouse=True)
def _any_mapping_is_json():
    from collections.abc import Mapping

    st.register_type_strategy(Mapping, st.dictionaries(TEXT, JSON, max_size=3))
    st.register_type_strategy(str, TEXT)
    st.register_type_strategy(float, st.floats(allow_nan=False))


@given(st.data())
def test_every_event_comes_back(data):
    event = data.draw(st.one_of([st.from_type(kind) for kind in get_args(events.Event)]))
    assert decoder(events.Event)(_through(event)) == event
    assert type(decoder(events.Event)(_through(event))) is type(event)


@given(st.data())
def test_every_message_comes_back(data):
    message = data.draw(st.from_type(Message))
    assert from_text(Message, storable(to_text(message))) == message


@given(TEXT)
def test_any_text_is_storable(text):
    assert whole(storable(text)) == text


def _through(value):
    return json.loads(whole(storable(to_text(value))))


def test_two_halves_do_not_become_one_character():
    assert from_text(str, storable(to_text("\ud83d\ude00"))) == "\ud83d\ude00"
    assert storable("\ud83d\ude00") == b"\xed\xa0\xbd\xed\xb8\x80"


def test_defaults_are_left_out_and_unknown_fields_ignored():
    assert to_text(events.ThoughtDelta("a", 1)) == '{"delta":"a","step":1,"kind":"thought"}'
    assert to_text(events.TurnStarted("a")) == '{"text":"a","kind":"turn_started"}'
    assert decoder(events.Event)({"kind": "thought", "delta": "a", "step": 1, "later": 2}) == events.ThoughtDelta(
        "a", 1
    )


@given(TEXT | st.binary(max_size=30) | JSON.map(to_text).map(storable))
def test_any_stored_text_is_read_or_unreadable(stored):
    for kind in (Message, events.TurnEnded, tuple[events.Mention, ...]):
        with suppress(Unreadable):
            from_text(kind, stored)
    assert isinstance(salvaged(Metadata, stored), Metadata)
    assert isinstance(legible(stored), str)


@given(st.data())
def test_what_is_read_is_what_would_be_written(data):
    """Any JSON in the place of a field: either the field's own type, or no value at all."""
    written = json.loads(whole(storable(to_text(data.draw(st.from_type(Metadata))))))
    written[data.draw(st.sampled_from([field.name for field in fields(Metadata)]))] = data.draw(JSON)
    text = storable(to_text(written))
    kept = salvaged(Metadata, text)
    assert from_text(Metadata, storable(to_text(kept))) == kept
    try:
        assert from_text(Metadata, text) == kept
    except Unreadable:
        assert plain(kept) != written
