"""Profiles by name."""

from __future__ import annotations

from typing import get_args

import pytest
from anthropic.types import model as sdk

from codelaw.adapters.models.catalog import DEFAULT_MODEL, OFFLINE_MODEL, profile, profiles


def test_every_model_the_sdk_names_has_a_profile() -> None:
    names = get_args(get_args(sdk.Model)[0])
    assert len(names) > 15
    assert [name for name in names if profile(name) is None] == []


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude-opus-4-5@20251101", "claude-opus-4-5"),
        ("us.anthropic.claude-opus-4-6-v1:0", "claude-opus-4-6"),
        ("anthropic/claude-sonnet-5-5", "claude-sonnet-5-5"),
        ("claude-sonnet-5-5[1m]", "claude-sonnet-5-5"),
    ],
)
def test_another_spelling_of_a_model_is_the_same_model(name: str, known: str) -> None:
    found, plain = profile(name), profile(known)
    assert found is not None
    assert plain is not None
    assert found.name == name
    assert (found.max_output, found.prices) == (plain.max_output, plain.prices)


@pytest.mark.parametrize(
    "name", ["", "gpt-9", "claude", "claude-sonnet", "my-claude-sonnet-5-5", "claude-sonnet-5-5-mine"]
)
def test_an_unknown_name_has_none(name: str) -> None:
    assert profile(name) is None


def test_the_default_has_the_window_of_the_specification() -> None:
    default, offline = profile(DEFAULT_MODEL), profile(OFFLINE_MODEL)
    assert default is not None
    assert offline is not None
    assert default.context_window == offline.context_window == 200_000
    assert default.prices is not None
    assert (offline.provider, offline.prices, offline.caching) == ("offline", None, False)


def test_names_are_unique_and_numbers_sensible() -> None:
    table = profiles()
    assert len({known.name for known in table}) == len(table) > 15
    for known in table:
        assert known.context_window > known.max_output > 0
        if known.prices is not None:
            assert known.prices.cache_read < known.prices.input < known.prices.cache_write < known.prices.output
