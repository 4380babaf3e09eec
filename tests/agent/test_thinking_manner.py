"""What a request says of thinking: a table of profiles, dialects and efforts (P-6)."""

from __future__ import annotations

from typing import Any

import pytest

from codelaw.adapters.models import catalog
from codelaw.agent.model_calls.caching import Manner, manner
from codelaw.domain.models import ModelRequest

NOTES = Manner("adaptive", "updates", thinks=True)
SUMMARY = Manner("adaptive", "summarized", thinks=True)
SHOWN = Manner("adaptive", thinks=True)
"""By its own default it shows a summary."""
SILENT = Manner()

ROWS: list[tuple[str, str, str | None, Manner]] = [
    ("claude-sonnet-5-5", "native", None, NOTES),
    ("claude-sonnet-5-5", "native", "high", NOTES),  # its default, which is not said
    ("claude-sonnet-5-5", "native", "max", Manner("adaptive", "updates", "max", thinks=True)),
    ("claude-sonnet-5-5", "react", None, NOTES),  # it may not be asked to write its reasoning down
    ("claude-opus-5-5", "native", None, NOTES),
    ("claude-opus-5-5", "native", "high", Manner("adaptive", "updates", "high", thinks=True)),
    ("claude-opus-5-5", "react", "medium", NOTES),
    ("claude-haiku-5-5", "native", None, SUMMARY),
    ("claude-haiku-5-5", "react", None, Manner("disabled")),
    ("claude-haiku-5-5", "react", "high", Manner("disabled", effort="high")),
    ("claude-haiku-5-5", "react", "xhigh", Manner("adaptive", "summarized", "xhigh", thinks=True)),
    ("claude-fable-5-1", "react", None, NOTES),
    ("claude-opus-5", "native", None, SUMMARY),
    ("claude-opus-5", "react", None, SUMMARY),
    ("claude-sonnet-5", "native", "low", Manner("adaptive", "summarized", "low", thinks=True)),
    ("claude-sonnet-5", "react", "low", Manner("disabled", effort="low")),
    ("claude-opus-4-8", "native", None, SUMMARY),
    ("claude-opus-4-8", "react", "low", Manner(effort="low")),
    ("claude-sonnet-4-6", "native", None, SHOWN),
    ("claude-sonnet-4-6", "react", None, SILENT),
    ("claude-sonnet-4-6", "native", "xhigh", SHOWN),  # not taken
    ("claude-opus-4-5", "native", "low", Manner(effort="low")),  # it thinks by a budget of tokens alone
    ("claude-haiku-4-5", "native", "low", SILENT),
    ("gpt-4o", "native", "low", SILENT),
]


@pytest.mark.parametrize(("name", "dialect", "effort", "said"), ROWS)
def test_the_profile_decides(name: str, dialect: Any, effort: Any, said: Manner) -> None:
    assert manner(catalog.profile(name), dialect, effort) == said


def test_of_a_model_that_nobody_knows_only_what_a_person_chose_is_said() -> None:
    assert manner(None, "native", None) == SILENT
    assert manner(None, "native", "high") == Manner(effort="high")


@pytest.mark.parametrize("known", catalog.profiles(), ids=lambda known: known.name)
def test_nothing_is_said_that_a_profile_does_not_take(known: Any) -> None:
    for dialect in ("native", "react"):
        for effort in (None, "low", "medium", "high", "xhigh", "max"):
            said = manner(known, dialect, effort)
            assert said.thinking in {None, *known.thinking}
            assert said.display in {None, *known.displays}
            assert said.effort in {None, *known.efforts}
            assert said.display is None or said.thinking == "adaptive", "the other kinds take no other field"
            assert said.thinking in {None, "adaptive"} or said.effort not in {"xhigh", "max"}


def test_a_reply_that_is_thought_about_has_room_for_the_thoughts() -> None:
    request = ModelRequest("m", (), (), 2_000)
    assert NOTES.on(request, 30_000) == ModelRequest("m", (), (), 30_000, thinking="adaptive", display="updates")
    assert NOTES.on(request, 100).max_tokens == 2_000
    assert Manner("disabled").on(request, 30_000).max_tokens == 2_000
