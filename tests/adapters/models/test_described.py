"""What an endpoint says of a model, as a profile (W-5, P-6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from codelaw.adapters.models import catalog
from codelaw.adapters.models.catalog import described
from codelaw.domain.models import ModelProfile

YES, NO = {"supported": True}, {"supported": False}
TYPES = {"adaptive": YES, "between_tools": YES, "enabled": NO, "disabled": NO}
ANSWER: dict[str, Any] = {
    "type": "model",
    "id": "claude-new-9",
    "max_input_tokens": 1_000_000,
    "max_tokens": 256_000,
    "lifecycle": "active",
    "retires_at": None,
    "deprecated_at": None,
    "capabilities": {
        "image_input": YES,
        "thinking": {"supported": True, "types": TYPES},
        "effort": {"supported": True, "low": YES, "medium": YES, "high": YES, "xhigh": NO, "max": YES},
    },
}
NEW = ModelProfile(
    "claude-new-9",
    "anthropic",
    200_000,
    256_000,
    binds=True,
    images=True,
    largest_window=1_000_000,
    thinks="asked",
    thinking=("adaptive", "between_tools"),
    efforts=("low", "medium", "high", "max"),
)


def known(name: str) -> ModelProfile:
    found = catalog.profile(name)
    assert found is not None
    return found


def test_a_model_that_nobody_knew_has_a_profile_with_the_usual_window() -> None:
    assert described(ANSWER, "claude-new-9", None) == replace(NEW, max_output=256_000)


def test_what_is_known_stands_where_nothing_is_said() -> None:
    ours = known("claude-sonnet-5-5")
    reported = described({"max_input_tokens": 500_000}, ours.name, ours)
    assert reported == replace(ours, largest_window=500_000)
    assert reported is not None
    assert (reported.prices, reported.displays) == (ours.prices, ours.displays)


@pytest.mark.parametrize(
    "answer",
    [
        {"id": "claude-sonnet-5-5", "type": "model"},
        {"max_input_tokens": "many", "max_tokens": True, "capabilities": None},
        {"max_input_tokens": -1, "max_tokens": 0},
        {"max_input_tokens": 10**30},
        [],
        None,
        "claude",
    ],
)
def test_an_answer_that_says_nothing_changes_nothing(answer: object) -> None:
    assert described(answer, "claude-sonnet-5-5", known("claude-sonnet-5-5")) is None
    assert described(answer, "my-model", None) is None


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ({"lifecycle": "active", "retires_at": "2027-01-01T00:00:00Z"}, ""),
        ({"lifecycle": "deprecated", "retires_at": "2027-01-01T00:00:00Z"}, "2027-01-01"),
        ({"lifecycle": "retired", "deprecated_at": "2026-05-01T00:00:00Z"}, "2026-05-01"),
        ({"lifecycle": "retired"}, ""),
    ],
)
def test_the_end_of_a_model(said: dict[str, Any], day: str) -> None:
    reported = described(ANSWER | said, "claude-new-9", None)
    assert reported is not None
    assert reported.retired == day
