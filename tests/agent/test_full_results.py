"""A running turn reasons over full results: finished rounds give way first, the turn itself last (R-2, C-5)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tests.agent.conftest import Bench
from tests.agent.talking import ask, blocks, filler, fine, phases, reports, said, small, talk, usage
from tests.loopback.script import VendorReply

WINDOW = 64_000
FILES = 14


def files(bench: Bench, count: int = FILES, lines: int = 110) -> None:
    for number in range(count):
        text = "".join(f"FILE{number}LINE{line} compares what stands on either side\n" for line in range(lines))
        (bench.root / f"f{number}.txt").write_text(text)


def comparison(bench: Bench, count: int = FILES) -> list[VendorReply]:
    """A turn that reads them all and then answers."""
    reads = [bench.act("Read", {"path": f"f{number}.txt"}) for number in range(count)]
    return [*reads, bench.finish("compared")]


def whole(request: dict[str, Any], count: int = FILES, lines: int = 110) -> list[int]:
    """The files that stand in a request to their last line."""
    text = said(request)
    return [number for number in range(count) if f"FILE{number}LINE{lines - 1} " in text]


async def history(bench: Bench, rounds: int, *, size: int) -> str:
    """Rounds with a result of their own each, and an answer of that many characters."""
    (bench.root / "old.txt").write_text("".join(f"OLDLINE{line} of a file read long ago\n" for line in range(60)))
    chat = None
    for number in range(rounds):
        read = bench.act("Read", {"path": "old.txt", "start_line": 1 + number, "limit": 12})
        bench.vendor.play(read, bench.finish(f"ANSWERCANARY{number}Z {filler(size, number)}", chunk=4_000))
        chat = (await bench.turn(ask(number), chat)).chat_id
    assert chat is not None
    return chat


async def test_every_file_of_a_comparison_stays_whole_while_old_rounds_can_be_archived(bench: Bench):
    files(bench)
    summariser = await small(bench, model={"contextWindow": WINDOW}, context={"keepRounds": 10})
    chat = await history(bench, 19, size=2_600)
    first = len(bench.vendor.messages)
    bench.vendor.play(*comparison(bench))
    result = await bench.turn(ask(19), chat)
    assert result.answer == "compared", result.error
    steps = [request.json for request in bench.vendor.messages[first:] if not request.summary]
    for number, request in enumerate(steps):
        assert whole(request) == list(range(number)), "nothing that the turn has read is shortened while it runs"
    (report,) = reports(bench)
    assert (report.compacted, report.reason, report.rounds_kept) == (True, "threshold", 10)
    assert len(summariser.asked) == 1
    fine(bench)


async def test_far_from_the_window_a_step_only_adds_to_the_request_before(bench: Bench):
    """From three tenths of the window on the turn's own old results were once cut to lines."""
    files(bench, 30, 150)
    await small(bench, model={"contextWindow": 160_000})
    bench.vendor.play(*comparison(bench, 30))
    await bench.turn(ask(0))
    sent = [request.json for request in bench.vendor.messages]
    assert bench.vendor.messages[-1].tokens > 0.3 * 160_000
    assert whole(sent[-1], 30, 150) == list(range(30))
    for before, after in pairwise(sent):
        assert blocks(after)[: len(blocks(before))] == blocks(before)
    fine(bench)


async def test_when_rounds_are_at_their_least_the_oldest_results_of_the_turn_give_way_in_one_step(bench: Bench):
    files(bench, 30)
    await small(bench, model={"contextWindow": WINDOW}, context={"keepRounds": 3})
    chat = await history(bench, 8, size=1_500)
    first = len(bench.vendor.messages)
    bench.vendor.play(*comparison(bench, 30))
    result = await bench.turn(ask(8), chat)
    assert result.answer == "compared", result.error
    steps = [request for request in bench.vendor.messages[first:] if not request.summary]
    lost = [number - len(whole(request.json, 30)) for number, request in enumerate(steps)]
    given_way = [number for number in range(1, len(lost)) if lost[number] > lost[number - 1]]
    assert 1 <= len(given_way) <= 2, "in big steps"
    cut = steps[given_way[0]].json
    assert whole(cut, 30) == list(range(lost[given_way[0]], given_way[0])), "the oldest, and only they"
    assert [said(cut).count(f"ANSWERCANARY{number}Z") for number in range(7)] == [0] * 7, "no old round stands whole"
    assert "f0.txt" in said(cut), "what was read is still named"
    assert not any(request.overflowed for request in steps)
    fine(bench)


async def test_a_turn_that_times_out_in_a_compaction_says_so_and_keeps_the_history(bench: Bench):
    context = {"keepRounds": 10}
    await small(bench, "endless", model={"contextWindow": WINDOW}, context=context)
    chat = await talk(bench, 14, size=8_000, usage=usage(51_200))
    before = (await bench.session.inspect(chat, None)).text
    await bench.reopen(model={"contextWindow": WINDOW}, context=context, turn={"timeoutSeconds": 4})
    bench.vendor.play(bench.finish("never"))
    result = await bench.turn(ask(19), chat)
    assert result.stop_reason == "failed"
    assert result.error is not None
    for words in ("turn.timeoutSeconds (4 s)", "compacting the chat", "the history is as it was"):
        assert words in result.error.message
    assert phases(bench)[-1] == "cancelled"
    assert (await bench.session.inspect(chat, None)).text.startswith(before)
