"""A model that sends no content for long is told of, once for each silence (P-1)."""

from __future__ import annotations

import pytest

from codelaw.adapters.models import wire
from codelaw.agent.turn import model_call
from codelaw.agent.turn.model_call import SILENT
from tests.agent.conftest import Bench


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_call, "QUIET_SECONDS", 0.5)


async def test_each_silence_is_told_once_with_what_can_be_done(bench: Bench):
    slow = bench.finish("some words that come late", wait=1.6, broken="silence", silence=1.6)
    result = await bench.turn("go", replies=[slow])
    assert (result.stop_reason, result.answer) == ("finished", "some words that come late")
    reported = [event for event in bench.kinds("notice") if event.code == SILENT]
    assert len(reported) == 2, "before the first content, and in its midst"
    assert "cancel the turn" in reported[0].message
    assert [notice.code for notice in result.notices] == [SILENT, SILENT]


async def test_a_call_is_run_soon_when_nothing_follows_it(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wire, "QUIET_SECONDS", 0.2)
    stands = bench.act("LS", {"path": "."}, broken="silence", silence=600, behind=True)
    result = await bench.turn("go", replies=[stands, bench.finish("done")])
    assert (result.stop_reason, result.answer, result.steps) == ("finished", "done", 2)
    assert bench.vendor.messages[0].closed_early
    assert bench.kinds("retry") == []
