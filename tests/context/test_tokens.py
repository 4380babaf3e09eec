"""Estimates, calibration and what fits the window."""

from __future__ import annotations

import base64
import hashlib
import math
from pathlib import Path

import pytest

from codelaw.context import tokens
from codelaw.context.tokens import Window, guard, max_tokens, output_reserve, resolve_window
from codelaw.domain.models import ModelProfile

PROFILE = ModelProfile("m", "p", 200_000, 64_000)
SMALL = ModelProfile("s", "p", 32_768, 4_096)
NOISE = hashlib.shake_256(b"noise").digest(6000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 1),
        ("x" * 292, 100),
        ("The server answers. " * 146, 1000),
        ("漢" * 180, 100),
        ("한국어" * 60, 100),
        ("漢" * 18 + "x" * 29, 20),
        ("é" * 292, 100),
        ("─" * 292, 100),
    ],
)
def test_text_is_estimated_by_its_parts(text: str, expected: int) -> None:
    assert tokens.estimate(text) == expected
    assert tokens.estimate(text) == expected


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        (base64.b64encode(NOISE).decode(), 5454),
        (NOISE.hex(), 6790),
        (" ".join(str(number * 7919) for number in range(3000)), 11871),
    ],
)
def test_text_without_words_is_not_counted_short(text: str, exact: int) -> None:
    assert 0.9 * exact <= tokens.estimate(text) <= 1.6 * exact


def test_long_names_and_rulers_are_not_noise() -> None:
    for text in ("a_rather_long_name_in_snake_case_2_" * 10, "-" * 400, "/some/long/path/to/some/place/deep" * 10):
        assert tokens.estimate(text) == math.ceil(len(text) / 2.92)


def test_kinds_are_told_apart() -> None:
    prose, code, wide = tokens.kinds("Most words of a text like this one are letters, and few marks stand between.")
    assert prose > 20 * code
    assert wide == 0
    prose, code, wide = tokens.kinds(Path(tokens.__file__).read_text("utf-8"))
    assert code > prose
    assert wide < 2
    assert tokens.kinds("每个字都是一个字符，没有字母。" * 9)[2] > 70


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, Window(64_000, "default")),
        ({"profile": PROFILE}, Window(200_000, "profile")),
        ({"profile": PROFILE, "general": 100_000}, Window(100_000, "model.contextWindow")),
        (
            {"profile": PROFILE, "general": 100_000, "per_model": 1_000_000},
            Window(1_000_000, "models.<name>.contextWindow"),
        ),
        ({"per_model": 0, "general": -5, "profile": PROFILE}, Window(200_000, "profile")),
        ({"per_model": math.nan, "general": math.inf}, Window(64_000, "default")),
        ({"profile": PROFILE, "cap": 50_000}, Window(50_000, "profile", capped=True)),
        ({"profile": PROFILE, "cap": 500_000}, Window(200_000, "profile")),
        ({"profile": PROFILE, "cap": 0}, Window(200_000, "profile")),
        ({"profile": PROFILE, "cap": math.nan}, Window(200_000, "profile")),
        ({"cap": 1_000}, Window(1_000, "default", capped=True)),
        ({"general": 8_000.9}, Window(8_000, "model.contextWindow")),
    ],
)
def test_where_the_window_comes_from(given: dict[str, float], expected: Window) -> None:
    assert resolve_window(**given) == expected  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("window", "max_output", "profile", "expected"),
    [
        (200_000, None, PROFILE, 20_000),
        (200_000, 50_000, PROFILE, 20_000),
        (200_000, 8_000, PROFILE, 8_000),
        (100_000, None, PROFILE, 10_000),
        (64_000, None, None, 6_400),
        (200_000, None, None, 16_384),
        (200_000, None, SMALL, 4_096),
        (200_000, 0, SMALL, 4_096),
        (5, None, None, 1),
    ],
)
def test_the_output_reserve(window: int, max_output: int | None, profile: ModelProfile | None, expected: int) -> None:
    assert output_reserve(window, max_output=max_output, profile=profile) == expected


def test_what_is_sent_as_max_tokens() -> None:
    assert max_tokens(200_000, 16_384, 20_000) == 16_384
    assert max_tokens(200_000, 16_384, 190_000) == 10_000
    assert max_tokens(200_000, 16_384, 199_900) == 256, "what is left is not an answer"
    assert max_tokens(200_000, 16_384, 250_000) == 256
    assert max_tokens(200_000, 100, 250_000) == 100, "the user's own limit"


@pytest.mark.parametrize(
    ("window", "expected"), [(15_999, "block"), (16_000, "warn"), (31_999, "warn"), (32_000, "ok"), (200_000, "ok")]
)
def test_the_guard(window: int, expected: str) -> None:
    assert guard(window) == expected
