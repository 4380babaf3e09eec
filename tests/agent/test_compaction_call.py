"""The call that writes the summary: what it repeats, what it asks, and who is asked (K-4, K-5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codelaw.agent.compaction import summarising
from tests.agent.conftest import Bench
from tests.agent.talking import ask, asked_in, blocks, due, filler, fine, is_summary, said, small, system, talk


async def heavy(bench: Bench, rounds: int = 6) -> str:
    """Rounds with observations, so that the native dialect has calls in its history."""
    (bench.root / "a.txt").write_text("".join(f"line {number}\n" for number in range(200)))
    (bench.root / "CODE_LAW.md").write_text("LAWCANARY: be exact.\n")
    chat = None
    for number in range(rounds):
        read = bench.act("Read", {"path": "a.txt", "start_line": 1 + number, "limit": 20})
        bench.vendor.play(read, bench.finish(f"ANSWERCANARY{number}Z {filler(300)}"))
        chat = (await bench.turn(ask(number), chat)).chat_id
    assert chat is not None
    return chat


def marked(request: dict[str, Any]) -> list[int]:
    """Which blocks of the prompt carry a breakpoint, the tools counted as one."""
    rows = [*request["system"], *(block for message in request["messages"] for block in message["content"])]
    return [place for place, block in enumerate(rows, 1) if "cache_control" in block]


async def test_it_repeats_what_was_sent_up_to_the_cut_and_then_asks(bench: Bench):
    await small(bench, context={"keepRounds": 2})
    chat = await heavy(bench)
    before = bench.sent()
    report = await bench.session.compact(chat)
    request = bench.vendor.summaries[-1].json
    assert report.rounds_archived == 4
    assert request["model"] == before["model"]
    assert request.get("tools") == before.get("tools")
    parts, earlier = blocks(request), blocks(before)
    assert parts[:-1] == earlier[: len(parts) - 1], "all but the instruction has been sent before"
    assert asked_in(request) == [0, 1, 2, 3]
    assert "ANSWERCANARY3Z" in parts[-2]
    assert marked(request)[-1] >= len(parts) - 2, "a breakpoint at the cut"
    assert len(marked(request)) <= 4
    assert is_summary(request)
    fine(bench)


async def test_of_a_large_archive_all_that_is_cached_is_shown_and_the_end_of_the_archive_named(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(summarising, "WORTH_READING", 0)
    await small(bench, context={"keepRounds": 2})
    chat = await heavy(bench)
    before = bench.sent()
    report = await bench.session.compact(chat)
    request = bench.vendor.summaries[-1].json
    parts, earlier = blocks(request), blocks(before)
    assert report.rounds_archived == 4
    assert parts[:-1] == earlier[: len(parts) - 1], "all but the instruction has been sent before"
    assert [number for number in range(6) if f"ASKCANARY{number}Z" in "".join(parts[:-1])] == [0, 1, 2, 3, 4]
    assert "the user's message that begins with" in parts[-1]
    assert "ASKCANARY4Z" in parts[-1], "the first round that stays"
    assert bench.vendor.summaries[-1].usage["cache_read_input_tokens"] > 0
    fine(bench)


async def test_another_model_is_asked_by_name_in_a_fresh_conversation(bench: Bench):
    await small(bench, context={"keepRounds": 2, "summaryModel": "claude-haiku-4-5"})
    chat = await heavy(bench)
    await bench.session.compact(chat)
    request = bench.vendor.summaries[-1].json
    assert request["model"] == "claude-haiku-4-5"
    assert is_summary(request)
    assert asked_in(request) == [0, 1, 2, 3]
    assert "You are codelaw" not in system(request)
    assert "SUMMARYCANARY1Z" in (await bench.session.archive(chat)).text
    bench.vendor.play(bench.finish("x"))
    await bench.turn(ask(6), chat)
    assert bench.sent()["model"] == "claude-sonnet-4-5"
    fine(bench)


async def test_an_archive_too_long_for_one_call_is_folded_in_stages(bench: Bench):
    """The summary model's window is smaller than what is archived."""
    summariser = await small(
        bench,
        context={"keepRounds": 1, "summaryModel": "tiny"},
        model={"contextWindow": 64_000},
        models={"tiny": {"contextWindow": 16_000}},
    )
    chat = await talk(bench, 14, size=6_000)
    bench.vendor.window = 16_000
    report = await bench.session.compact(chat)
    assert (report.compacted, report.summary, report.rounds_archived) == (True, "model", 13)
    assert 2 <= len(summariser.asked) <= 6
    assert not any(call.overflowed for call in bench.vendor.summaries)
    drafts = [said(dict(body)) for body in summariser.asked]
    assert "SUMMARYCANARY" not in drafts[0]
    for number, draft in enumerate(drafts[1:], 1):
        assert f"SUMMARYCANARY{number}Z" in draft, "what came before is given on"
    seen = {number for draft in drafts for number in range(13) if f"ASKCANARY{number}Z" in draft}
    assert seen == set(range(13)), "every question has been read"
    bench.vendor.window = 64_000
    bench.vendor.play(bench.finish("x"))
    await bench.turn(ask(14), chat)
    fine(bench)


async def test_the_summarys_cost_is_on_the_turns_bill_and_not_in_the_windows_gauge(bench: Bench):
    await small(bench)
    chat = await due(bench)
    bench.events.clear()
    bench.vendor.play(bench.finish("x"))
    result = await bench.turn(ask(18), chat)
    summary, step = bench.vendor.messages[-2].usage, bench.vendor.messages[-1].usage
    assert result.usage.output_tokens == summary["output_tokens"] + step["output_tokens"]
    assert result.usage.cache_read_tokens == summary["cache_read_input_tokens"] + step["cache_read_input_tokens"]
    gauges = bench.kinds("usage")
    assert [gauge.context_tokens for gauge in gauges] == [sum(step.values())]


async def test_a_summary_call_that_overflows_is_asked_again_smaller(bench: Bench):
    summariser = await small(bench, "overflow", "overflow", "good", context={"keepRounds": 2})
    report = await bench.session.compact(await heavy(bench, 8))
    assert (report.compacted, report.summary) == (True, "model")
    sizes = [len(json.dumps(body)) for body in summariser.asked]
    assert len(sizes) == 3
    assert sizes == sorted(sizes, reverse=True)
    fine(bench)
