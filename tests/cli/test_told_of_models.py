"""What the terminal says of a model that thinks, tells of its work, refuses, and of a cache that missed."""

from __future__ import annotations

from typing import Any

import pytest

from codelaw.cli.conversation.printing import TurnPrinter
from codelaw.cli.terminal import Screen

USAGE = {"inputTokens": 1, "cacheReadTokens": 0, "cacheWriteTokens": 9, "outputTokens": 2, "totalTokens": 12}


def ended(**more: Any) -> dict[str, Any]:
    return {"chatId": "c", "turnId": "t", "stopReason": "finished", "answer": "", "steps": 1, "usage": USAGE} | more


def test_what_a_model_tells_of_its_work_stands_apart_from_its_thoughts(capsys: pytest.CaptureFixture[str]):
    printer = TurnPrinter(Screen())
    for delta, reported in (("Hm. ", False), ("I read ", True), ("the law.", True), ("Then so.", False)):
        more = {"progress": True} if reported else {}
        printer.event({"kind": "thought", "delta": delta, "step": 1, **more})
    printer.result(ended())
    assert capsys.readouterr().err.splitlines()[:3] == ["Hm. ", "› I read the law.", "Then so."]


def test_a_refusal_is_said_once_with_its_category(capsys: pytest.CaptureFixture[str]):
    error = {"code": "model_refused", "message": "The model refused to answer (cyber).", "hint": "Say it otherwise."}
    TurnPrinter(Screen()).result(ended(stopReason="refused", error=error))
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if line][:2] == ["The model refused to answer (cyber).", "Say it otherwise."]


def test_a_cache_that_missed_is_said_in_the_bill(capsys: pytest.CaptureFixture[str]):
    miss = {"reason": "system_changed", "words": "the law changed"}
    TurnPrinter(Screen()).result(ended(usage=USAGE | {"cacheMiss": miss}))
    assert "10 tokens in, 2 out · cache missed: the law changed" in capsys.readouterr().err
