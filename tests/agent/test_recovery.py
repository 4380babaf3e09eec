"""Which failure of a model is worth another attempt, and when (P-1)."""

from __future__ import annotations

import pytest

from codelaw.agent.model_calls.recovery import ATTEMPTS, LONGEST_WAIT, Recovery, delay
from codelaw.domain.errors import ModelFailure


def test_each_wait_is_twice_the_one_before_up_to_sixteen_seconds() -> None:
    failure = ModelFailure("overload", "busy")
    assert [delay(failure, attempt, 0.5) for attempt in range(1, ATTEMPTS)] == [0.5, 1.0, 2.0, 4.0]
    assert delay(failure, ATTEMPTS, 0.5) is None


@pytest.mark.parametrize(("jitter", "seconds"), [(0.0, 0.375), (1.0, 0.625)])
def test_chance_moves_a_wait_by_a_quarter(jitter: float, seconds: float) -> None:
    assert delay(ModelFailure("network", "broken"), 1, jitter) == seconds


def test_what_the_vendor_asks_for_counts_and_a_vendor_that_asks_for_too_much_is_not_waited_for() -> None:
    patient = ModelFailure("rate_limit", "later", retry_after=7.0)
    assert delay(patient, 1, 0.9) == 7.0
    assert delay(ModelFailure("rate_limit", "later", retry_after=LONGEST_WAIT + 1), 1, 0.9) is None


def test_what_another_attempt_cannot_change_ends_it_at_once() -> None:
    recovery, failure = Recovery(), ModelFailure("auth", "no key")
    with pytest.raises(ModelFailure) as raised:
        recovery.after(failure)
    assert raised.value is failure


def test_what_was_said_is_kept_over_the_attempts() -> None:
    recovery = Recovery()
    first = recovery.after(ModelFailure("network", "broken", partial="half"))
    second = recovery.after(ModelFailure("truncated", "ended", place="host:8"))
    assert (first.attempt, second.attempt) == (2, 3)
    assert first.reason == "the connection to the model broke"
    assert second.reason == "the model's stream ended early (host:8)"
    assert recovery.kept == "half"
