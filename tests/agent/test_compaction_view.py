"""What a compaction keeps, what it shows instead, and that all of it can be had back (K-1 to K-3, K-8, K-9)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from codelaw.domain.errors import Refusal
from tests.agent.conftest import Bench
from tests.agent.talking import (
    SMALL,
    ask,
    asked_in,
    blocks,
    due,
    ends_with,
    filler,
    fine,
    phases,
    reports,
    said,
    small,
    system,
    talk,
    user_texts,
    whole,
)


async def test_after_a_compaction_the_view_has_law_summary_newest_rounds_and_the_question_last(bench: Bench):
    (bench.root / "CODE_LAW.md").write_text("LAWCANARY: be exact.\n")
    await small(bench)
    chat = await due(bench)
    bench.vendor.play(bench.finish("x"))
    await bench.turn(ask(18), chat)
    request = bench.sent()
    kept = asked_in(request)
    assert kept == list(range(kept[0], 19))
    assert kept[0] > 0, "something was archived"
    assert len(kept) >= 5, "at least keepRounds rounds, and the question"
    assert ends_with(request, 18)
    text = system(request)
    assert text.index("You are codelaw") < text.index("LAWCANARY") < text.index("SUMMARYCANARY1Z")
    assert whole(request).count("LAWCANARY") == whole(request).count("SUMMARYCANARY1Z") == 1
    assert phases(bench) == ["started", "summarising", "finished"]
    report = reports(bench)[0]
    assert (report.compacted, report.reason, report.summary) == (True, "threshold", "model")
    assert report.rounds_archived == kept[0]
    assert report.rounds_kept == 18 - kept[0]
    assert report.tokens_after < report.tokens_before
    assert report.tokens_after <= 0.4 * 32_000, "rounds that can be archived are, down to the low-water mark"
    fine(bench)


async def test_a_compaction_that_is_asked_for_keeps_exactly_the_rounds_of_the_setting(bench: Bench):
    await small(bench, context={"keepRounds": 3})
    chat = await talk(bench, 9, size=100)
    report = await bench.session.compact(chat)
    assert (report.compacted, report.reason) == (True, "manual")
    assert (report.rounds_archived, report.rounds_kept, report.summary) == (6, 3, "model")
    bench.vendor.play(bench.finish("x"))
    await bench.turn(ask(9), chat)
    assert asked_in(bench.sent()) == [6, 7, 8, 9]
    fine(bench)


@pytest.mark.parametrize("rounds", [0, 3])
async def test_with_too_few_rounds_nothing_is_archived_and_no_model_asked(bench: Bench, rounds: int):
    await small(bench, context={"keepRounds": 3})
    chat = (await bench.session.create()).id
    if rounds:
        await talk(bench, rounds, size=100, chat=chat)
    report = await bench.session.compact(chat)
    assert (report.compacted, report.reason, report.summary) == (False, "rounds_not_enough", "none")
    assert report.rounds_archived == 0
    assert report.tokens_before == report.tokens_after
    assert bench.vendor.summaries == []
    assert phases(bench) == ["started", "finished"]
    bench.vendor.play(bench.finish("x"))
    assert (await bench.turn("go", chat)).stop_reason == "finished"


async def test_heavy_rounds_that_must_stay_are_thinned_in_one_batch_and_pairs_stay(bench: Bench):
    for number in range(4):
        lines = (f"FILE{number}LINE{line} of many\n" for line in range(400))
        (bench.root / f"f{number}.txt").write_text("".join(lines))
    await small(bench)
    chat = None
    for number in range(4):
        read = bench.act("Read", {"path": f"f{number}.txt"})
        last: dict[str, Any] = {"usage": {"input_tokens": 26_000, "output_tokens": 9}} if number == 3 else {}
        bench.vendor.play(read, bench.finish(f"ANSWERCANARY{number}Z", **last))
        chat = (await bench.turn(ask(number), chat)).chat_id
    bench.events.clear()
    bench.vendor.play(bench.finish("x"), bench.finish("y"))
    await bench.turn(ask(4), chat)
    request = bench.sent()
    assert asked_in(request) == [0, 1, 2, 3, 4], "rounds stay"
    assert [said(request).count(f"ANSWERCANARY{number}Z") for number in range(4)] == [1, 1, 1, 1]
    assert bench.vendor.summaries == []
    report = reports(bench)[0]
    assert (report.compacted, report.rounds_archived) == (False, 0)
    assert report.thinned > 0
    assert report.tokens_after <= 0.4 * 32_000 < report.tokens_before
    assert "FILE3LINE399" in said(request), "the newest is the last to go"
    assert "FILE0LINE399" not in said(request)
    await bench.turn(ask(5), chat)
    assert len(reports(bench)) == 1, "one batch, not a little each turn"
    assert blocks(bench.sent())[: len(blocks(request)) - 2] == blocks(request)[:-2], "and the same bytes after it"
    fine(bench)


async def test_summaries_are_added_in_order_stay_verbatim_and_are_never_summarised(bench: Bench):
    await small(bench, context={"keepRounds": 2})
    chat = None
    texts: list[str] = []
    for cycle in range(5):
        chat = await talk(bench, 4, size=200, chat=chat, start=4 * cycle)
        report = await bench.session.compact(chat)
        assert report.compacted
        texts.append((await bench.session.archive(chat)).text)
        instruction = bench.vendor.summaries[-1].json
        assert [said(instruction).count(f"SUMMARYCANARY{n}Z") for n in range(1, cycle + 1)] == [0] * cycle
    for before, after in pairwise(texts):
        assert after.startswith(before), "what stood there is not touched"
    bench.vendor.play(bench.finish("x"))
    await bench.turn(ask(20), chat)
    places = [system(bench.sent()).index(f"SUMMARYCANARY{number}Z") for number in range(1, 6)]
    assert places == sorted(places)
    assert asked_in(bench.sent()) == [18, 19, 20]
    fine(bench)


async def test_restoring_gives_the_view_back_byte_for_byte(bench: Bench):
    (bench.root / "a.txt").write_text("".join(f"line {number}\n" for number in range(300)))
    await small(bench)
    chat = None
    for number in range(8):
        read = bench.act("Read", {"path": "a.txt", "start_line": 1 + number, "limit": 60})
        bench.vendor.play(read, bench.finish(f"ANSWERCANARY{number}Z {filler(600)}"))
        chat = (await bench.turn(ask(number), chat)).chat_id
    assert chat is not None
    before = (await bench.session.inspect(chat, "the same")).text
    last = blocks(bench.sent())
    assert (await bench.session.compact(chat)).compacted
    between = (await bench.session.inspect(chat, "the same")).text
    assert between != before
    assert (await bench.session.restore(chat, None)).id == chat
    assert (await bench.session.inspect(chat, "the same")).text == before
    with pytest.raises(Refusal) as caught:
        await bench.session.restore(chat, None)
    assert caught.value.code == "nothing_to_undo"
    bench.vendor.play(bench.finish("x"))
    await bench.turn(ask(8), chat)
    assert asked_in(bench.sent()) == list(range(9))
    assert "SUMMARYCANARY" not in whole(bench.sent())
    until = next(place for place, block in enumerate(last) if "ASKCANARY7Z" in block)
    assert blocks(bench.sent())[:until] == last[:until]
    fine(bench)


async def test_after_a_restart_the_next_request_is_the_same_bytes(bench: Bench):
    await small(bench)
    chat = await due(bench)
    bench.vendor.play(bench.finish("x", times=0))
    await bench.turn(ask(18), chat)
    before = blocks(bench.sent())
    text = (await bench.session.inspect(chat, "the same")).text
    await bench.reopen(**SMALL)
    assert (await bench.session.inspect(chat, "the same")).text == text
    await bench.turn(ask(19), chat)
    after = blocks(bench.sent())
    assert after[: len(before)] == before
    fine(bench)


async def test_the_todo_recap_outlives_a_compaction(bench: Bench):
    await small(bench, context={"keepRounds": 1})
    todos = {"todos": [{"content": "TODOCANARY", "status": "in_progress"}]}
    bench.vendor.play(bench.act("TodoWrite", todos), bench.finish("ok"))
    chat = (await bench.turn(ask(0))).chat_id
    await talk(bench, 2, size=50, chat=chat, start=1)
    assert (await bench.session.compact(chat)).compacted
    bench.vendor.play(bench.finish("x"))
    await bench.turn(ask(3), chat)
    assert "TODOCANARY" in user_texts(bench.sent())[-1], "it is said again"
