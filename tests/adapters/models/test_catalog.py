"""Profiles by name."""

from __future__ import annotations

import json
from dataclasses import astuple, replace
from importlib.resources import files
from typing import get_args

import pytest

from codelaw.adapters.models.catalog import OFFLINE_MODEL, profile, profiles
from codelaw.domain.models import DEFAULT_MODEL


def test_every_model_the_sdk_names_has_a_profile() -> None:
    from anthropic.types import model as sdk

    names = get_args(get_args(sdk.Model)[0])
    assert len(names) > 15
    assert [name for name in names if profile(name) is None] == []


@pytest.mark.parametrize(
    ("name", "provider", "window", "output", "paid"),
    [
        ("claude-haiku-4-5", "anthropic", 200_000, 64_000, (1, 5, 0.1, 1.25)),
        ("claude-haiku-5-5", "anthropic", 200_000, 128_000, (0.1, 0.5, 0.01, 0.125)),
        ("openrouter/anthropic/claude-sonnet-4.5", "anthropic", 200_000, 64_000, (3, 15, 0.3, 3.75)),
        ("vertex_ai/claude-sonnet-5-5@default", "anthropic", 200_000, 128_000, (2, 10, 0.1, 2.5)),
        ("claude-3-5-sonnet-v2@20241022", "anthropic", 200_000, 8_192, (3, 15, 0.3, 3.75)),
        (
            "bedrock/converse/anthropic.claude-sonnet-4-5-20250929-v1:0",
            "anthropic",
            200_000,
            64_000,
            (3, 15, 0.3, 3.75),
        ),
        ("bedrock/eu-west-1/anthropic.claude-haiku-4-5", "anthropic", 200_000, 64_000, (1, 5, 0.1, 1.25)),
        ("gpt-4o", "openai", 128_000, 16_384, (2.5, 10, 1.25, 2.5)),
        ("gpt-4o-2024-05-13", "openai", 128_000, 4_096, (5, 15, 5, 5)),
        ("azure/gpt-4o", "openai", 128_000, 16_384, (2.5, 10, 1.25, 2.5)),
        ("azure/gpt-5.1-codex", "openai", 272_000, 128_000, (1.25, 10, 0.125, 1.25)),
        ("vertex_ai/gemini-2.5-pro", "google", 1_048_576, 65_536, (1.25, 10, 0.125, 1.25)),
        ("deepseek-chat", "deepseek", 131_072, 8_192, None),
        ("moonshotai/kimi-k2.5", "moonshot", 262_144, 262_144, (0.6, 3, 0.1, 0.6)),
        ("glm-4.5-flash", "zai", 128_000, 32_000, "none"),
        ("mistral-large-latest", "mistral", 262_144, 262_144, None),
        ("meta.llama3-3-70b-instruct-v1:0", "meta", 128_000, 4_096, (0.72, 0.72, 0.72, 0.72)),
        ("us.amazon.nova-pro-v1:0", "amazon", 300_000, 10_000, None),
    ],
)
def test_models_of_many_vendors_are_known(name, provider, window, output, paid) -> None:
    found = profile(name)
    assert found is not None
    assert (found.name, found.provider, found.context_window, found.max_output) == (name, provider, window, output)
    if paid == "none":
        assert found.prices is None, "what costs nothing in a list has no price that could be trusted"
    else:
        assert found.prices is not None
        assert paid is None or astuple(found.prices)[:4] == paid
        assert (found.prices.search > 0) == (provider == "anthropic")


@pytest.mark.parametrize(
    "name",
    [
        "",
        "gpt-9",
        "claude-sonnet",
        "my-claude-sonnet-5-5",
        "claude-sonnet-5-5-mine",
        "my-proxy/claude-sonnet-5-5",
        "openai/claude-sonnet-5-5",
        "gpt-4o-v1:0",
        "groq/llama-3.3-70b-instruct",
        "openrouter/moonshotai/kimi-k2.5",
        "-latest",
        "a\0b\ud800",
    ],
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


def test_there_are_more_than_two_hundred_models_of_many_vendors() -> None:
    table = profiles()
    own = [known for known in table if "/" not in known.name]
    assert len({known.name.lower() for known in own}) == len(own) > 300
    assert len({known.provider for known in own}) > 12
    assert table[0].name == DEFAULT_MODEL, "ours stand first"


def test_every_entry_is_sane_and_found_by_its_own_name() -> None:
    for known in profiles():
        assert known.context_window >= known.max_output > 0, known
        assert profile(known.name) is known
        assert profile(known.name.upper()) == replace(known, name=known.name.upper())
        if known.prices is not None:
            # A price of nothing is a price that nobody wrote down.
            assert min(astuple(known.prices)[:4]) > 0, known
            assert known.prices.cache_read <= known.prices.input <= 1000, known


def test_the_data_is_small_says_where_it_is_from_and_has_one_model_on_a_line() -> None:
    text = files("codelaw").joinpath("data", "models.json").read_text(encoding="utf-8")
    data = json.loads(text)
    assert len(text) < 150_000
    assert "litellm" in data["source"]
    assert "MIT" in data["licence"]
    assert "://" not in text
    assert [json.loads(line.rstrip(",")) for line in text.splitlines() if line.startswith('{"')] == data["models"]
