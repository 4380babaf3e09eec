from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.adapters.stores.codec import decoder, from_text, storable, to_text, whole
from codelaw.domain import events
from codelaw.domain.messages import Message

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
    import json

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


def test_false_is_not_mistaken_for_zero():
    @dataclass(frozen=True)
    class Sample:
        value: object = 0

    assert to_text(Sample(value=False)) == '{"value":false}'


def test_a_type_outside_the_vocabulary_is_a_mistake():
    with pytest.raises(TypeError, match="no codec"):
        decoder(complex)
