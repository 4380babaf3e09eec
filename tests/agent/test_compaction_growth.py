"""A compaction that begins by itself comes down or says why not, and then waits until the view has grown (K-8, W-2)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from codelaw.domain.checkpoints import CompactionReport
from tests.agent.conftest import Bench
from tests.agent.talking import ask, filler, fine, phases, reports, said, small, usage

WINDOW = 32_000
LOW_WATER = 12_800
TENTH = WINDOW // 10
KEEPING_TEN: dict[str, Any] = {"model": {"contextWindow": WINDOW}, "context": {"keepRounds": 10}}


async def long_turns(bench: Bench, numbers: range, *, size: int = 6_000, chat: str | None = None) -> str:
    """Turns of two messages of that many characters each, counted honestly by the vendor."""
    for number in numbers:
        bench.vendor.play(bench.finish(f"ANSWERCANARY{number}Z {filler(size, number)}", chunk=4_000))
        result = await bench.turn(f"{ask(number)} {filler(size, number)}", chat)
        assert result.stop_reason == "finished", result.error
        chat = result.chat_id
    assert chat is not None
    return chat


def spaced(reported: list[CompactionReport]) -> None:
    """None of them came before the view had grown by a tenth since the one before, but for those in danger."""
    for before, after in pairwise(reported):
        if after.reason != "overflow":
            assert after.tokens_before - before.tokens_after >= TENTH, (before, after)


def explained(reported: list[CompactionReport]) -> None:
    """Each came down to the low-water mark or says what keeps it from there, with sizes."""
    for report in reported:
        if report.tokens_after > LOW_WATER:
            assert f"could not come down to {LOW_WATER}" in report.message, report
            assert "newest" in report.message
            assert "your message" in report.message


async def test_what_a_person_has_restored_is_not_archived_again_at_once(bench: Bench):
    await small(bench)
    chat = None
    for number in range(10):
        bench.vendor.play(bench.finish(f"ANSWERCANARY{number}Z {filler(5_400, number)}", chunk=4_000))
        chat = (await bench.turn(ask(number), chat)).chat_id
    assert chat is not None
    assert (await bench.session.compact(chat)).compacted
    await bench.session.restore(chat, None)
    bench.events.clear()
    bench.vendor.play(bench.act("LS", {}), bench.finish("x", usage=usage(26_000)), bench.finish("y"))
    await bench.turn(ask(10), chat)
    await bench.reopen(model={"contextWindow": WINDOW}, context={"keepRounds": 4})
    await bench.turn(ask(11), chat)
    assert phases(bench) == []
    assert said(bench.sent()).count("ANSWERCANARY0Z") == 1
    await long_turns(bench, range(12, 14), chat=chat)
    assert any(report.compacted for report in reports(bench)), "once it has grown it is compacted"
    fine(bench)
